// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/nuts_transition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "densities/chains_cases.hpp"

// As HmcTransition.
KILN_CONFORMANCE_CASE(NutsTransition, drawn)

namespace kiln::test::nuts_transition_test {
namespace {

ChainOutputs run(Queue& queue, const ChainInputs& in, int transitions = 1) {
  return run_chains<NutsTransition>(queue, in, transitions);
}

class NutsTransitionKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(NutsTransitionKernel);

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

}  // namespace
}  // namespace kiln::test::nuts_transition_test
