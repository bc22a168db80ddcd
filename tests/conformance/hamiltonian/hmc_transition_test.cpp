// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/hmc_transition.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "kiln/device/normal.hpp"

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "densities/chains_cases.hpp"

// Named draws and exact decisions; gradients as in DensityEnergy, whose rounding a trajectory
// amplifies.
KILN_CONFORMANCE_CASE(HmcTransition, drawn)

namespace kiln::test::hmc_transition_test {
namespace {

ChainOutputs run(Queue& queue, const ChainInputs& in, int transitions = 1) {
  return run_chains<HmcTransition>(queue, in, transitions);
}

class HmcTransitionKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(HmcTransitionKernel);

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

}  // namespace
}  // namespace kiln::test::hmc_transition_test
