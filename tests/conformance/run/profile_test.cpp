// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The profile on every backend: which ticks it measures, that they add up, and that a run with it
// has the bits of a run without.
#include "kiln/profile.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "kiln/problems/generators.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/run.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "backends/backends.hpp"

namespace kiln::test::profile_conformance_test {
namespace {

class ProfiledRun : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ProfiledRun);

constexpr std::int64_t sweeps = 8000, ticks = 1000;

struct Outcome {
  Result result;
  std::vector<double> energies, best;
};

Outcome run(Device device, const Problem& problem, bool profile, Executor executor) {
  RunOptions options;
  options.device = to_string(device);
  options.replicas = 2048;
  options.profile = profile;
  options.executor = executor;
  SimulatedAnnealing schedule;
  kiln::Run one(problem, schedule, {.sweeps = sweeps}, options, open_backend(options.device));
  Outcome outcome{one.advance(), {}, {}};
  outcome.energies = one.batch().read_energies(false);
  outcome.best = one.batch().read_energies(true);
  return outcome;
}

Problem problem() { return make_maxcut(problems::torus_pm1(20, 20, 1), "torus"); }

// Of 1000 ticks that are replayed those of the numbers 2, 67, ... 977 are measured.
TEST_P(ProfiledRun, MeasuresATickOfSixtyFive) {
  const Outcome outcome = run(GetParam(), problem(), true, Executor::automatic);
  const Profile& profile = *outcome.result.profile;
  ASSERT_EQ(outcome.result.work.ticks, ticks);
  EXPECT_EQ(profile.of_ticks, ticks);
  if (outcome.result.executor.executor == Executor::stream) {
    EXPECT_EQ(profile.ticks, ticks);
    EXPECT_EQ(profile.replayed_ticks, 0);
    return;
  }
  EXPECT_EQ(profile.ticks, 16);
  EXPECT_EQ(profile.replayed_ticks, ticks - 16);
  EXPECT_GT(profile.replayed_s, 0);
  EXPECT_LT(profile.replayed_s, outcome.result.time.run_s);
}

TEST_P(ProfiledRun, AddsUp) {
  for (const Executor executor : {Executor::automatic, Executor::stream}) {
    const Outcome outcome = run(GetParam(), problem(), true, executor);
    const Profile& profile = *outcome.result.profile;
    double time_s = 0;
    for (const KernelTime& kernel : profile.kernels) {
      EXPECT_EQ(kernel.launches, profile.ticks) << kernel.name;
      EXPECT_GT(kernel.time_s, 0) << kernel.name;
      time_s += kernel.time_s;
    }
    EXPECT_NEAR(time_s + profile.gaps_s, profile.device_s, 1e-9 * profile.device_s);
    EXPECT_EQ(profile.kernels.front().name, "metropolis_sweep");
    EXPECT_TRUE(profile.kernels.front().floor_s);
  }
}

TEST_P(ProfiledRun, HasTheBitsOfARunWithout) {
  for (const Executor executor : {Executor::automatic, Executor::stream}) {
    const Outcome with = run(GetParam(), problem(), true, executor);
    const Outcome without = run(GetParam(), problem(), false, executor);
    EXPECT_EQ(with.energies, without.energies);
    EXPECT_EQ(with.best, without.best);
    EXPECT_EQ(with.result.solution, without.result.solution);
    EXPECT_EQ(with.result.work.accepted, without.result.work.accepted);
    EXPECT_FALSE(without.result.profile);
  }
}

}  // namespace
}  // namespace kiln::test::profile_conformance_test
