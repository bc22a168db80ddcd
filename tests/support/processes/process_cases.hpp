// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "kiln/models/gaussian_process.hpp"

#include "processes/process_oracle.hpp"

/// Observations and options for tests of GaussianProcess.
namespace kiln::test {

// Smooth in each coordinate, with a mean and a scale of its own.
inline Observations observe_some(std::int64_t n, std::int64_t dimension, std::uint64_t seed) {
  Observations seen{oracle::uniform(n * dimension, 0, 1, seed), {}};
  for (std::int64_t i = 0; i < n; ++i) {
    double y = 50;
    for (std::int64_t k = 0; k < dimension; ++k) {
      y += 10 * std::sin(4 * seen.points[idx(i * dimension + k)] + double(k));
    }
    seen.values.push_back(y);
  }
  return seen;
}

inline GaussianProcessOptions options_of(CovarianceKind kind, std::int64_t dimension,
                                         const std::string& priors = "weak") {
  GaussianProcessOptions options = GaussianProcessOptions::preset(priors, dimension);
  options.covariance = kind;
  return options;
}

inline Hyperparameters typical(const GaussianProcessOptions& options, std::int64_t dimension) {
  Hyperparameters h;
  for (std::int64_t k = 0; k < (options.axis_lengths ? dimension : 1); ++k) {
    h.lengths.push_back(0.4 + 0.1 * double(k));
  }
  h.variance = 1.3;
  h.noise = 0.01;
  h.alpha = 0.7;
  return h;
}

}  // namespace kiln::test
