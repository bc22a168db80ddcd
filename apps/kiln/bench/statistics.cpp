// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace kiln::cli {
namespace {

double quantile(const std::vector<double>& sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = place - static_cast<double>(below);
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  const auto finite = [](double value) { return std::isfinite(value); };
  if (values.empty() || !std::ranges::all_of(values, finite)) {
    throw std::invalid_argument("a spread needs finite values, one at least");
  }
  std::ranges::sort(values);
  return {values.front(),         quantile(values, 0.25), quantile(values, 0.5),
          quantile(values, 0.75), values.back(),          static_cast<int>(values.size())};
}

Latency latency_of(std::vector<double> seconds) {
  const double median = spread_of(seconds).median;
  std::ranges::sort(seconds);
  const auto rank = static_cast<std::size_t>(std::ceil(0.99 * static_cast<double>(seconds.size())));
  return {median, seconds[rank - 1]};
}

Spread scaled(const Spread& s, double factor) {
  return {s.min * factor,    s.lower_quartile * factor,
          s.median * factor, s.upper_quartile * factor,
          s.max * factor,    s.count};
}

Spread rate_of(double work, const Spread& t) {
  if (!(t.min > 0)) throw std::invalid_argument("a rate needs positive durations");
  return {work / t.max,    work / t.upper_quartile,
          work / t.median, work / t.lower_quartile,
          work / t.min,    t.count};
}

std::optional<std::size_t> saturated_at(const std::vector<double>& rates, double share) {
  if (rates.empty()) return std::nullopt;
  const double best = *std::ranges::max_element(rates);
  for (std::size_t i = 0; i + 1 < rates.size(); ++i) {
    if (rates[i] >= share * best) return i;
  }
  return std::nullopt;
}

}  // namespace kiln::cli
