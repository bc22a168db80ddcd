// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "kiln/forecast/curve.hpp"

#include "series.hpp"

namespace kiln::test {

/// A curve with these best energies at the works 1, 2, 3, ...
inline RunCurve curve_of(const std::vector<double>& best) {
  RunCurve curve;
  for (std::size_t i = 0; i < best.size(); ++i) {
    curve.add({static_cast<double>(i + 1), best[i]});
  }
  return curve;
}

/// Noiseless a + b work^-c at the works 1 ... n.
inline RunCurve power_law_curve(double a, double b, double c, int n) {
  std::vector<double> best;
  for (int w = 1; w <= n; ++w) best.push_back(a + b * std::pow(w, -c));
  return curve_of(best);
}

/// Runs of a family: power laws of drawn level, size and exponent, with noise.
inline std::vector<RunCurve> noisy_power_laws(int runs, std::uint64_t seed) {
  std::mt19937_64 words(seed);
  std::vector<RunCurve> all;
  for (int r = 0; r < runs; ++r) {
    const double a = 10 * next_normal(words), b = std::exp(next_normal(words));
    const double c = 0.2 + 0.2 * std::exp(next_normal(words));
    std::vector<double> best;
    for (int w = 1; w <= 96; ++w) {
      best.push_back(a + b * std::pow(w, -c) * (1 + 0.05 * next_normal(words)));
    }
    all.push_back(curve_of(best));
  }
  return all;
}

}  // namespace kiln::test
