// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/targets/anneals.hpp"

#include <cmath>
#include <utility>
#include <vector>

namespace kiln::cli {
namespace {

SimulatedAnnealingOptions options_of(std::int64_t g, std::int64_t groups) {
  SimulatedAnnealingOptions options;
  options.anneal_sweeps = sweeps_of_an_anneal;
  options.restart = "random";
  const double place = static_cast<double>(g) / static_cast<double>(groups - 1);
  options.beta_min = 0.05 * std::pow(4.0, place);
  options.beta_max = 1.5 * std::pow(4.0, place);
  switch (g % 3) {
    case 0:
      options.cooling = LinearCooling{};
      break;
    case 1:
      options.cooling = GeometricCooling{};
      break;
    default:
      options.cooling = ExponentialCooling{};
  }
  return options;
}

}  // namespace

SimulatedAnnealing different_anneals(std::int64_t groups) {
  std::vector<SimulatedAnnealingOptions> all;
  for (std::int64_t g = 0; g < groups; ++g) all.push_back(options_of(g, groups));
  return SimulatedAnnealing(std::move(all));
}

}  // namespace kiln::cli
