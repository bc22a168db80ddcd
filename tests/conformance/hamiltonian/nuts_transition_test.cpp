// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/nuts_transition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backends/backends.hpp"
#include "backends/tolerances.hpp"
#include "densities/chains_cases.hpp"

namespace kiln::test::nuts_transition_test {
namespace {

constexpr ChainLayout layouts[] = {ChainLayout::lanes, ChainLayout::warp, ChainLayout::block};

ChainOutputs run(Queue& queue, const ChainInputs& in, int transitions = 1) {
  return run_chains<NutsTransition>(queue, in, transitions);
}

// A density of the catalogue whose trees have at most 31 leapfrogs.
ChainInputs shallow(ChainInputs in) {
  in.tuning[0].max_depth = 5;
  return in;
}

class NutsTransitionKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(NutsTransitionKernel);

TEST_P(NutsTransitionKernel, MatchesCpuForEverySizeAndLayout) {
  for (const std::int64_t replicas : {0, 1, 31, 32, 33}) {
    for (auto& [name, chains] : potentials_to_compare(replicas, 0)) {
      ChainInputs in = shallow(chains);
      const ChainOutputs expected = run(cpu_queue(), in);
      for (const ChainLayout layout : layouts) {
        SCOPED_TRACE(name + ", " + std::to_string(replicas) + ", " + to_string(layout));
        in.layout = layout;
        expect_close(run(queue(), in), expected, trajectory_tolerance);
      }
    }
  }
}

TEST_P(NutsTransitionKernel, MatchesCpuOnEveryRung) {
  for (auto& [name, chains] : potentials_to_compare(33, 0)) {
    ChainInputs in = shallow(chains);
    in.tuning[0].max_depth = 4;
    temper(in);
    const ChainOutputs expected = run(cpu_queue(), in, 2);
    for (const ChainLayout layout : layouts) {
      SCOPED_TRACE(name + ", " + to_string(layout));
      in.layout = layout;
      expect_close(run(queue(), in, 2), expected, trajectory_tolerance);
    }
  }
}

TEST_P(NutsTransitionKernel, RepeatsItsBits) {
  for (auto& [name, in] : potentials_to_compare(33, 0)) {
    for (const ChainLayout layout : layouts) {
      SCOPED_TRACE(name + ", " + to_string(layout));
      in.layout = layout;
      in.tuning[0].max_depth = 6;
      EXPECT_TRUE(same_state(run(queue(), in, 3), run(queue(), in, 3)));
    }
  }
}

TEST_P(NutsTransitionKernel, MovesAChainAsIfItWereAlone) {
  for (const ChainLayout layout : layouts) {
    SCOPED_TRACE(to_string(layout));
    ChainInputs many = spheres(1, 2000, 0.4, 0), few = many;
    many.layout = few.layout = layout;
    few.replicas = 3;
    few.position.resize(3);
    const ChainOutputs all = run(queue(), many, 4), some = run(queue(), few, 4);
    EXPECT_EQ(bits_of({all.position.begin(), all.position.begin() + 3}), bits_of(some.position));
  }
}

// Trees of a fine step turn once they have gone about half way round; the tree as a whole is then
// between one and two halves.
TEST_P(NutsTransitionKernel, StopsWhereTheTrajectoryTurns) {
  ChainInputs in = spheres(20, 100, 0.05, 0);
  in.tuning[0].jitter = 0;
  const ChainOutputs out = run(queue(), in);
  // omega = sqrt(2): half an orbit takes 2.2, 44 leapfrogs.
  for (std::size_t r = 0; r < 100; ++r) {
    EXPECT_GE(out.leapfrogs[r], 15);
    EXPECT_LE(out.leapfrogs[r], 127);
    EXPECT_GT(out.acceptance[r], 0.95);
    EXPECT_GE(out.leapfrogs[r], (1 << (out.depth[r] - 1)) - 1);
    EXPECT_LE(out.leapfrogs[r], (1 << (out.depth[r] + 1)) - 1);
  }
}

TEST_P(NutsTransitionKernel, KeepsToItsDepth) {
  for (const int depth : {0, 1, 2, 7}) {
    ChainInputs in = spheres(3, 33, 1e-6, 0);
    in.tuning[0].max_depth = depth;
    const ChainOutputs out = run(queue(), in);
    EXPECT_EQ(out.depth, std::vector<std::int32_t>(33, depth));
    EXPECT_EQ(out.leapfrogs, std::vector<std::int32_t>(33, (1 << depth) - 1));
    EXPECT_EQ(bits_of(out.position) == bits_of(in.position), depth == 0);
    EXPECT_EQ(out.divergent, std::vector<std::int32_t>(33, 0));
  }
  ChainInputs deepest = spheres(2, 1, 1e-9, 0);
  deepest.tuning[0].max_depth = NutsTransition::depth_limit;
  EXPECT_EQ(run(queue(), deepest).leapfrogs[0], (1 << NutsTransition::depth_limit) - 1);
}

TEST_P(NutsTransitionKernel, LeavesPartsAndTheWeightedGradient) {
  ChainInputs in = make_chains(EightSchools{}, 32, 1, 0.2, 0);
  temper(in);
  for (HmcTuning& tuning : in.tuning) tuning.max_depth = 5;
  const ChainOutputs out = run(queue(), in, 2);
  for (std::size_t r = 0; r < 32; ++r) {
    const std::size_t rung = idx(in.rung_of[r]);
    std::vector<double> x(10), g(10);
    for (std::size_t i = 0; i < 10; ++i) x[i] = out.position[i * 32 + r];
    const PartWeights w{in.beta[rung], in.beta[rung] * in.lambda[rung]};
    const EnergyParts e =
        EightSchools{}.evaluate<Want::both>(SingleTeam{}, {x.data(), w, g.data(), nullptr});
    EXPECT_NEAR(out.base[r], e.base, 1e-10);
    EXPECT_NEAR(out.term[r], e.term, 1e-10);
    EXPECT_EQ(out.energy[r], out.base[r] + out.term[r]) << "without the weights";
    EXPECT_EQ(out.base_weight[r], w.base);
    EXPECT_EQ(out.term_weight[r], w.term);
    for (std::size_t i = 0; i < 10; ++i) EXPECT_NEAR(out.gradient[i * 32 + r], g[i], 1e-10) << i;
  }
}

TEST_P(NutsTransitionKernel, ScalesThePotentialByBeta) {
  const ChainInputs plain = spheres(5, 32, 0.3, 0);
  ChainInputs cold = plain;
  cold.beta = {4};
  cold.metric = diagonal_metric(std::vector<double>(5, 0.5));
  for (double& x : cold.position) x /= 2;
  std::vector<double> doubled = run(queue(), cold, 3).position;
  for (double& x : doubled) x *= 2;
  EXPECT_EQ(bits_of(doubled), bits_of(run(queue(), plain, 3).position));
}

TEST_P(NutsTransitionKernel, MakesTheGradientAnewForOtherWeights) {
  const ChainInputs in = make_chains(EightSchools{}, 33, 1, 0.2, 0);
  DeviceChains chains(queue(), in), fresh(queue(), in);
  chains.transition<NutsTransition>();
  fresh.transition<NutsTransition>();
  for (DeviceChains* c : {&chains, &fresh}) c->set_beta({0.25});
  fresh.forget_gradients();
  chains.transition<NutsTransition>();
  fresh.transition<NutsTransition>();
  const ChainOutputs out = chains.outputs();
  EXPECT_TRUE(same_state(out, fresh.outputs()));
  EXPECT_EQ(out.base_weight, std::vector<double>(33, 0.25));
}

TEST_P(NutsTransitionKernel, IsTheSameByEveryMetricOfTheSameMatrix) {
  for (const ChainLayout layout : layouts) {
    SCOPED_TRACE(to_string(layout));
    ChainInputs in = spheres(6, 33, 0.2, 0);
    in.layout = layout;
    in.metric = powers_of_two(MetricKind::diagonal, 6);
    const ChainOutputs diagonal = run(queue(), in, 3);
    in.metric = powers_of_two(MetricKind::dense, 6);
    EXPECT_TRUE(same_state(run(queue(), in, 3), diagonal));
    in.metric = powers_of_two(MetricKind::low_rank, 6);
    EXPECT_TRUE(same_state(run(queue(), in, 3), diagonal));
    in.metric = {};
    EXPECT_FALSE(same_state(run(queue(), in, 3), diagonal));
  }
}

TEST_P(NutsTransitionKernel, StaysWithStepsOfNoLength) {
  ChainInputs in = make_chains(EightSchools{}, 33, 1, 0.0, 0);
  in.tuning[0].max_depth = 4;
  const ChainOutputs out = run(queue(), in, 2);
  EXPECT_EQ(bits_of(out.position), bits_of(in.position));
  EXPECT_EQ(out.acceptance, std::vector<double>(33, 1.0));
  EXPECT_EQ(out.leapfrogs, std::vector<std::int32_t>(33, 15)) << "it never turns";
}

// A leaf that is not finite ends the trajectory; the state is drawn from the finite part before.
TEST_P(NutsTransitionKernel, NeverTakesAndCountsWhatIsNotFinite) {
  const ChainInputs in = half_line(200);
  const ChainOutputs out = run(queue(), in);
  int beyond = 0;
  for (std::size_t r = 0; r < 200; ++r) {
    beyond += static_cast<int>(out.not_finite[r]);
    EXPECT_EQ(out.divergent[r], static_cast<std::int32_t>(out.not_finite[r]));
    EXPECT_LT(out.position[9 * 200 + r], 356.5004);
    EXPECT_TRUE(std::isfinite(out.energy[r]));
    EXPECT_TRUE(std::isfinite(out.hamiltonian[r]));
    EXPECT_TRUE(out.acceptance[r] >= 0 && out.acceptance[r] <= 1) << out.acceptance[r];
    for (std::size_t i = 0; i < 10; ++i) EXPECT_TRUE(std::isfinite(out.gradient[i * 200 + r]));
  }
  EXPECT_GT(beyond, 20) << "some chains must have met the wall";
  EXPECT_LT(beyond, 180);
}

TEST_P(NutsTransitionKernel, FlagsDivergences) {
  ChainInputs in = spheres(3, 33, 50, 0);
  for (double& x : in.position) x += x < 0 ? -1 : 1;
  const ChainOutputs out = run(queue(), in, 2);
  EXPECT_EQ(out.divergent, std::vector<std::int32_t>(33, 1));
  EXPECT_EQ(out.leapfrogs, std::vector<std::int32_t>(33, 1));
  EXPECT_EQ(out.acceptance, std::vector<double>(33, 0.0));
  EXPECT_EQ(out.accepted, std::vector<std::uint64_t>(33, 0u));
  EXPECT_EQ(out.not_finite, std::vector<std::uint64_t>(33, 0u)) << "large, but finite";
  EXPECT_EQ(bits_of(out.position), bits_of(in.position));
}

TEST_P(NutsTransitionKernel, StaysWithinItsBox) {
  ChainInputs in = spheres(40, 33, 0.2, 0);
  in.tuning[0].max_depth = 4;
  in.bounded = true;
  in.lower = -0.5;
  in.upper = 0.25;
  for (double& x : in.position) x = std::clamp(x, in.lower, in.upper);
  const ChainOutputs expected = run(cpu_queue(), in, 3);
  for (const ChainLayout layout : layouts) {
    in.layout = layout;
    const ChainOutputs out = run(queue(), in, 3);
    for (const double x : out.position) ASSERT_TRUE(x >= in.lower && x <= in.upper) << x;
    expect_close(out, expected, trajectory_tolerance);
  }
}

TEST_P(NutsTransitionKernel, StaysWithinTheIntervalOfEachCoordinate) {
  constexpr std::size_t chains = 33;
  ChainInputs in = spheres(3, chains, 0.2, 0);
  in.tuning[0].max_depth = 4;
  in.bounded = true;
  in.lower = -5;
  in.upper = 4;
  in.box = {-0.5, -5, 3, 0.25, -4, 4};
  for (std::size_t k = 0; k < in.position.size(); ++k) {
    in.position[k] = std::clamp(in.position[k], in.box[k / chains], in.box[3 + k / chains]);
  }
  const ChainOutputs expected = run(cpu_queue(), in, 3), out = run(queue(), in, 3);
  for (std::size_t k = 0; k < out.position.size(); ++k) {
    ASSERT_GE(out.position[k], in.box[k / chains]) << k;
    ASSERT_LE(out.position[k], in.box[3 + k / chains]) << k;
  }
  EXPECT_NE(out.position, in.position);
  expect_close(out, expected, trajectory_tolerance);
}

TEST_P(NutsTransitionKernel, DoesNotNeedStatistics) {
  ChainInputs in = make_chains(EightSchools{}, 33, 1, 0.2, 0);
  const ChainOutputs with = run(queue(), in, 2);
  in.statistics = false;
  const ChainOutputs without = run(queue(), in, 2);
  EXPECT_TRUE(same_state(with, without));
  EXPECT_EQ(without.leapfrogs, std::vector<std::int32_t>(33, 0));
}

TEST_P(NutsTransitionKernel, DoesNothingOnceStopped) {
  ChainInputs in = make_chains(EightSchools{}, 33, 1, 0.2, 0);
  const ChainOutputs untouched = DeviceChains(queue(), in).outputs();
  in.control.stop = DeviceStop::target;
  EXPECT_TRUE(same_state(run(queue(), in), untouched));
  in.control = {};
  in.control.step_limit = 0;
  EXPECT_TRUE(same_state(run(queue(), in), untouched));
  in.control.step_limit = 1;
  EXPECT_FALSE(same_state(run(queue(), in), untouched));
}

}  // namespace
}  // namespace kiln::test::nuts_transition_test
