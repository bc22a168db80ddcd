// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/front.hpp"
#include "kiln/run.hpp"

#include "pool.hpp"

namespace kiln {

/// The hypervolume of the residents of all islands together, followed on the device: it is what a
/// run reports, and what its target means.
class FrontVolume {
 public:
  void allocate(Run& run, const Pool& pool);
  /// In Schedule::begin.
  void measure_in(Run& run, const FrontBox& box);
  /// At the end of a tick.
  void follow(Run& run, const Pool& pool) const;

 private:
  View2<double> front_;
  View1<double> ideal_, nadir_, reference_, volume_, half_width_;
  View1<std::byte> scratch_;
  View1<RunControl> gate_;
  std::uint64_t every_ = 1;
};

}  // namespace kiln
