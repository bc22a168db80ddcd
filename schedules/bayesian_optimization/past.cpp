// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "past.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace kiln {

std::size_t past_to_model(const Budget& budget, bool on_cpu) {
  if (!on_cpu || !budget.time_limit_s) return max_past;
  constexpr double seconds_of_a_thousand = 60;
  const double thousands = std::cbrt(0.5 * *budget.time_limit_s / seconds_of_a_thousand);
  return static_cast<std::size_t>(
      std::clamp(std::floor(1000 * thousands), 200.0, static_cast<double>(max_past)));
}

std::vector<std::size_t> chosen_past(const std::vector<double>& values, std::size_t most) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (values.size() <= most) return order;
  const auto rank = [&](std::size_t i) {
    return std::isfinite(values[i]) ? values[i] : std::numeric_limits<double>::infinity();
  };
  std::ranges::stable_sort(order, std::ranges::less{}, rank);
  const auto best = order.begin() + static_cast<std::ptrdiff_t>(most / 10);
  std::sort(best, order.end());
  std::vector<std::size_t> chosen(order.begin(), best);
  const std::size_t rest = order.size() - chosen.size(), wanted = most - chosen.size();
  for (std::size_t i = 0; i < wanted; ++i)
    chosen.push_back(best[static_cast<std::ptrdiff_t>(i * rest / wanted)]);
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace kiln
