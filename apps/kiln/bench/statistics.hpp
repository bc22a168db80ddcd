// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace kiln::cli {

/// Where repeated measurements of one thing lie.
struct Spread {
  double min = 0, lower_quartile = 0, median = 0, upper_quartile = 0, max = 0;
  int count = 0;
};

/// Order statistics; between two values they are interpolated linearly (the quantile q of n sorted
/// values is at place q (n - 1)).
/// @throws std::invalid_argument without values, or if one is not finite.
Spread spread_of(std::vector<double> values);

/// How long something takes mostly, and at worst but for one in a hundred.
struct Latency {
  double median_s = 0, p99_s = 0;
};

/// The median of spread_of(), and the value of rank ceil(0.99 n).
/// @throws std::invalid_argument as spread_of().
Latency latency_of(std::vector<double> seconds);

/// The same measurements in another unit: all values times a factor, which must be positive.
Spread scaled(const Spread& spread, double factor);

/// The rates work / t of durations t: the order of the values turns round.
/// @throws std::invalid_argument unless all durations are positive.
Spread rate_of(double work, const Spread& durations);

/// Where rates of rising batches saturate: the place of the first with `share` of the best rate.
/// Nothing where the last alone has it: a larger batch may then be faster still.
std::optional<std::size_t> saturated_at(const std::vector<double>& rates, double share);

}  // namespace kiln::cli
