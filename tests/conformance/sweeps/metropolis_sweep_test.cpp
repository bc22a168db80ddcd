// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "kiln/device/exact_math.hpp"

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "models/models_sweep.hpp"

// Decisions are made in exact arithmetic; integer energies are exact, real ones are left alone.
KILN_CONFORMANCE_CASE(MetropolisSweep, exact)

namespace kiln::test::metropolis_sweep_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class MetropolisSweepKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(MetropolisSweepKernel);

// All slots in the same state at the same temperature.
SweepInputs uniform(const Ising& model, const std::vector<std::int8_t>& spins, double beta,
                    std::uint32_t sweeps = 1) {
  SweepInputs inputs = make_sweep(model, 32, 1, 1);
  for (std::size_t i = 0; i < inputs.spins.size(); ++i) inputs.spins[i] = spins[i / 32];
  inputs.beta = {beta};
  inputs.rung.assign(32, 0);
  inputs.sweeps = sweeps;
  return inputs;
}

TEST_P(MetropolisSweepKernel, TurnsASpinIntoItsFieldAndKeepsItThere) {
  const Ising up = isolated_spins({1.0});

  const SweepOutputs out = run_sweeps(queue(), uniform(up, {1}, infinity, 3));

  EXPECT_EQ(out.spins, std::vector<std::int8_t>(32, -1));
  EXPECT_EQ(out.energy, std::vector<double>(32, energy_before - 2));
  EXPECT_EQ(out.accepted, std::vector<std::uint64_t>(32, accepted_before + 1));
}

// J = -1, s = (+1, -1): spin 0 goes down (dE = -2), then spin 1 would go up (dE = +2) and does not.
TEST_P(MetropolisSweepKernel, AlignsTwoFerromagneticSpinsInSiteOrder) {
  const Ising pair = ring(2, constant(-1), constant(0));

  const SweepOutputs out = run_sweeps(queue(), uniform(pair, {1, -1}, infinity));

  EXPECT_EQ(spins_of(out.spins, 32, 7), (std::vector<std::int8_t>{-1, -1}));
  EXPECT_EQ(out.energy[7], energy_before - 2);
  EXPECT_EQ(out.accepted[7], accepted_before + 1);
}

TEST_P(MetropolisSweepKernel, FlipsEverythingAtInfiniteTemperature) {
  const Ising pair = ring(2, constant(-1), constant(0));

  const SweepOutputs out = run_sweeps(queue(), uniform(pair, {1, -1}, 0.0));

  EXPECT_EQ(spins_of(out.spins, 32, 31), (std::vector<std::int8_t>{-1, 1}));
  EXPECT_EQ(out.energy[31], energy_before);
  EXPECT_EQ(out.accepted[31], accepted_before + 2);
}

// dE = 0 is a downhill move by the rule dE <= 0.
TEST_P(MetropolisSweepKernel, AcceptsLevelMovesAtAnyTemperature) {
  const Ising free = ring(12, constant(0), constant(0));

  const SweepOutputs out =
      run_sweeps(queue(), uniform(free, std::vector<std::int8_t>(12, 1), infinity, 3));

  EXPECT_EQ(out.spins, std::vector<std::int8_t>(12 * 32, -1));
  EXPECT_EQ(out.accepted, std::vector<std::uint64_t>(32, accepted_before + 36));
}

// The threshold itself: word < floor(2^32 exp(-beta dE)) with the word that the draw's name gives.
TEST_P(MetropolisSweepKernel, ComparesTheNamedWordWithTheThreshold) {
  SweepInputs inputs = uniform(isolated_spins({-1, -1, -1, -1, -1}), {1, 1, 1, 1, 1}, 0.25);
  const DrawName name{inputs.names.key[4], 5, inputs.names.replica[4], RngDomain::metropolis, 0};

  const SweepOutputs out = run_sweeps(queue(), inputs);

  for (std::uint32_t site = 0; site < 5; ++site) {
    const bool flips = draw_word(name, site) < 2605029347u;  // floor(2^32 exp(-1/2))
    EXPECT_EQ(out.spins[site * 32 + 4], flips ? -1 : 1) << site;
  }
}

// floor(2^32 / (1 + exp(beta dE))) at beta dE = 1/2 and, for spins against their field, -1/2.
TEST_P(MetropolisSweepKernel, ComparesTheNamedWordWithTheThresholdOfTheHeatBath) {
  SweepInputs inputs = uniform(isolated_spins({-1, -1, -1, 1, 1, 1}), {1, 1, 1, 1, 1, 1}, 0.25);
  inputs.rule = SweepRule::heat_bath;
  const DrawName name{inputs.names.key[4], 5, inputs.names.replica[4], RngDomain::metropolis, 0};

  const SweepOutputs out = run_sweeps(queue(), inputs);

  for (std::uint32_t site = 0; site < 6; ++site) {
    const bool flips = draw_word(name, site) < (site < 3 ? 1621524825u : 2673442470u);
    EXPECT_EQ(out.spins[site * 32 + 4], flips ? -1 : 1) << site;
  }
}

// The beta at which so many words accept a step of dE = 2.
double beta_of_threshold(std::uint64_t threshold) {
  double low = 0, high = 12;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (exact::accept_threshold(2 * middle) > threshold ? low : high) = middle;
  }
  return high;
}

// A word that equals the threshold is rejected, one below it is accepted: for many sites a table of
// thresholds may decide, for few the rule itself.
TEST_P(MetropolisSweepKernel, RejectsTheThresholdItselfAndAcceptsTheWordBelow) {
  for (const std::size_t n : {5u, 600u}) {
    for (const std::uint32_t site : {0u, 3u, 4u}) {
      SweepInputs inputs = uniform(isolated_spins(std::vector<double>(n, -1.0)),
                                   std::vector<std::int8_t>(n, 1), 1.0);
      const DrawName name{inputs.names.key[7], 5, inputs.names.replica[7], RngDomain::metropolis,
                          0};
      const std::uint32_t word = draw_word(name, site);
      for (const std::uint32_t more : {0u, 1u}) {
        inputs.beta = {beta_of_threshold(std::uint64_t{word} + more)};
        ASSERT_EQ(exact::accept_threshold(2 * inputs.beta[0]), std::uint64_t{word} + more);

        const SweepOutputs out = run_sweeps(queue(), inputs);

        EXPECT_EQ(out.spins[site * 32 + 7], more == 1 ? -1 : 1) << n << " sites, site " << site;
      }
    }
  }
}

TEST_P(MetropolisSweepKernel, HeatBathTakesHalfOfTheLevelMovesAtZeroTemperature) {
  SweepInputs inputs =
      uniform(ring(12, constant(0), constant(0)), std::vector<std::int8_t>(12, 1), infinity);
  inputs.rule = SweepRule::heat_bath;
  const SweepOutputs out = run_sweeps(queue(), inputs);
  for (std::uint32_t site = 0; site < 12; ++site) {
    for (std::size_t slot = 0; slot < 32; ++slot) {
      const DrawName name{inputs.names.key[slot], 5, inputs.names.replica[slot],
                          RngDomain::metropolis, 0};
      EXPECT_EQ(out.spins[site * 32 + slot], draw_word(name, site) < 0x80000000u ? -1 : 1);
    }
  }
}

TEST_P(MetropolisSweepKernel, LeavesEnergiesOfRealModelsAlone) {
  const SweepInputs inputs = make_sweep(ring(9, constant(0.1), constant(0.7)), 64, 2, 3);

  EXPECT_EQ(run_sweeps(queue(), inputs).energy, std::vector<double>(64, energy_before));
}

TEST_P(MetropolisSweepKernel, DoesNotNeedACounter) {
  SweepInputs inputs = make_sweep(ring(40, constant(1), constant(0)), 64, 1, 4);
  inputs.count_accepted = false;

  EXPECT_EQ(first_difference(run_sweeps(queue(), inputs), plain_sweeps(inputs)), "");
}

TEST_P(MetropolisSweepKernel, DoesNothingOnceStopped) {
  SweepInputs inputs = make_sweep(ring(40, constant(1), constant(0)), 64, 1, 5);
  for (const DeviceStop reason : {DeviceStop::target, DeviceStop::step_limit}) {
    inputs.control.stop = reason;
    const SweepOutputs out = run_sweeps(queue(), inputs);

    EXPECT_EQ(out.spins, inputs.spins);
    EXPECT_EQ(out.energy, std::vector<double>(64, energy_before));
    EXPECT_EQ(out.accepted, std::vector<std::uint64_t>(64, accepted_before));
  }
}

TEST_P(MetropolisSweepKernel, DoesNoSweepBeyondTheLimit) {
  SweepInputs inputs = make_sweep(sparse(48, 3, one_of({-1, 1}, 1), constant(0), 2), 64, 1, 6);
  inputs.control.step_limit = inputs.control.step + 2;
  inputs.sweeps = 5;
  SweepInputs two = inputs;
  two.sweeps = 2;
  two.control.step_limit = ~0ull;

  EXPECT_EQ(first_difference(run_sweeps(queue(), inputs), run_sweeps(queue(), two)), "");
  inputs.control.step_limit = inputs.control.step;
  EXPECT_EQ(run_sweeps(queue(), inputs).spins, inputs.spins);
}

// A group in a batch of several draws what it would draw alone.
TEST_P(MetropolisSweepKernel, GivesAGroupOfABatchWhatItWouldGetAlone) {
  const SweepInputs all = make_sweep(ring(50, one_of({-1, 1}, 3), constant(0)), 96, 3, 7);
  SweepInputs alone = all;
  alone.slots = 32;
  alone.spins.clear();
  for (std::size_t i = 0; i < all.spins.size(); ++i) {
    if (i % 96 / 32 == 1) alone.spins.push_back(all.spins[i]);
  }
  alone.rung.assign(all.rung.begin() + 32, all.rung.begin() + 64);
  alone.names.key.assign(all.names.key.begin() + 32, all.names.key.begin() + 64);
  alone.names.replica.assign(all.names.replica.begin() + 32, all.names.replica.begin() + 64);

  const SweepOutputs together = run_sweeps(queue(), all);
  const SweepOutputs single = run_sweeps(queue(), alone);

  for (std::int64_t slot = 0; slot < 32; ++slot) {
    EXPECT_EQ(spins_of(single.spins, 32, slot), spins_of(together.spins, 96, 32 + slot)) << slot;
    EXPECT_EQ(single.energy[idx(slot)], together.energy[idx(32 + slot)]) << slot;
  }
}

}  // namespace
}  // namespace kiln::test::metropolis_sweep_test
