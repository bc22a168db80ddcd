// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/pairwise_energy.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "backends/cpu_queue.hpp"
#include "energy_runs.hpp"
#include "models/models_sweep.hpp"

// Sums are formed in an order that the header fixes.
KILN_CONFORMANCE_CASE(PairwiseEnergy, exact)

namespace kiln::test::pairwise_energy_test {
namespace {

class PairwiseEnergyKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(PairwiseEnergyKernel);

using energies::reals;

struct EnergyInputs {
  Ising model;
  std::vector<std::int8_t> spins;  // [variable][slot]
  energies::Request asked;
};

EnergyInputs random_inputs(const Ising& model, std::int64_t slots, std::uint64_t seed) {
  return {model, make_sweep(model, slots, 1, seed).spins, energies::all_of(slots)};
}

std::vector<double> run(Queue& queue, const EnergyInputs& inputs) {
  const DeviceModel model(queue, problems::plan_pairwise(inputs.model));
  const DeviceArray<std::uint32_t> state(queue, pack_spins(inputs.spins, inputs.asked.slots));
  DeviceArray<double> energy = energies::untouched(queue, inputs.asked);
  const energies::DeviceRequest asked(queue, inputs.asked);
  const std::int64_t words = inputs.asked.slots / 32;
  queue.launch(PairwiseEnergy{model.view(),
                              {state.data(), inputs.model.n, words, words},
                              energy.view(),
                              asked.rung(),
                              asked.active_rungs(),
                              asked.control()});
  return energy.download();
}

// The formula of the header, one replica at a time: halves of sums over blocks of 64 sites.
std::vector<double> plain_energies(const EnergyInputs& inputs) {
  const PlainModel model = plain_model(inputs.model, problems::plan_pairwise(inputs.model));
  std::vector<double> energies;
  for (std::int64_t slot = 0; slot < inputs.asked.slots; ++slot) {
    const std::vector<std::int8_t> spins = spins_of(inputs.spins, inputs.asked.slots, slot);
    energies.push_back(energies::half_sum_in_blocks(model, [&](const PlainModel::Site& site) {
      double down = 0;
      for (const auto& other : site.neighbors) {
        if (spins[idx(other.variable)] < 0) down += other.weight;
      }
      return spins[idx(site.variable)] * (site.field + (site.base - 2 * down));
    }));
  }
  return energies;
}

std::vector<double> direct_energies(const EnergyInputs& inputs) {
  std::vector<double> energies;
  for (std::int64_t slot = 0; slot < inputs.asked.slots; ++slot) {
    energies.push_back(
        direct_energy(inputs.model, spins_of(inputs.spins, inputs.asked.slots, slot)));
  }
  return energies;
}

// Triangle with J = 1, fields (1, 2, 3): all up gives 6 + 3, the first one down 4 - 1.
TEST_P(PairwiseEnergyKernel, GivesTheEnergyOfATriangle) {
  EnergyInputs inputs = random_inputs(ring(3, constant(1), constant(0)), 32, 0);
  inputs.model.fields = {1, 2, 3};
  inputs.spins.assign(96, 1);
  inputs.spins[5] = -1;

  std::vector<double> expected(32, 9.0);
  expected[5] = 3.0;
  EXPECT_EQ(run(queue(), inputs), expected);
}

TEST_P(PairwiseEnergyKernel, IsExactForIntegers) {
  std::uint64_t seed = 1;
  for (const std::int32_t n : {1, 2, 31, 32, 33, 100, 257, 1200}) {
    for (const std::int64_t slots : {32, 96, 288}) {
      for (const double size : {1.0, 30.0, 0x1p20, 0x1p40}) {
        const WeightSource weight = one_of({-size, 0, size, 1, size - 1}, ++seed);
        const EnergyInputs inputs = random_inputs(sparse(n, 5, weight, weight, seed), slots, seed);
        EXPECT_EQ(run(queue(), inputs), direct_energies(inputs)) << n << ", " << slots;
      }
    }
  }
}

TEST_P(PairwiseEnergyKernel, IsExactForDenseModelsAndStars) {
  const WeightSource weight = one_of({-3, -1, 2, 7}, 5);
  for (const Ising& model : {dense(101, weight, weight), star(600, 7, weight)}) {
    const EnergyInputs inputs = random_inputs(model, 64, 6);
    EXPECT_EQ(run(queue(), inputs), direct_energies(inputs));
  }
}

// Sums over sites count every coupling and every field twice, so they can pass 2^53 although no
// energy does. Where the plan says that energies are integers, they must be exact.
TEST_P(PairwiseEnergyKernel, IsExactWhereThePlanSaysSo) {
  EnergyInputs inputs = random_inputs(star(2, 0, constant(0)), 32, 30);
  inputs.model.couplings[0].weight = 0x1p52 + 6;
  inputs.model.couplings[1].weight = 0x1p52 - 7;
  if (problems::plan_pairwise(inputs.model).integral) {
    EXPECT_EQ(run(queue(), inputs), direct_energies(inputs));
  }
  inputs.model.couplings[0].weight = 0x1p51 + 3;
  inputs.model.couplings[1].weight = 0x1p51 - 4;
  EXPECT_TRUE(problems::plan_pairwise(inputs.model).integral);
  EXPECT_EQ(run(queue(), inputs), direct_energies(inputs));
}

TEST_P(PairwiseEnergyKernel, AddsRealsInTheOrderOfTheHeader) {
  for (const std::int32_t n : {1, 33, 257, 1200}) {
    const EnergyInputs inputs = random_inputs(sparse(n, 6, reals(7), reals(8), 9), 96, idx(n));
    EXPECT_EQ(run(queue(), inputs), plain_energies(inputs)) << n;
  }
  const EnergyInputs inputs = random_inputs(dense(67, reals(10), reals(11)), 64, 12);
  EXPECT_EQ(run(queue(), inputs), plain_energies(inputs));
}

TEST_P(PairwiseEnergyKernel, MatchesCpu) {
  const EnergyInputs inputs = random_inputs(sparse(700, 6, reals(13), reals(14), 15), 128, 16);

  EXPECT_EQ(bits_of(run(queue(), inputs)), bits_of(run(cpu_queue(), inputs)));
}

TEST_P(PairwiseEnergyKernel, IsNearTheDirectSumForReals) {
  const Ising model = sparse(500, 6, reals(17), reals(18), 19);
  const EnergyInputs inputs = random_inputs(model, 64, 20);
  double magnitude = 0;
  for (const double h : model.fields) magnitude += std::abs(h);
  for (const Edge& e : model.couplings) magnitude += std::abs(e.weight);

  energies::expect_near(run(queue(), inputs), direct_energies(inputs),
                        double_tolerance * magnitude);
}

TEST_P(PairwiseEnergyKernel, WritesOnlyTheRungsThatAreAskedFor) {
  EnergyInputs inputs = random_inputs(sparse(40, 4, constant(1), constant(1), 21), 64, 22);
  inputs.asked = energies::some_of_64();
  energies::expect_only_what_is_asked_for(
      inputs, direct_energies(inputs),
      [&](const EnergyInputs& some) { return run(queue(), some); });
}

// The tasks and the instruction sets of the CPU.
TEST(PairwiseEnergyTasks, DoNotDependOnTheNumberOfWords) {
  for (const std::int64_t words : {1, 2, 3, 8, 13, 16, 17, 35}) {
    for (const double size : {1.0, 200.0, 0x1p20}) {
      const WeightSource weight = one_of({-size, 0, size, 1, size - 1}, 40);
      const EnergyInputs inputs = random_inputs(sparse(150, 5, weight, weight, 41), 32 * words, 42);
      const std::vector<double> expected = direct_energies(inputs);
      for (const char* isa : {"baseline", "avx2", ""}) {
        const ScopedEnvironment chosen("KILN_CPU_ISA", isa);
        EXPECT_EQ(run(*kiln::test::cpu_queue(1), inputs), expected) << words << " words, " << isa;
        EXPECT_EQ(run(*kiln::test::cpu_queue(2), inputs), expected) << words << " words, " << isa;
      }
    }
  }
}

// Rows of more than 64 neighbours with many different weights are added up in parts, replica by
// replica, where counting them in slices costs more: tasks of one word.
TEST(PairwiseEnergyTasks, AddUpLongRowsInParts) {
  const auto weights = [](std::uint64_t seed) -> WeightSource {  // -8000 to 8000
    return [random = reals(seed)] { return std::floor(8000.5 * random()); };
  };
  for (const std::int32_t n : {65, 66, 100, 129, 130, 200}) {
    const EnergyInputs inputs = random_inputs(dense(n, weights(43), weights(44)), 64, 45);
    const std::vector<double> expected = direct_energies(inputs);
    for (const char* isa : {"baseline", "avx2", ""}) {
      const ScopedEnvironment chosen("KILN_CPU_ISA", isa);
      EXPECT_EQ(run(*kiln::test::cpu_queue(2), inputs), expected) << n << " variables, " << isa;
    }
  }
}

TEST_P(PairwiseEnergyKernel, DoesNothingOnceStopped) {
  const EnergyInputs inputs = random_inputs(ring(20, constant(1), constant(1)), 32, 23);
  energies::expect_nothing_once_stopped(
      inputs, direct_energies(inputs),
      [&](const EnergyInputs& stopped) { return run(queue(), stopped); });
}

}  // namespace
}  // namespace kiln::test::pairwise_energy_test
