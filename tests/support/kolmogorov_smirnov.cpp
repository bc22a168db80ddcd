// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kolmogorov_smirnov.hpp"

#include <algorithm>
#include <cmath>

namespace kiln::test {

double kolmogorov_tail(double value) {
  // Below this the alternating sum no longer converges in a few terms, and is 1 to 1e-11.
  if (value < 0.2) return 1;
  double sum = 0;
  for (int k = 1; k <= 50; ++k) {
    const double term = std::exp(-2.0 * k * k * value * value);
    sum += k % 2 == 1 ? term : -term;
    if (term < 1e-18) break;
  }
  return std::clamp(2 * sum, 0.0, 1.0);
}

KolmogorovSmirnov ks_test(std::vector<double> draws,
                          const std::function<double(double)>& distribution) {
  const auto finite = [](double x) { return std::isfinite(x); };
  if (draws.empty() || !std::all_of(draws.begin(), draws.end(), finite)) return {1, 0};
  std::sort(draws.begin(), draws.end());
  const auto n = static_cast<double>(draws.size());
  double distance = 0;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const double f = distribution(draws[i]);
    const auto below = static_cast<double>(i) / n, up_to = static_cast<double>(i + 1) / n;
    distance = std::max({distance, f - below, up_to - f});
  }
  const double root = std::sqrt(n);
  return {distance, kolmogorov_tail((root + 0.12 + 0.11 / root) * distance)};
}

double normal_distribution(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

}  // namespace kiln::test
