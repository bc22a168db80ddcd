// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/categorical_energy.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "energy_runs.hpp"
#include "models/models_potts.hpp"
#include "potts/potts_objective.hpp"

// Sums are formed in an order that the header fixes.
KILN_CONFORMANCE_CASE(CategoricalEnergy, exact)

namespace kiln::test::categorical_energy_test {
namespace {

class CategoricalEnergyKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(CategoricalEnergyKernel);

using energies::reals;

struct EnergyInputs {
  Potts model;
  std::vector<std::int8_t> values;  // [variable][slot]
  energies::Request asked;
};

EnergyInputs random_inputs(const Potts& model, std::int64_t slots, std::uint64_t seed) {
  return {model, make_potts_sweep(model, SweepRule::metropolis, slots, seed).values,
          energies::all_of(slots)};
}

std::vector<double> run(Queue& queue, const EnergyInputs& inputs) {
  const problems::PottsPlan plan = problems::plan_potts(inputs.model);
  const problems::BoundPottsModel model(plan, queue);
  const DeviceArray<std::int8_t> state(queue, inputs.values);
  DeviceArray<double> energy = energies::untouched(queue, inputs.asked);
  const energies::DeviceRequest asked(queue, inputs.asked);
  const std::int64_t slots = inputs.asked.slots;
  queue.launch(CategoricalEnergy{model.view(),
                                 {state.data(), inputs.model.n, slots, slots},
                                 energy.view(),
                                 asked.rung(),
                                 asked.active_rungs(),
                                 asked.control()});
  return energy.download();
}

// The formula of the header, one slot at a time: halves of sums over blocks of 64 sites.
std::vector<double> plain_energies(const EnergyInputs& inputs) {
  const Ising pairs{inputs.model.n, std::vector<double>(idx(inputs.model.n), 0.0),
                    inputs.model.couplings, 0.0};
  const PlainModel model = plain_model(pairs, problems::plan_potts(inputs.model).pairs);
  std::vector<double> energies;
  for (std::int64_t slot = 0; slot < inputs.asked.slots; ++slot) {
    const std::vector<std::int32_t> x = values_of(inputs.values, inputs.asked.slots, slot);
    energies.push_back(energies::half_sum_in_blocks(model, [&](const PlainModel::Site& site) {
      double equal = 0;
      for (const auto& other : site.neighbors) {
        if (x[idx(other.variable)] == x[idx(site.variable)]) equal += other.weight;
      }
      for (const PottsField& field : inputs.model.fields) {
        const bool has = field.variable == site.variable && field.value == x[idx(site.variable)];
        if (has) equal += 2 * field.amount;
      }
      return equal;
    }));
  }
  return energies;
}

std::vector<double> direct_energies(const EnergyInputs& inputs) {
  std::vector<double> energies;
  for (std::int64_t slot = 0; slot < inputs.asked.slots; ++slot) {
    energies.push_back(
        problems::potts_energy(inputs.model, values_of(inputs.values, inputs.asked.slots, slot)));
  }
  return energies;
}

// A triangle with J = 1, 2, 4 and h_0(2) = 8: all equal to 2 gives 15, all equal to 1 gives 7,
// (2, 2, 0) gives 1 + 8.
TEST_P(CategoricalEnergyKernel, GivesTheEnergyOfATriangle) {
  EnergyInputs inputs = random_inputs({3, 3, {{0, 2, 8}}, {{0, 1, 1}, {0, 2, 4}, {1, 2, 2}}}, 3, 1);
  inputs.values = {2, 1, 2, 2, 1, 2, 2, 1, 0};

  EXPECT_EQ(run(queue(), inputs), (std::vector<double>{15, 7, 9}));
}

TEST_P(CategoricalEnergyKernel, IsExactForIntegers) {
  std::uint64_t seed = 1;
  for (const std::int32_t n : {1, 2, 31, 33, 257, 1200}) {
    for (const std::int64_t slots : {0, 1, 31, 32, 33, 1025}) {
      for (const std::int32_t q : {2, 3, 7, 64}) {
        const WeightSource weight = one_of({-0x1p20, 0, 0x1p20, 1, 3}, ++seed);
        const Ising pairs = sparse(n, 5, weight, constant(0), seed);
        const EnergyInputs inputs = random_inputs(potts_of(pairs, q, weight), slots, seed);
        EXPECT_EQ(run(queue(), inputs), direct_energies(inputs)) << n << ", " << slots;
      }
    }
  }
}

TEST_P(CategoricalEnergyKernel, IsExactForDenseModelsAndStars) {
  const WeightSource weight = one_of({-3, -1, 2, 7}, 5);
  for (const Ising& pairs : {dense(101, weight, weight), star(600, 7, weight)}) {
    const EnergyInputs inputs = random_inputs(potts_of(pairs, 5, constant(0)), 64, 6);
    EXPECT_EQ(run(queue(), inputs), direct_energies(inputs));
  }
}

TEST_P(CategoricalEnergyKernel, AddsRealsInTheOrderOfTheHeader) {
  for (const std::int32_t n : {1, 33, 257}) {
    const Ising pairs = sparse(n, 6, reals(7), constant(0), 9);
    const EnergyInputs inputs = random_inputs(potts_of(pairs, 4, reals(8)), 33, idx(n));
    EXPECT_EQ(run(queue(), inputs), plain_energies(inputs)) << n;
  }
  const EnergyInputs inputs =
      random_inputs(potts_of(dense(67, reals(10), constant(0)), 3, reals(11)), 64, 12);
  EXPECT_EQ(run(queue(), inputs), plain_energies(inputs));
}

TEST_P(CategoricalEnergyKernel, MatchesCpu) {
  const Ising pairs = sparse(700, 6, reals(13), constant(0), 15);
  const EnergyInputs inputs = random_inputs(potts_of(pairs, 6, reals(14)), 128, 16);

  EXPECT_EQ(bits_of(run(queue(), inputs)), bits_of(run(cpu_queue(), inputs)));
}

TEST_P(CategoricalEnergyKernel, IsNearTheDirectSumForReals) {
  const Potts model = potts_of(sparse(500, 6, reals(17), constant(0), 19), 3, reals(18));
  const EnergyInputs inputs = random_inputs(model, 64, 20);
  double magnitude = 0;
  for (const PottsField& field : model.fields) magnitude += std::abs(field.amount);
  for (const Edge& e : model.couplings) magnitude += std::abs(e.weight);

  energies::expect_near(run(queue(), inputs), direct_energies(inputs),
                        double_tolerance * magnitude);
}

TEST_P(CategoricalEnergyKernel, WritesOnlyTheRungsThatAreAskedFor) {
  EnergyInputs inputs =
      random_inputs(potts_of(sparse(40, 4, constant(1), constant(0), 21), 3, constant(0)), 64, 22);
  inputs.asked = energies::some_of_64();
  energies::expect_only_what_is_asked_for(
      inputs, direct_energies(inputs),
      [&](const EnergyInputs& some) { return run(queue(), some); });
}

TEST_P(CategoricalEnergyKernel, DoesNothingOnceStopped) {
  const EnergyInputs inputs =
      random_inputs(potts_of(ring(20, constant(1), constant(0)), 3, constant(0)), 32, 23);
  energies::expect_nothing_once_stopped(
      inputs, direct_energies(inputs),
      [&](const EnergyInputs& stopped) { return run(queue(), stopped); });
}

}  // namespace
}  // namespace kiln::test::categorical_energy_test
