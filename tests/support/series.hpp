// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "kiln/device/normal.hpp"
#include "kiln/statistics/sample.hpp"

namespace kiln::test {

/// Standard normal numbers that are the same with every standard library.
inline double next_normal(std::mt19937_64& words) {
  return normal_quantile((static_cast<double>(words() >> 12) + 0.5) * 0x1p-52);
}

/// Stationary chains x_t = phi x_{t-1} + sqrt(1 - phi^2) e_t of variance 1: [chain][draw]. Their
/// autocorrelation is phi^lag, their autocorrelation time (1 + phi) / (1 - phi).
inline std::vector<double> ar1_chains(double phi, std::int64_t chains, std::int64_t draws,
                                      std::uint64_t seed = 1) {
  std::mt19937_64 words(seed);
  std::vector<double> values;
  for (std::int64_t c = 0; c < chains; ++c) {
    double x = next_normal(words);
    for (std::int64_t t = 0; t < draws; ++t) {
      values.push_back(x);
      x = phi * x + std::sqrt(1 - phi * phi) * next_normal(words);
    }
  }
  return values;
}

/// A sample in which nothing is wrong: independent normal quantities of these names.
inline Sample good_sample(std::vector<std::string> names, std::int64_t chains, std::int64_t draws) {
  Sample sample;
  sample.chains = sample.all_chains = chains;
  sample.draws = sample.all_draws = draws;
  sample.warmup = draws;
  sample.names = std::move(names);
  const auto kept = static_cast<std::size_t>(chains * draws);
  sample.values = ar1_chains(0, 1, chains * draws * static_cast<std::int64_t>(sample.names.size()));
  sample.log_density = ar1_chains(0, chains, draws, 2);
  sample.hamiltonian = ar1_chains(0, chains, draws, 3);
  sample.acceptance.assign(kept, 0.75);
  sample.leapfrogs.assign(kept, 7);
  sample.depth.assign(kept, 3);
  sample.divergent.assign(kept, 0);
  sample.max_depth = 10;
  sample.step_size = 0.5;
  sample.gradients = 7.0 * static_cast<double>(kept);
  sample.warmup_gradients = sample.gradients;
  sample.warmup_s = 0.5;
  sample.sampling_s = 0.25;
  return sample;
}

}  // namespace kiln::test
