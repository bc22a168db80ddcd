// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "uniform_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kiln {
namespace {

double log_of_values(const Block& block) {
  const double n = static_cast<double>(block.count);
  if (block.kind == BlockKind::permutation) return std::lgamma(n + 1);
  if (!block.box.empty()) {
    double sum = 0;
    for (const Bounds& side : block.box) sum += std::log(side.upper - side.lower);
    return sum;
  }
  if (block.kind == BlockKind::real) return n * std::log(block.upper - block.lower);
  if (block.kind == BlockKind::spin || block.kind == BlockKind::binary) return n * std::log(2.0);
  return n * std::log(block.upper - block.lower + 1);
}

}  // namespace

bool has_unbounded_reals(const Space& space) {
  const auto& blocks = space.blocks();
  return std::any_of(blocks.begin(), blocks.end(), [](const Block& block) {
    return block.kind == BlockKind::real && !std::isfinite(block.upper - block.lower);
  });
}

double log_of_states(const Space& space) {
  double sum = 0;
  for (const Block& block : space.blocks()) sum += log_of_values(block);
  return sum;
}

UniformLink link_to_uniform(RunContext& run, double beta) {
  const Space& space = run.batch().space();
  if (run.given_states() > 0 || has_unbounded_reals(space)) return {};
  std::vector<double> energies = run.batch().read_energies(false);
  energies.resize(static_cast<std::size_t>(run.batch().replicas()));
  const double draws = static_cast<double>(energies.size());
  std::erase_if(energies, [](double e) { return !std::isfinite(e); });
  const double finite = static_cast<double>(energies.size());
  if (finite < min_draws) return {};
  const Affine energy = run.problem().units.energy_of_stored;
  const double least = *std::min_element(energies.begin(), energies.end());
  double sum = 0, squares = 0, mean = 0;
  for (const double e : energies) {
    const double weight = std::exp(-beta * energy.slope() * (e - least));
    sum += weight;
    squares += weight * weight;
    mean += e / finite;
  }
  // The logarithm of a mean is too low by half its variance, on average.
  const double variance = (squares / (sum * sum) - 1 / draws) * draws / (draws - 1);
  const double log_mean = std::log(sum / draws) + variance / 2 - beta * energy(least);
  return {1, log_of_states(space) + log_mean, variance, energy(mean)};
}

}  // namespace kiln
