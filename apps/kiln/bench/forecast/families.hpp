// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/forecast/curve.hpp"

#include "bench/suite.hpp"

namespace kiln::cli {

/// A family of instances. Instance k is drawn with the seed k, and so is its only run, so that runs
/// of different k are exchangeable.
struct ForecastFamily {
  std::string name;
  RunCurve (*run)(const BenchRun& run, std::uint64_t instance);
};

/// Max-Cut, QUBO, Potts glasses, functions of real variables, learning curves.
const std::vector<ForecastFamily>& forecast_families();

/// Validation errors of a network with one hidden layer, epoch by epoch, in a training by
/// stochastic gradient descent. Data, width and learning rate are drawn with the seed.
RunCurve learning_curve(std::uint64_t seed);

}  // namespace kiln::cli
