// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kiln/run_context.hpp"
#include "kiln/schedules/multi_objective.hpp"

#include "pool.hpp"
#include "selection.hpp"

namespace kiln {

/// The children of a generation: crossed and mutated from the present states.
class Children {
 public:
  /// In Schedule::allocate.
  void allocate(AllocateContext& run, const MultiObjectiveOptions& options);
  /// @param selection  what parents are chosen by; null: each replica is the parent of its child
  void make(TickContext& run, const Pool& pool, const Selection* selection,
            const MultiObjectiveOptions& options) const;
  const std::vector<StateBlock>& states() const { return states_; }

 private:
  std::vector<StateBlock> states_;
  View2<std::int32_t> parents_, work_;
  View1<std::int32_t> immigrants_;
};

}  // namespace kiln
