// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// How often and how independently metropolis_sweep accepts. Isolated spins against their fields
// make every attempt of a first sweep an uphill step of a known size.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/backends.hpp"
#include "chi_square.hpp"
#include "models/models_sweep.hpp"

namespace kiln::test::metropolis_noise_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class MetropolisNoise : public DeviceTest {};
KILN_ON_EVERY_BACKEND(MetropolisNoise);

// Spins that lie in their fields: flipping spin i costs 2 |h_i|.
SweepInputs aligned(const std::vector<double>& fields, std::int64_t slots, double beta,
                    std::uint64_t seed) {
  SweepInputs inputs;
  inputs.model = isolated_spins(fields);
  inputs.slots = slots;
  for (const double h : fields) {
    inputs.spins.insert(inputs.spins.end(), idx(slots), h > 0 ? std::int8_t{-1} : std::int8_t{1});
  }
  inputs.beta = {beta};
  inputs.rung.assign(idx(slots), 0);
  inputs.names = make_names(slots, 4, seed);
  return inputs;
}

// Which attempts of one sweep were accepted, [variable][slot].
std::vector<bool> flips(Queue& queue, const SweepInputs& inputs) {
  const SweepOutputs out = run_sweeps(queue, inputs);
  std::vector<bool> flipped;
  for (std::size_t i = 0; i < out.spins.size(); ++i) {
    flipped.push_back(out.spins[i] != inputs.spins[i]);
  }
  return flipped;
}

const std::vector<double> integer_fields = {1, -1, 2, 3, -4, 6, 10, -15};
const std::vector<double> real_fields = {0.05, -0.3, 0.77, 1.9, -2.5, 4.1, 7.3, -11.0};

// 8 fields, 4 betas and 2 sets of fields with 65,536 trials each: 64 exact binomial tests at
// p > 1e-6, false alarm 6e-5.
TEST_P(MetropolisNoise, AcceptsAsOftenAsTheBoltzmannFactorSays) {
  constexpr std::int64_t slots = 65536;
  for (const std::vector<double>& fields : {integer_fields, real_fields}) {
    for (const double beta : {0.03, 0.2, 0.6, 1.1}) {
      const std::vector<bool> flipped = flips(queue(), aligned(fields, slots, beta, 1));
      for (std::size_t v = 0; v < fields.size(); ++v) {
        std::int64_t count = 0;
        for (std::size_t slot = 0; slot < idx(slots); ++slot) count += flipped[v * slots + slot];
        const double p = std::exp(-beta * 2 * std::abs(fields[v]));
        EXPECT_GT(binomial_p_value(count, slots, p), 1e-6)
            << "beta " << beta << ", field " << fields[v] << ": " << count << " of " << slots;
      }
    }
  }
}

// Negative control: 5 per cent off in dE, where the acceptance is near 1 / e.
TEST_P(MetropolisNoise, SeesAWrongAcceptance) {
  constexpr std::int64_t slots = 65536;
  SweepInputs inputs = aligned({1}, slots, 0.5, 1);
  inputs.inverse_scale = 1.05;
  const std::vector<bool> flipped = flips(queue(), inputs);
  const auto count = std::count(flipped.begin(), flipped.end(), true);
  EXPECT_LT(binomial_p_value(count, slots, std::exp(-1.0)), 1e-6);
}

TEST_P(MetropolisNoise, AcceptsEverythingAtBetaZeroAndNothingUphillAtBetaInfinity) {
  for (const std::vector<double>& fields : {integer_fields, real_fields}) {
    for (const bool accepted : flips(queue(), aligned(fields, 1024, 0, 2))) ASSERT_TRUE(accepted);
    for (const bool accepted : flips(queue(), aligned(fields, 1024, infinity, 2))) {
      ASSERT_FALSE(accepted);
    }
  }
}

// Fair coins: dE = 2 and beta = ln 2 / 2, so an attempt is accepted with probability 1/2.
struct Coins {
  static constexpr std::int64_t slots = 512, sites = 256, steps = 8;
  std::vector<std::vector<bool>> flips;  // [step][site * slots + slot]

  double at(std::int64_t step, std::int64_t site, std::int64_t slot) const {
    return flips[idx(step)][idx(site * slots + slot)] ? 1 : -1;
  }
  /// Standard score of the correlation between attempts that lie so far apart.
  double score(std::int64_t d_step, std::int64_t d_site, std::int64_t d_slot) const {
    double sum = 0, pairs = 0;
    for (std::int64_t t = 0; t + d_step < steps; ++t) {
      for (std::int64_t i = 0; i + d_site < sites; ++i) {
        for (std::int64_t r = 0; r + d_slot < slots; ++r) {
          sum += at(t, i, r) * at(t + d_step, i + d_site, r + d_slot);
          ++pairs;
        }
      }
    }
    return sum / std::sqrt(pairs);
  }
  double mean_score() const {
    double sum = 0;
    for (const std::vector<bool>& step : flips) {
      for (const bool flipped : step) sum += flipped ? 1 : -1;
    }
    return sum / std::sqrt(static_cast<double>(slots * sites * steps));
  }
};

Coins throw_coins(Queue& queue, const HostNames& names) {
  Coins coins;
  SweepInputs inputs =
      aligned(std::vector<double>(idx(Coins::sites), 1.0), Coins::slots, std::log(2.0) / 2, 3);
  inputs.names = names;
  for (std::int64_t step = 0; step < Coins::steps; ++step) {
    inputs.control.step = idx(step) + 0xFFFFFFFCu;  // crosses 2^32
    coins.flips.push_back(flips(queue, inputs));
  }
  return coins;
}

struct Lag {
  std::int64_t step, site, slot;
};
constexpr Lag lags[] = {{0, 0, 1},   {0, 0, 2},  {0, 0, 31}, {0, 0, 32}, {0, 0, 33}, {0, 0, 128},
                        {0, 0, 256}, {0, 1, 0},  {0, 2, 0},  {0, 3, 0},  {0, 4, 0},  {0, 5, 0},
                        {0, 64, 0},  {1, 0, 0},  {2, 0, 0},  {4, 0, 0},  {0, 1, 1},  {1, 1, 0},
                        {1, 0, 1},   {1, 4, 32}, {0, 4, 1},  {1, 1, 1}};

// Four groups of 128 replicas. 23 scores within 4.5 standard deviations: false alarm 1.6e-4.
TEST_P(MetropolisNoise, IsIndependentBetweenReplicasSitesSweepsAndGroups) {
  const Coins coins = throw_coins(queue(), make_names(Coins::slots, 4, 5));
  EXPECT_LT(std::abs(coins.mean_score()), 4.5);
  for (const Lag& lag : lags) {
    EXPECT_LT(std::abs(coins.score(lag.step, lag.site, lag.slot)), 4.5)
        << lag.step << " sweeps, " << lag.site << " sites, " << lag.slot << " slots apart";
  }
}

// Negative control: every replica number is used by two neighbours.
TEST_P(MetropolisNoise, SeesReplicasThatShareTheirNoise) {
  HostNames shared = make_names(Coins::slots, 1, 5);
  for (std::uint32_t& replica : shared.replica) replica /= 2;
  const Coins coins = throw_coins(queue(), shared);
  EXPECT_GT(coins.score(0, 0, 1), 100.0);
}

}  // namespace
}  // namespace kiln::test::metropolis_noise_test
