// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/device/summary_target.hpp"
#include "kiln/export.hpp"

namespace kiln {

class Queue;

/// The interface of queues whose loops write summaries: the launch of a loop then includes its
/// report point. A queue implements it beside Queue.
class KILN_API LoopSummaries {
 public:
  virtual ~LoopSummaries();
  /// Where the `after` of a loop writes the summary of each launch, while it is captured.
  virtual SummaryTarget loop_summary_target() = 0;
  /// Posts the summary that the loop replayed last writes there.
  /// @throws InvalidArgument if no loop was replayed, or two summaries are in flight
  virtual void post_loop_summary() = 0;
};

/// The same of a queue; without `first` where it has no loops.
KILN_API SummaryTarget loop_summary_target(Queue& queue);
/// @throws InvalidArgument likewise, and if the queue has no loops
KILN_API void post_loop_summary(Queue& queue);

}  // namespace kiln
