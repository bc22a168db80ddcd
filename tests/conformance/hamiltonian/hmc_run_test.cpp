// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A whole run of the schedule hmc gives the same draws on every backend: starts, descent, warm-up
// with changes of the metric, relocation, exchange, records. Gradients are made in the arithmetic
// of the device (class S6), so that paths part slowly: 60 transitions of a few leapfrogs each agree
// to 1e-6, and every decision is the same. Threads change nothing at all.
#include <gtest/gtest.h>

#include <cmath>

#include "kiln/problems/continuous.hpp"
#include "kiln/schedules/hmc.hpp"

#include "backends/backends.hpp"
#include "densities/chains.hpp"
#include "densities/sampling_fixtures.hpp"

namespace kiln::test::hmc_run_test {
namespace {

constexpr double run_tolerance = 1e-6;

struct Case {
  const char* name;
  HmcOptions options;
  std::int64_t chains;
};

std::vector<Case> cases() {
  HmcOptions nuts;
  nuts.sampler = "nuts";
  nuts.warmup = 40;
  nuts.draws = 20;
  nuts.max_depth = 4;
  HmcOptions chees = nuts;
  chees.sampler = "chees";
  chees.max_leapfrogs = 8;
  HmcOptions fixed = nuts;
  fixed.sampler = "static";
  fixed.leapfrogs = 4;
  fixed.metric = "diagonal";
  HmcOptions tempered = chees;
  tempered.rungs = 4;
  return {{"nuts", nuts, 33},
          {"chees", chees, 256},
          {"static", fixed, 64},
          {"tempered", tempered, 4 * 16}};
}

Result run_on(Device device, const Case& one, int threads, std::uint64_t seed) {
  const Problem problem = problems::posterior_by_name("eight-schools");
  Hmc schedule(one.options);
  RunOptions run;
  run.device = to_string(device);
  run.threads = threads;
  run.replicas = one.chains;
  run.seed = seed;
  return Engine(run).run(problem, schedule);
}

class HmcRun : public DeviceTest {};
KILN_ON_EVERY_BACKEND(HmcRun);

TEST_P(HmcRun, GivesTheSameDrawsEverywhere) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    const Result here = run_on(GetParam(), one, 1, 5), there = run_on(Device::cpu, one, 2, 5);
    const Sample &a = *here.sample, &b = *there.sample;
    const double tolerance = GetParam() == Device::cpu ? 0 : run_tolerance;
    EXPECT_EQ(a.leapfrogs, b.leapfrogs);
    EXPECT_EQ(a.depth, b.depth);
    EXPECT_EQ(a.divergent, b.divergent);
    EXPECT_EQ(here.work.accepted, there.work.accepted);
    EXPECT_EQ(here.work.not_finite, there.work.not_finite);
    EXPECT_EQ(a.gradients, b.gradients);
    EXPECT_EQ(a.warmup_gradients, b.warmup_gradients);
    expect_near("values", a.values, b.values, tolerance);
    expect_near("log density", a.log_density, b.log_density, tolerance);
    expect_near("hamiltonian", a.hamiltonian, b.hamiltonian, tolerance);
    expect_near("acceptance", a.acceptance, b.acceptance, tolerance);
    expect_near("means", a.coordinate_mean, b.coordinate_mean, tolerance);
    expect_near("variances", a.coordinate_variance, b.coordinate_variance, tolerance);
    for (const char* what : {"step_size", "relocated_chains", "divergences"}) {
      expect_near(what, {here.diagnostics.at(what)}, {there.diagnostics.at(what)}, tolerance);
    }
    EXPECT_TRUE(here.verified);

    // What another stream of random numbers gives is nowhere near.
    const Result other = run_on(Device::cpu, one, 2, 6);
    EXPECT_GT(std::abs(other.sample->coordinate_mean[0] - b.coordinate_mean[0]),
              100 * run_tolerance);
  }
}

}  // namespace
}  // namespace kiln::test::hmc_run_test
