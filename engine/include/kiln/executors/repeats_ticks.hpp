// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kiln/export.hpp"

namespace kiln {

class Queue;
struct LadderTick;

/// The interface of queues whose device keeps replicas on its multiprocessors from tick to tick. A
/// queue implements it beside Queue.
class KILN_API RepeatsTicks {
 public:
  virtual ~RepeatsTicks();
  /// Whether it does so for all ticks of a launch (LadderTick::ticks); if not, the launch makes
  /// them one by one, with the same bits.
  /// @param tick  of any number of ticks
  /// @param refusal  receives why it does not, a sentence without its point
  virtual bool can_repeat(const LadderTick& tick, std::string& refusal) = 0;
};

/// RepeatsTicks::can_repeat() of a queue; false where the queue does not implement it.
KILN_API bool can_repeat(Queue& queue, const LadderTick& tick, std::string& refusal);

}  // namespace kiln
