// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/hmc_transition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kiln/device/normal.hpp"

#include "backends/backends.hpp"
#include "backends/tolerances.hpp"
#include "densities/chains_cases.hpp"

namespace kiln::test::hmc_transition_test {
namespace {

ChainOutputs run(Queue& queue, const ChainInputs& in, int transitions = 1) {
  return run_chains<HmcTransition>(queue, in, transitions);
}

class HmcTransitionKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(HmcTransitionKernel);

TEST_P(HmcTransitionKernel, MatchesCpuForEverySizeAndLayout) {
  for (const std::int64_t replicas : {0, 1, 31, 32, 33}) {
    for (auto& [name, in] : potentials_to_compare(replicas, 20)) {
      const ChainOutputs expected = run(cpu_queue(), in);
      for (const ChainLayout layout : all_layouts) {
        SCOPED_TRACE(name + ", " + std::to_string(replicas) + ", " + to_string(layout));
        in.layout = layout;
        expect_close(run(queue(), in), expected, trajectory_tolerance);
      }
    }
  }
}

TEST_P(HmcTransitionKernel, MatchesCpuOnEveryRung) {
  for (auto& [name, in] : potentials_to_compare(33, 3)) {
    temper(in);
    const ChainOutputs expected = run(cpu_queue(), in, 3);
    for (const ChainLayout layout : all_layouts) {
      SCOPED_TRACE(name + ", " + to_string(layout));
      in.layout = layout;
      expect_close(run(queue(), in, 3), expected, trajectory_tolerance);
    }
  }
}

TEST_P(HmcTransitionKernel, RepeatsItsBits) {
  for (auto& [name, in] : potentials_to_compare(33, 10)) {
    for (const ChainLayout layout : all_layouts) {
      SCOPED_TRACE(name + ", " + to_string(layout));
      in.layout = layout;
      EXPECT_TRUE(same_state(run(queue(), in, 3), run(queue(), in, 3)));
    }
  }
}

// For U = x^2 leapfrogs have a closed form: they turn (x omega eta, p) by theta each, with
// cos theta = 1 - a^2 / 2, eta^2 = 1 - a^2 / 4, a = eps omega, omega^2 = 2. The first momentum is a
// named draw.
TEST_P(HmcTransitionKernel, GoesRoundAnOscillatorAsTheoryHasIt) {
  constexpr int d = 3, n = 33, leapfrogs = 1000;
  ChainInputs in = spheres(d, n, 0.1, leapfrogs);
  in.tuning[0].jitter = 0;
  const double omega = std::sqrt(2.0), a = 0.1 * omega, eta = std::sqrt(1 - 0.25 * a * a);
  const double angle = leapfrogs * std::acos(1 - 0.5 * a * a);
  const HostNames names = make_names(64, 1, in.seed);
  for (const ChainLayout layout : all_layouts) {
    SCOPED_TRACE(to_string(layout));
    in.layout = layout;
    const ChainOutputs out = run(queue(), in);
    for (std::size_t r = 0; r < n; ++r) {
      const DrawName name{names.key[r], 0, names.replica[r], RngDomain::momentum, 0};
      for (std::size_t i = 0; i < d; ++i) {
        const double x = in.position[i * n + r];
        const double p = standard_normal(name, static_cast<std::uint32_t>(i));
        const double x_end = x * std::cos(angle) + p / (omega * eta) * std::sin(angle);
        const double p_end = p * std::cos(angle) - x * omega * eta * std::sin(angle);
        EXPECT_NEAR(out.proposal[i * n + r], x_end, 1e-11);
        EXPECT_NEAR(out.velocity[i * n + r], p_end, 1e-11);
      }
    }
  }
}

// What a chain draws and how its sums are added does not depend on how many others there are.
TEST_P(HmcTransitionKernel, MovesAChainAsIfItWereAlone) {
  for (const ChainLayout layout : all_layouts) {
    SCOPED_TRACE(to_string(layout));
    ChainInputs many = spheres(1, 2000, 0.4, 5), few = many;
    many.layout = few.layout = layout;
    few.replicas = 3;
    few.position.resize(3);
    const ChainOutputs all = run(queue(), many, 4), some = run(queue(), few, 4);
    EXPECT_EQ(bits_of({all.position.begin(), all.position.begin() + 3}), bits_of(some.position));
  }
}

TEST_P(HmcTransitionKernel, LeavesPartsAndTheWeightedGradient) {
  ChainInputs in = make_chains(EightSchools{}, 32, 1, 0.2, 4);
  temper(in);
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

// x = y / 2 at beta 4 with a metric of scale 1/2 is y at beta 1: multiplication by powers of two.
TEST_P(HmcTransitionKernel, ScalesThePotentialByBeta) {
  const ChainInputs plain = spheres(5, 32, 0.3, 7);
  ChainInputs cold = plain;
  cold.beta = {4};
  cold.metric = diagonal_metric(std::vector<double>(5, 0.5));
  for (double& x : cold.position) x /= 2;
  std::vector<double> doubled = run(queue(), cold, 3).position;
  for (double& x : doubled) x *= 2;
  EXPECT_EQ(bits_of(doubled), bits_of(run(queue(), plain, 3).position));
}

TEST_P(HmcTransitionKernel, MakesTheGradientAnewForOtherWeights) {
  const ChainInputs in = make_chains(EightSchools{}, 33, 1, 0.2, 4);
  DeviceChains chains(queue(), in), fresh(queue(), in);
  chains.transition<HmcTransition>();
  fresh.transition<HmcTransition>();
  for (DeviceChains* c : {&chains, &fresh}) c->set_beta({0.25});
  fresh.forget_gradients();
  chains.transition<HmcTransition>();
  fresh.transition<HmcTransition>();
  const ChainOutputs out = chains.outputs();
  EXPECT_TRUE(same_state(out, fresh.outputs()));
  EXPECT_EQ(out.base_weight, std::vector<double>(33, 0.25));
}

TEST_P(HmcTransitionKernel, IsTheSameByEveryMetricOfTheSameMatrix) {
  for (const ChainLayout layout : all_layouts) {
    SCOPED_TRACE(to_string(layout));
    ChainInputs in = spheres(6, 33, 0.2, 6);
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

TEST_P(HmcTransitionKernel, MatchesCpuForMetricsWithDirections) {
  for (const MetricKind kind : {MetricKind::dense, MetricKind::low_rank}) {
    ChainInputs in = make_chains(EightSchools{}, 33, 1, 0.1, 20);
    in.metric = powers_of_two(kind, 10);
    if (kind == MetricKind::dense) {
      for (std::size_t i = 1; i < 10; ++i) in.metric.factor[i * 10 + i - 1] = 0.3;
    } else {
      for (const std::size_t i : {1, 12}) in.metric.factor[i] = 0.6, in.metric.factor[i + 6] = 0.8;
    }
    const ChainOutputs expected = run(cpu_queue(), in);
    for (const ChainLayout layout : all_layouts) {
      SCOPED_TRACE(to_string(layout));
      in.layout = layout;
      expect_close(run(queue(), in), expected, trajectory_tolerance);
    }
  }
}

// Rung numbers go on from ladder to ladder; tuning and metric are those of the place in the ladder.
TEST_P(HmcTransitionKernel, TakesTuningAndMetricOfThePool) {
  ChainInputs in = spheres(2, 4, 0.2, 3);
  in.beta = {1, 1, 1, 1};
  in.rung_of = {0, 1, 2, 3};
  in.tuning.push_back(in.tuning[0]);
  in.tuning[1].leapfrogs = 6;
  in.metric = diagonal_metric({1, 1, 0.5, 2});
  const ChainOutputs all = run(queue(), in);
  for (const std::int32_t pool : {0, 1}) {
    ChainInputs alone = in;
    alone.tuning = {in.tuning[idx(pool)]};
    alone.metric = diagonal_metric(pool == 0 ? std::vector{1.0, 1.0} : std::vector{0.5, 2.0});
    const ChainOutputs one = run(queue(), alone);
    for (std::size_t r = 0; r < 4; ++r) {
      const bool same = r % 2 == idx(pool);
      EXPECT_EQ(all.proposal[r] == one.proposal[r], same);
      EXPECT_EQ(all.proposal[4 + r] == one.proposal[4 + r], same);
      EXPECT_EQ(all.leapfrogs[r] == one.leapfrogs[r], same);
    }
  }
}

TEST_P(HmcTransitionKernel, UsesTheDirectionsThatAreInUse) {
  ChainInputs in = spheres(6, 33, 0.2, 6);
  in.metric = powers_of_two(MetricKind::low_rank, 6);
  in.metric.used = {0};
  const ChainOutputs none = run(queue(), in);
  in.metric = diagonal_metric(in.metric.scale);
  EXPECT_TRUE(same_state(none, run(queue(), in)));
}

TEST_P(HmcTransitionKernel, StaysWithoutStepsAndWithStepsOfNoLength) {
  for (const auto& [eps, leapfrogs] : {std::pair{0.3, 0}, std::pair{0.0, 9}}) {
    const ChainInputs in = make_chains(EightSchools{}, 33, 1, eps, leapfrogs);
    const ChainOutputs out = run(queue(), in, 2);
    EXPECT_EQ(bits_of(out.position), bits_of(in.position));
    EXPECT_EQ(out.acceptance, std::vector<double>(33, 1.0));
    EXPECT_EQ(out.leapfrogs, std::vector<std::int32_t>(33, leapfrogs));
    EXPECT_EQ(out.divergent, std::vector<std::int32_t>(33, 0));
  }
}

TEST_P(HmcTransitionKernel, RejectsAndCountsWhatIsNotFinite) {
  ChainInputs in = half_line(200);
  in.tuning[0].leapfrogs = 1;  // more would bring most chains back
  const ChainOutputs out = run(queue(), in);
  int beyond = 0;
  for (std::size_t r = 0; r < 200; ++r) {
    const bool finite = out.not_finite[r] == 0;
    beyond += finite ? 0 : 1;
    EXPECT_EQ(out.divergent[r], finite ? 0 : 1);
    if (finite) continue;
    EXPECT_EQ(out.not_finite[r], 1u);
    EXPECT_EQ(out.accepted[r], 0u);
    EXPECT_EQ(out.acceptance[r], 0.0);
    EXPECT_TRUE(std::isfinite(out.hamiltonian[r])) << "that of the state it stays in";
    for (std::size_t i = 0; i < 10; ++i) {
      EXPECT_EQ(out.position[i * 200 + r], in.position[i * 200 + r]);
      EXPECT_TRUE(std::isfinite(out.gradient[i * 200 + r]));
    }
  }
  EXPECT_GT(beyond, 20) << "some chains must have met the wall";
  EXPECT_LT(beyond, 180);
  for (std::size_t r = 0; r < 200; ++r) EXPECT_LT(out.position[9 * 200 + r], 356.5004);
}

TEST_P(HmcTransitionKernel, FlagsDivergences) {
  const ChainInputs in = spheres(3, 33, 5, 20);
  const ChainOutputs out = run(queue(), in, 2);
  EXPECT_EQ(out.divergent, std::vector<std::int32_t>(33, 1));
  EXPECT_EQ(out.accepted, std::vector<std::uint64_t>(33, 0u));
  EXPECT_EQ(out.not_finite, std::vector<std::uint64_t>(33, 0u)) << "large, but finite";
  EXPECT_EQ(bits_of(out.position), bits_of(in.position));
  const ChainOutputs far = run(queue(), spheres(3, 33, 1e200, 20), 2);
  EXPECT_EQ(far.not_finite, std::vector<std::uint64_t>(33, 2u));
}

// Walls at 0 for a potential that is even: the reflected chain is the free one without its signs.
TEST_P(HmcTransitionKernel, ReflectsAtWalls) {
  ChainInputs free = spheres(4, 64, 0.3, 9), walled = free;
  for (double& x : free.position) x = std::abs(x);
  walled.position = free.position;
  walled.bounded = true;
  walled.lower = 0;
  walled.upper = std::numeric_limits<double>::infinity();
  const ChainOutputs plain = run(queue(), free), out = run(queue(), walled);
  std::vector<double> folded = plain.position;
  for (double& x : folded) x = std::abs(x);
  EXPECT_EQ(bits_of(out.position), bits_of(folded));
  EXPECT_NE(folded, plain.position) << "no chain came to a wall";
  EXPECT_EQ(bits_of(out.acceptance), bits_of(plain.acceptance));
}

// The same with a wall below, above or nowhere, as each coordinate has it.
TEST_P(HmcTransitionKernel, ReflectsEachCoordinateAtItsOwnWalls) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr std::size_t chains = 64;
  ChainInputs free = spheres(4, chains, 0.3, 9);
  const auto folded = [&](std::vector<double> x) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      const std::size_t i = k / chains;
      if (i != 2) x[k] = i == 1 ? -std::abs(x[k]) : std::abs(x[k]);
    }
    return x;
  };
  free.position = folded(free.position);
  ChainInputs walled = free;
  walled.bounded = true;
  walled.lower = -inf;
  walled.upper = inf;
  walled.box = {0, -inf, -inf, 0, inf, 0, inf, inf};
  const ChainOutputs plain = run(queue(), free), out = run(queue(), walled);
  EXPECT_EQ(bits_of(out.position), bits_of(folded(plain.position)));
  EXPECT_NE(folded(plain.position), plain.position) << "no chain came to a wall";
  EXPECT_EQ(bits_of(out.acceptance), bits_of(plain.acceptance));
}

TEST_P(HmcTransitionKernel, StaysWithinItsBox) {
  ChainInputs in = spheres(40, 33, 0.7, 10);
  in.bounded = true;
  in.lower = -0.5;
  in.upper = 0.25;
  for (double& x : in.position) x = std::clamp(x, in.lower, in.upper);
  const ChainOutputs expected = run(cpu_queue(), in, 5);
  for (const ChainLayout layout : all_layouts) {
    in.layout = layout;
    const ChainOutputs out = run(queue(), in, 5);
    for (const double x : out.position) ASSERT_TRUE(x >= in.lower && x <= in.upper) << x;
    expect_close(out, expected, trajectory_tolerance);
  }
}

TEST_P(HmcTransitionKernel, TellsTheEndOfTheTrajectory) {
  ChainInputs in = spheres(3, 32, 0.4, 5);
  in.metric = diagonal_metric({0.5, 1, 2});
  const ChainOutputs out = run(queue(), in);
  int moved = 0;
  for (std::size_t r = 0; r < 32; ++r) {
    double h = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const double x = out.proposal[i * 32 + r];
      const double z = out.velocity[i * 32 + r] / in.metric.scale[i];
      h += x * x + 0.5 * z * z;
    }
    const bool accepted = out.accepted[r] == 1;
    moved += accepted ? 1 : 0;
    EXPECT_EQ(out.position[r] == out.proposal[r], accepted);
    if (accepted) {
      EXPECT_NEAR(out.hamiltonian[r], h, 1e-12 * (1 + h));
    }
  }
  EXPECT_GT(moved, 16);
  EXPECT_EQ(bits_of(out.start), bits_of(in.position));
  in.tuning[0].report_ends = 0;
  EXPECT_EQ(run(queue(), in).proposal, std::vector<double>(96, 0.0)) << "only where it is wanted";
}

TEST_P(HmcTransitionKernel, DoesNotNeedStatistics) {
  ChainInputs in = make_chains(EightSchools{}, 33, 1, 0.2, 4);
  const ChainOutputs with = run(queue(), in, 2);
  in.statistics = false;
  const ChainOutputs without = run(queue(), in, 2);
  EXPECT_TRUE(same_state(with, without));
  EXPECT_EQ(without.leapfrogs, std::vector<std::int32_t>(33, 0));
}

TEST_P(HmcTransitionKernel, DoesNothingOnceStopped) {
  ChainInputs in = make_chains(EightSchools{}, 33, 1, 0.2, 4);
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
}  // namespace kiln::test::hmc_transition_test
