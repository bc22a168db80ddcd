// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Sweeps in a fixed order must sample the Boltzmann law where every variable has moves that leave
// the energy as it is: rings, and parts that are rings. Their mean energy has a closed form by the
// transfer matrix; the mean of 16,384 independent replicas is held to five standard errors. Fixed
// seeds.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kiln/problems/pairwise.hpp"
#include "kiln/problems/potts.hpp"
#include "kiln/run.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

namespace kiln::forced_moves_law_test {
namespace {

constexpr std::int64_t replicas = 16384;
constexpr double beta = 0.5;

std::vector<Edge> rings(std::int32_t count, std::int32_t n, double weight) {
  std::vector<Edge> edges;
  for (std::int32_t r = 0; r < count; ++r) {
    for (std::int32_t i = 0; i < n; ++i) edges.push_back({r * n + i, r * n + (i + 1) % n, weight});
  }
  return edges;
}

// Of the sum of weight s_i s_(i+1) on one ring: Z is the sum of the n-th powers of 2 cosh and
// -2 sinh of beta weight.
double mean_of_ring(std::int32_t n, double weight) {
  const double c = std::cosh(beta * weight), s = -std::sinh(beta * weight);
  const double z = std::pow(c, n) + std::pow(s, n);
  return weight * n * (std::pow(c, n - 1) * s + std::pow(s, n - 1) * c) / z;
}

double mean_energy(const Problem& problem) {
  SimulatedAnnealingOptions how;
  how.cooling = ListCooling{{beta}};
  how.anneal_sweeps = 160;
  how.polish_sweeps = 0;
  SimulatedAnnealing schedule(how);
  RunOptions options;
  options.seed = 11;
  options.replicas = replicas;
  Run run(problem, schedule, {.sweeps = 160}, options, open_backend("cpu", 2));
  run.advance();
  double sum = 0;
  for (std::int64_t r = 0; r < replicas; ++r) {
    sum += problem.units.objective_of_stored(run.batch()[r].energy());
  }
  return sum / static_cast<double>(replicas);
}

// What a sweep does that never refuses a move without a change of energy.
double mean_of_forced_sweeps(std::int32_t n) {
  std::uint32_t word = 12345;
  const auto draw = [&] {
    word ^= word << 13;
    word ^= word >> 17;
    word ^= word << 5;
    return word / 4294967296.0;
  };
  double sum = 0;
  for (std::int64_t r = 0; r < replicas; ++r) {
    std::vector<int> s(static_cast<std::size_t>(n));
    for (int& spin : s) spin = draw() < 0.5 ? 1 : -1;
    const auto at = [&](std::int32_t i) -> int& {
      return s[static_cast<std::size_t>((i + n) % n)];
    };
    for (int sweep = 0; sweep < 160; ++sweep) {
      for (std::int32_t i = 0; i < n; ++i) {
        const double rise = -2.0 * at(i) * (at(i - 1) + at(i + 1));
        if (rise <= 0 || draw() < std::exp(-beta * rise)) at(i) = -at(i);
      }
    }
    for (std::int32_t i = 0; i < n; ++i) sum += at(i) * at(i + 1);
  }
  return sum / static_cast<double>(replicas);
}

// The energy of a ring of n varies by less than that of n free bonds.
double bound(std::int32_t bonds) { return 5 * std::sqrt(bonds / static_cast<double>(replicas)); }

Problem spins(std::int32_t count, std::int32_t n, double weight) {
  Ising model;
  model.n = count * n;
  model.couplings = rings(count, n, weight);
  return make_ising(model, "rings");
}

TEST(ForcedMovesLaw, RingsHaveTheEnergyOfTheTransferMatrix) {
  for (const auto& [count, n] : {std::pair{1, 12}, {1, 5}, {16, 4}, {16, 3}, {12, 6}}) {
    for (const double weight : {1.0, -1.0}) {
      SCOPED_TRACE(testing::Message() << count << " rings of " << n << ", weight " << weight);
      EXPECT_NEAR(mean_energy(spins(count, n, weight)), count * mean_of_ring(n, weight),
                  bound(count * n));
    }
  }
}

TEST(ForcedMovesLaw, TwoColorsHaveItToo) {
  for (const std::int32_t n : {3, 8}) {
    Potts model;
    model.n = n;
    model.q = 2;
    model.couplings = rings(1, n, 2);  // 2 for equal neighbours: weight 1 beside a constant
    EXPECT_NEAR(mean_energy(make_potts(model, "ring")), n + mean_of_ring(n, 1), bound(n)) << n;
  }
}

TEST(ForcedMovesLaw, MovesThatAreNeverRefusedWouldBeSeen) {
  EXPECT_GT(std::abs(16 * (mean_of_forced_sweeps(4) - mean_of_ring(4, 1))), 2 * bound(64));
  EXPECT_GT(std::abs(mean_of_forced_sweeps(12) - mean_of_ring(12, 1)), 2 * bound(12));
}

}  // namespace
}  // namespace kiln::forced_moves_law_test
