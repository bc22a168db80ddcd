// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kiln/fronts/front.hpp"
#include "kiln/run_context.hpp"

#include "pool.hpp"

namespace kiln {

/// The hypervolume of the residents of all islands together, followed on the device: it is what a
/// run reports, and what its target means. The residents that had the largest are kept, because a
/// population forgets.
class FrontVolume {
 public:
  void allocate(AllocateContext& run, const Pool& pool);
  /// In Schedule::initialize.
  void measure_in(RunContext& run, const FrontBox& box);
  /// At the end of a tick, with the states of the residents.
  void follow(WorkContext& run, const Pool& pool, const std::vector<StateBlock>& residents) const;
  /// The front of the largest volume that was measured, and that volume; none: NaN.
  struct Best {
    double volume;
    std::vector<State> states;
  };
  Best best(ReportContext& run) const;

 private:
  StateBlock block_of(const View2<double>& points) const;

  View2<double> front_, best_front_;  // [objectives][members], infinite: on no front
  View1<double> ideal_, nadir_, reference_, volume_, half_width_;
  View1<std::byte> scratch_;
  View1<RunControl> gate_;
  std::vector<StateBlock> best_;
  std::uint64_t every_ = 1;
};

}  // namespace kiln
