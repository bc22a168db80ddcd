// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include "backends/backends.hpp"

namespace kiln::test {

/// Independent standard normal draws (Box, Muller).
class NormalDraws {
 public:
  explicit NormalDraws(std::uint64_t seed) : random_(seed) {}
  double operator()() {
    const double radius = std::sqrt(-2 * std::log1p(-random_.unit()));
    return radius * std::cos(2 * std::numbers::pi * random_.unit());
  }
  std::vector<double> row(std::int64_t n) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < n; ++i) values.push_back((*this)());
    return values;
  }

 private:
  TestRandom random_;
};

using SeriesPair = std::pair<std::vector<double>, std::vector<double>>;

/// Rows of a bivariate normal distribution with correlation rho: I = -1/2 ln(1 - rho^2).
inline SeriesPair gaussian_pair(std::int64_t n, double rho, std::uint64_t seed) {
  NormalDraws draw(seed);
  SeriesPair pair;
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = draw();
    pair.first.push_back(x);
    pair.second.push_back(rho * x + std::sqrt(1 - rho * rho) * draw());
  }
  return pair;
}

/// x' = 0.5 x + e, y' = 0.4 y + 0.5 x + f after 200 rows that are left out. The transfer entropy
/// from x to y is 1/2 ln(var(y' | y) / var(y' | y, x)) = 0.13464, from y to x it is 0.
inline SeriesPair coupled_pair(std::int64_t n, std::uint64_t seed) {
  NormalDraws draw(seed);
  SeriesPair pair;
  double x = 0, y = 0;
  for (std::int64_t i = -200; i < n; ++i) {
    const double next_y = 0.4 * y + 0.5 * x + draw();
    x = 0.5 * x + draw();
    y = next_y;
    if (i < 0) continue;
    pair.first.push_back(x);
    pair.second.push_back(y);
  }
  return pair;
}

}  // namespace kiln::test
