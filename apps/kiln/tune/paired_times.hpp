// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "kiln/tuning/tune_file.hpp"

namespace kiln::cli {

/// The median of independent values, with the 95 % interval that follows from their order alone: of
/// n values those whose ranks the number of heads of n coins lies between. With fewer than six
/// values it is their range, which covers less.
/// @throws std::invalid_argument without values
TuneInterval median_interval(std::vector<double> values);

/// Times of a shape and of its default, taken in turns so that a clock that drifts hits both.
struct PairedTimes {
  std::vector<double> shape, standard;  ///< seconds of one launch, of the same pairs

  /// Whether both intervals are within 2 % of their medians, or there are 50 pairs.
  bool enough() const;
  /// Sets the times, the gain and the number of samples of a trial.
  void write_to(TuneTrial& trial) const;
};

}  // namespace kiln::cli
