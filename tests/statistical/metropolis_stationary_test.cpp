// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Many sweeps at a fixed temperature give the Boltzmann law. Nine spins are enumerated; 65,536
// samples, each the state of a model after the last sweep (a replica holds one model, or eight side
// by side, which do not interact); Pearson's chi-square over 512 states.
//
// Bound p > 1e-3. There are 4 systems, 3 temperatures and 5 seeds by one rule and 2 by the other,
// on each of 2 backends that have the same bits: 84 independent tests, a false alarm once in 12 if
// seeds were drawn anew. They are fixed, so that a pass stays a pass. The negative controls must
// give p < 1e-6.
#include <gtest/gtest.h>

#include <numeric>

#include "backends/backends.hpp"
#include "chi_square.hpp"
#include "small_systems.hpp"

namespace kiln::test::metropolis_stationary_test {
namespace {

constexpr std::int64_t samples = 65536;
constexpr std::uint32_t sweeps = 120;

const SmallSystem systems[] = {
    {"real_sequential", real_glass, 1, {0.2, 0.5, 0.9}},
    {"real_colored", real_glass, 8, {0.2, 0.5, 0.9}},
    {"mixed_integers_colored", mixed_integers, 8, {0.12, 0.3, 0.55}},
    {"dense_integers", dense_integers, 1, {0.06, 0.12, 0.2}},
};

std::vector<double> boltzmann(const Ising& model, double beta) {
  std::vector<double> weights;
  for (std::size_t state = 0; state < small_states; ++state) {
    weights.push_back(std::exp(-beta * direct_energy(model, spins_of_state(state))));
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  return weights;
}

double probability_of(SweepRule rule, double beta, double rise) {
  if (rule == SweepRule::heat_bath) return 1 / (1 + std::exp(beta * rise));
  return std::min(1.0, std::exp(-beta * rise));
}

// The law of a uniform start after some sweeps, by the exact transition probabilities in `order`.
std::vector<double> law_after(const Ising& model, double beta, std::uint32_t n_sweeps,
                              const std::vector<std::int32_t>& order, SweepRule rule) {
  std::vector<double> energy, law(small_states, 1.0 / small_states);
  for (std::size_t s = 0; s < small_states; ++s) {
    energy.push_back(direct_energy(model, spins_of_state(s)));
  }
  for (std::uint32_t sweep = 0; sweep < n_sweeps; ++sweep) {
    for (const std::int32_t v : order) {
      const std::size_t bit = std::size_t{1} << v;
      for (std::size_t up = 0; up < small_states; ++up) {
        if ((up & bit) != 0) continue;
        const double rise = energy[up | bit] - energy[up];
        const double there = law[up] * probability_of(rule, beta, rise);
        const double back = law[up | bit] * probability_of(rule, beta, -rise);
        law[up] += back - there;
        law[up | bit] += there - back;
      }
    }
  }
  return law;
}

// Variables of the first copy in the order of their sites.
std::vector<std::int32_t> update_order(const Ising& all) {
  std::vector<std::int32_t> order;
  for (const std::int32_t v : problems::plan_pairwise(all).variable) {
    if (v >= 0 && v < small_spins) order.push_back(v);
  }
  return order;
}

SweepInputs sampling(const SmallSystem& system, double beta, std::uint64_t seed) {
  SweepInputs inputs;
  inputs.model = repeated(system.model(), system.copies);
  inputs.slots = samples / system.copies / 32 * 32;
  TestRandom random(seed);
  const auto cells = static_cast<std::size_t>(inputs.model.n) * idx(inputs.slots);
  for (std::size_t i = 0; i < cells; ++i) {
    inputs.spins.push_back(random.between(0, 1) == 0 ? std::int8_t{-1} : std::int8_t{1});
  }
  inputs.beta = {beta};
  inputs.rung.assign(idx(inputs.slots), 0);
  inputs.names = make_names(inputs.slots, 4, seed + 1000);
  inputs.sweeps = sweeps;
  return inputs;
}

std::vector<std::int64_t> histogram(Queue& queue, const SweepInputs& inputs) {
  const SweepOutputs out = run_sweeps(queue, inputs);
  const std::size_t slots = idx(inputs.slots);
  std::vector<std::int64_t> counts(small_states, 0);
  for (std::size_t copy = 0; copy < idx(inputs.model.n / small_spins); ++copy) {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      std::size_t state = 0;
      for (std::size_t v = 0; v < idx(small_spins); ++v) {
        if (out.spins[(copy * idx(small_spins) + v) * slots + slot] < 0) state |= 1u << v;
      }
      ++counts[state];
    }
  }
  return counts;
}

class MetropolisStationary : public testing::TestWithParam<std::tuple<Device, SmallSystem>> {
 protected:
  void SetUp() override { skip_without(std::get<0>(GetParam())); }
  Queue& queue() const { return *open_device(std::get<0>(GetParam())).queue; }
  SmallSystem system() const { return std::get<1>(GetParam()); }
};

std::string name_of(const testing::TestParamInfo<std::tuple<Device, SmallSystem>>& info) {
  return std::get<1>(info.param).name;
}
INSTANTIATE_TEST_SUITE_P(Cpu, MetropolisStationary,
                         testing::Combine(testing::Values(Device::cpu), testing::ValuesIn(systems)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Cuda, MetropolisStationary,
                         testing::Combine(testing::Values(Device::cuda),
                                          testing::ValuesIn(systems)),
                         name_of);

TEST_P(MetropolisStationary, IsTheBoltzmannLaw) {
  for (const double beta : system().betas) {
    const std::vector<double> exact = boltzmann(system().model(), beta);
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
      const ChiSquare test =
          chi_square_test(histogram(queue(), sampling(system(), beta, seed)), exact);
      EXPECT_GT(test.p, 1e-3) << "beta " << beta << ", seed " << seed << ", chi-square "
                              << test.value << " with " << test.degrees << " degrees of freedom";
    }
  }
}

TEST_P(MetropolisStationary, IsTheBoltzmannLawByHeatBathToo) {
  for (const double beta : system().betas) {
    const std::vector<double> exact = boltzmann(system().model(), beta);
    for (const std::uint64_t seed : {6, 7}) {
      SweepInputs inputs = sampling(system(), beta, seed);
      inputs.rule = SweepRule::heat_bath;
      const ChiSquare test = chi_square_test(histogram(queue(), inputs), exact);
      EXPECT_GT(test.p, 1e-3) << "beta " << beta << ", seed " << seed << ", chi-square "
                              << test.value << " with " << test.degrees << " degrees of freedom";
    }
    SweepInputs wrong = sampling(system(), beta * 1.1, 6);
    wrong.rule = SweepRule::heat_bath;
    EXPECT_LT(chi_square_test(histogram(queue(), wrong), exact).p, 1e-6) << beta;
  }
}

// Negative control: a factor of 1.1 in beta, or in the energies, is seen.
TEST_P(MetropolisStationary, SeesAWrongFactorOfTenPerCent) {
  for (const double beta : system().betas) {
    const std::vector<double> exact = boltzmann(system().model(), beta);
    SweepInputs wrong_beta = sampling(system(), beta * 1.1, 1);
    EXPECT_LT(chi_square_test(histogram(queue(), wrong_beta), exact).p, 1e-6) << beta;
    SweepInputs wrong_energy = sampling(system(), beta, 1);
    wrong_energy.inverse_scale = 1.1;
    EXPECT_LT(chi_square_test(histogram(queue(), wrong_energy), exact).p, 1e-6) << beta;
  }
}

// Negative control: the start is uniform over states, which is not the Boltzmann law.
TEST_P(MetropolisStationary, SeesThatNothingWasSwept) {
  const double beta = system().betas[0];
  SweepInputs none = sampling(system(), beta, 1);
  none.control.stop = DeviceStop::target;
  EXPECT_LT(chi_square_test(histogram(queue(), none), boltzmann(system().model(), beta)).p, 1e-6);
}

// The condition of the tests above: after that many sweeps the exact law of the chain differs from
// the Boltzmann law by far less than 65,536 samples can show (a distance of 1e-6 adds 1e-3 at most
// to the expected chi-square).
TEST(SmallSystems, ForgetTheirStart) {
  for (const SmallSystem& system : systems) {
    const std::vector<std::int32_t> order = update_order(repeated(system.model(), system.copies));
    for (const double beta : system.betas) {
      const std::vector<double> exact = boltzmann(system.model(), beta);
      for (const SweepRule rule : {SweepRule::metropolis, SweepRule::heat_bath}) {
        const std::vector<double> law = law_after(system.model(), beta, sweeps, order, rule);
        double noncentrality = 0;
        for (std::size_t s = 0; s < small_states; ++s) {
          noncentrality += samples * (law[s] - exact[s]) * (law[s] - exact[s]) / exact[s];
        }
        EXPECT_LT(noncentrality, 1e-3) << system.name << ", beta " << beta;
      }
    }
  }
}

TEST(SmallSystems, UseBothKindsOfUpdateOrder) {
  EXPECT_TRUE(problems::plan_pairwise(real_glass()).sequential);
  EXPECT_TRUE(problems::plan_pairwise(dense_integers()).sequential);
  EXPECT_FALSE(problems::plan_pairwise(repeated(real_glass(), 8)).sequential);
  EXPECT_FALSE(problems::plan_pairwise(repeated(mixed_integers(), 8)).sequential);
}

}  // namespace
}  // namespace kiln::test::metropolis_stationary_test
