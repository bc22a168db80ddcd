// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/pairwise_energy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "backends/backends.hpp"
#include "backends/tolerances.hpp"
#include "models/models_sweep.hpp"

namespace kiln::test::pairwise_energy_test {
namespace {

class PairwiseEnergyKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(PairwiseEnergyKernel);

struct EnergyInputs {
  Ising model;
  std::int64_t slots = 32;
  std::vector<std::int8_t> spins;  // [variable][slot]
  std::vector<std::int32_t> rung;  // [slots]
  std::vector<std::uint32_t> only;
  bool has_control = false;
  RunControl control;
};

constexpr double before = -99;

EnergyInputs random_inputs(const Ising& model, std::int64_t slots, std::uint64_t seed) {
  const SweepInputs sweep = make_sweep(model, slots, 1, seed);
  EnergyInputs inputs;
  inputs.model = model;
  inputs.slots = slots;
  inputs.spins = sweep.spins;
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    inputs.rung.push_back(static_cast<std::int32_t>(slot % 5));
  }
  return inputs;
}

std::vector<double> run(Queue& queue, const EnergyInputs& inputs) {
  const DeviceModel model(queue, problems::plan_pairwise(inputs.model));
  const DeviceArray<std::uint32_t> state(queue, pack_spins(inputs.spins, inputs.slots));
  DeviceArray<double> energy(queue, std::vector<double>(idx(inputs.slots), before));
  const DeviceArray<std::int32_t> rung(queue, inputs.rung);
  const DeviceArray<std::uint32_t> only(queue, inputs.only);
  const DeviceArray<RunControl> control = upload_control(queue, inputs.control);
  const std::int64_t words = inputs.slots / 32;
  queue.launch(PairwiseEnergy{model.view(),
                              {state.data(), inputs.model.n, words, words},
                              energy.view(),
                              rung.view(),
                              only.view(),
                              inputs.has_control ? control.data() : nullptr});
  return energy.download();
}

// The formula of the header, one replica at a time: halves of sums over blocks of 64 sites.
std::vector<double> plain_energies(const EnergyInputs& inputs) {
  const PlainModel model = plain_model(inputs.model, problems::plan_pairwise(inputs.model));
  std::vector<double> energies;
  for (std::int64_t slot = 0; slot < inputs.slots; ++slot) {
    const std::vector<std::int8_t> spins = spins_of(inputs.spins, inputs.slots, slot);
    double total = 0;
    for (std::size_t begin = 0; begin < model.sites.size(); begin += 64) {
      double part = 0;
      for (std::size_t i = begin; i < std::min(begin + 64, model.sites.size()); ++i) {
        const PlainModel::Site& site = model.sites[i];
        if (site.variable < 0) continue;
        double down = 0;
        for (const auto& other : site.neighbors) {
          if (spins[idx(other.variable)] < 0) down += other.weight;
        }
        part += spins[idx(site.variable)] * (site.field + (site.base - 2 * down));
      }
      total += part;
    }
    energies.push_back(total / 2);
  }
  return energies;
}

std::vector<double> direct_energies(const EnergyInputs& inputs) {
  std::vector<double> energies;
  for (std::int64_t slot = 0; slot < inputs.slots; ++slot) {
    energies.push_back(direct_energy(inputs.model, spins_of(inputs.spins, inputs.slots, slot)));
  }
  return energies;
}

WeightSource reals(std::uint64_t seed) {
  return [random = std::make_shared<TestRandom>(seed)] { return 2 * random->unit() - 1; };
}

// Triangle with J = 1, fields (1, 2, 3): all up gives 6 + 3, the first one down 4 - 1.
TEST_P(PairwiseEnergyKernel, GivesTheEnergyOfATriangle) {
  EnergyInputs inputs;
  inputs.model = ring(3, constant(1), constant(0));
  inputs.model.fields = {1, 2, 3};
  inputs.spins.assign(96, 1);
  inputs.spins[5] = -1;
  inputs.rung.assign(32, 0);

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

  const std::vector<double> got = run(queue(), inputs);
  const std::vector<double> expected = direct_energies(inputs);

  for (std::size_t slot = 0; slot < got.size(); ++slot) {
    EXPECT_NEAR(got[slot], expected[slot], double_tolerance * magnitude);
  }
}

TEST_P(PairwiseEnergyKernel, WritesOnlyTheRungsThatAreAskedFor) {
  EnergyInputs inputs = random_inputs(sparse(40, 4, constant(1), constant(1), 21), 64, 22);
  inputs.rung.assign(64, 4);
  for (std::size_t slot = 0; slot < 32; ++slot) inputs.rung[slot] = static_cast<int>(slot % 4);
  inputs.only = {0, 1, 0, 7, 0};
  const std::vector<double> all = direct_energies(inputs);

  const std::vector<double> got = run(queue(), inputs);

  for (std::size_t slot = 0; slot < 64; ++slot) {
    EXPECT_EQ(got[slot], slot < 32 && slot % 2 == 1 ? all[slot] : before) << slot;
  }
}

TEST_P(PairwiseEnergyKernel, DoesNothingOnceStopped) {
  EnergyInputs inputs = random_inputs(ring(20, constant(1), constant(1)), 32, 23);
  inputs.has_control = true;
  EXPECT_EQ(run(queue(), inputs), direct_energies(inputs));
  inputs.control.stop = DeviceStop::target;
  EXPECT_EQ(run(queue(), inputs), std::vector<double>(32, before));
}

}  // namespace
}  // namespace kiln::test::pairwise_energy_test
