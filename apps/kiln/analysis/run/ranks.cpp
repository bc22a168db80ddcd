// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/run/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace kiln::cli {

std::vector<double> ranks_of(const std::vector<double>& values, std::mt19937_64& random) {
  std::vector<std::pair<double, std::uint64_t>> keys;
  for (const double value : values) keys.emplace_back(value, random());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(values[i])) order.push_back(i);
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return keys[i]; });
  std::vector<double> ranks(values.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < order.size(); ++i) ranks[order[i]] = static_cast<double>(i);
  return ranks;
}

}  // namespace kiln::cli
