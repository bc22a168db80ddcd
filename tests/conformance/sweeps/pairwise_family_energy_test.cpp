// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/pairwise_family_energy.hpp"

#include <gtest/gtest.h>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "energy_runs.hpp"
#include "models/models_family.hpp"
#include "models/models_sweep.hpp"
#include "pairwise/pairwise_family_objective.hpp"

// Sums are formed in an order that the header fixes.
KILN_CONFORMANCE_CASE(PairwiseFamilyEnergy, exact)

namespace kiln::test::pairwise_family_energy_test {
namespace {

class PairwiseFamilyEnergyKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(PairwiseFamilyEnergyKernel);

struct FamilyInputs {
  PairwiseFamily family;
  std::vector<std::int8_t> spins;  // [variable][slot]
  energies::Request asked;
};

struct Energies {
  std::vector<double> energy, base, term;
};

FamilyInputs random_inputs(const PairwiseFamily& family, std::int64_t slots, std::uint64_t seed) {
  FamilyInputs inputs{family, {}, energies::all_of(slots)};
  TestRandom random(seed);
  for (std::int64_t i = 0; i < family.base.n * slots; ++i) {
    inputs.spins.push_back(random.between(0, 1) == 0 ? std::int8_t{-1} : std::int8_t{1});
  }
  return inputs;
}

Energies run(Queue& queue, const FamilyInputs& in) {
  const problems::BoundPairwiseFamilyModel model(problems::plan_pairwise_family(in.family), queue);
  const std::int64_t slots = in.asked.slots;
  const auto packed = slots > 0 ? pack_spins(in.spins, slots) : std::vector<std::uint32_t>{};
  const DeviceArray<std::uint32_t> state(queue, packed);
  DeviceArray<double> energy = energies::untouched(queue, in.asked);
  DeviceArray<double> base = energies::untouched(queue, in.asked);
  DeviceArray<double> term = energies::untouched(queue, in.asked);
  const energies::DeviceRequest asked(queue, in.asked);
  queue.launch(PairwiseFamilyEnergy{model.view(),
                                    {state.data(), in.family.base.n, slots / 32, slots / 32},
                                    energy.view(),
                                    base.view(),
                                    term.view(),
                                    asked.rung(),
                                    asked.active_rungs(),
                                    asked.control()});
  return {energy.download(), base.download(), term.download()};
}

TEST_P(PairwiseFamilyEnergyKernel, OfIntegersIsExact) {
  for (const std::int32_t n : {1, 5, 64, 130, 700}) {
    for (const std::int64_t slots : {32, 96}) {
      const FamilyInputs in = random_inputs(random_family(n, 1, idx(n), -3), slots, idx(n));
      const Energies out = run(queue(), in);
      for (std::int64_t slot = 0; slot < slots; ++slot) {
        const std::vector<std::int8_t> s = spins_of(in.spins, slots, slot);
        const double a = direct_energy(in.family.base, s), b = direct_energy(in.family.term, s);
        ASSERT_EQ(out.base[idx(slot)], a) << n;
        ASSERT_EQ(out.term[idx(slot)], b) << n;
        ASSERT_EQ(out.energy[idx(slot)], a - 3 * b) << n;
      }
    }
  }
}

TEST_P(PairwiseFamilyEnergyKernel, OfRealsHasTheBitsOfTheCpu) {
  for (const std::int32_t n : {3, 65, 400}) {
    const FamilyInputs in = random_inputs(random_family(n, 0.37, idx(n), 0.6), 64, idx(n));
    const Energies out = run(queue(), in), cpu = run(cpu_queue(), in);
    EXPECT_EQ(bits_of(out.energy), bits_of(cpu.energy));
    EXPECT_EQ(bits_of(out.base), bits_of(cpu.base));
    EXPECT_EQ(bits_of(out.term), bits_of(cpu.term));
    for (std::int64_t slot = 0; slot < 64; ++slot) {
      const std::vector<std::int8_t> s = spins_of(in.spins, 64, slot);
      EXPECT_NEAR(out.base[idx(slot)], direct_energy(in.family.base, s), 1e-12 * n);
      EXPECT_NEAR(out.term[idx(slot)], direct_energy(in.family.term, s), 1e-12 * n);
    }
  }
}

constexpr std::vector<double> Energies::*parts[] = {&Energies::energy, &Energies::base,
                                                    &Energies::term};

TEST_P(PairwiseFamilyEnergyKernel, SkipsRungsThatAreNotAskedFor) {
  FamilyInputs in = random_inputs(random_family(20, 1, 3), 64, 3);
  const Energies all = run(queue(), in);
  in.asked.active_rungs = {1, 0, 0, 1, 0};
  for (const auto part : parts) {
    energies::expect_only_what_is_asked_for(
        in, all.*part, [&](const FamilyInputs& some) { return run(queue(), some).*part; });
  }
}

TEST_P(PairwiseFamilyEnergyKernel, DoesNothingOnceStopped) {
  const FamilyInputs in = random_inputs(random_family(20, 1, 3), 32, 3);
  const Energies all = run(queue(), in);
  for (const auto part : parts) {
    energies::expect_nothing_once_stopped(
        in, all.*part, [&](const FamilyInputs& stopped) { return run(queue(), stopped).*part; });
  }
}

TEST_P(PairwiseFamilyEnergyKernel, TakesAnEmptyBatch) {
  EXPECT_TRUE(run(queue(), random_inputs(random_family(4, 1, 3), 0, 3)).energy.empty());
}

}  // namespace
}  // namespace kiln::test::pairwise_family_energy_test
