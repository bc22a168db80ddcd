// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/hmc.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>

#include "kiln/problems/continuous.hpp"
#include "kiln/problems/densities/test_function.hpp"

#include "densities/sampling_fixtures.hpp"
#include "schedule_fixtures.hpp"
#include "schedule_suite.hpp"
#include "shared/chain_mover.hpp"

namespace kiln::test::hmc_test {
namespace {

using test::options;
using test::posterior_of;

struct HmcTraits : test::SweepingTraits {
  static constexpr std::int64_t sweeps = 60;
  static ScheduleEntry entry() { return builtin_registry().schedule("hmc"); }
  static Problem problem() { return posterior_of("eight schools", EightSchools{}, true); }
  static std::vector<test::Texts> variants() {
    return {{},
            {{"sampler", "nuts"}, {"warmup", "50"}, {"draws", "70"}, {"thin", "3"}},
            {{"sampler", "chees"}, {"warmup", "80"}, {"draws", "40"}, {"metric", "dense"}},
            {{"sampler", "static"}, {"leapfrogs", "5"}, {"step_size", "0.2"}, {"warmup", "0"}},
            {{"rungs", "6"}, {"warmup", "70"}, {"draws", "50"}, {"sampler", "chees"}},
            {{"mode", "anneal"}, {"anneal_sweeps", "50"}}};
  }
  static std::vector<test::Refused> refused() {
    return {
        {{{"draws", "0"}}, {"draws: 0 is out of range: -1, or >= 1"}},
        {{{"draws", "-2"}, {"warmup", "-2"}, {"jitter", "2"}, {"max_depth", "13"}},
         {"draws: -2 is out of range", "warmup: -2 is out of range", "jitter: 2 is out of range",
          "max_depth: 13 is out of range"}},
        {{{"sampler", "static"}}, {"sampler=static needs leapfrogs or length"}},
        {{{"leapfrogs", "4"}, {"sampler", "nuts"}}, {"leapfrogs needs sampler=static"}},
        {{{"sampler", "static"}, {"leapfrogs", "4"}, {"length", "2"}},
         {"leapfrogs and length exclude each other"}},
        {{{"mode", "anneal"}, {"rungs", "3"}}, {"rungs needs mode=sample"}},
        {{{"mode", "anneal"}, {"draws", "9"}, {"warmup", "0"}, {"keep", "2"}, {"thin", "2"}},
         {"draws needs mode=sample", "warmup needs mode=sample", "keep needs mode=sample",
          "thin needs mode=sample"}},
        {{{"mode", "sample"}, {"beta_max", "2"}, {"anneal_sweeps", "9"}},
         {"beta_max needs mode=anneal", "anneal_sweeps needs mode=anneal"}},
        {{{"anneal_sweeps", "5"}, {"polish_sweeps", "5"}},
         {"polish_sweeps must be smaller than anneal_sweeps"}},
        {{{"rungs", "3"}, {"parameter_min", "1"}}, {"parameter_min must be less than 1"}},
        {{{"super_chains", "1"}}, {"super_chains must not be 1"}},
        {{{"super_chains", "4"}, {"keep", "6"}}, {"keep must be a multiple of super_chains"}},
        {{{"mode", "anneal"}, {"super_chains", "4"}}, {"super_chains needs mode=sample"}},
        {{{"beta_min", "2"}, {"beta_max", "1"}}, {"beta_min must not be greater than beta_max"}}};
  }
  static std::vector<test::Unsuitable> unsuitable() {
    std::vector<test::Unsuitable> all = SweepingTraits::unsuitable();
    all.push_back({test::sparse_cut(), {"sparse", "does not offer hmc_transition"}});
    return all;
  }
};

// Names of the instances are part of the test names: Hmc/ScheduleSuite.…
INSTANTIATE_TYPED_TEST_SUITE_P(Hmc, ScheduleSuite, HmcTraits);

Problem function_problem(TestFunctionKind kind, int n) {
  TestFunction function;
  function.kind = kind;
  function.n = n;
  return make_problem(make_density_objective(
      "function", std::make_shared<HostDensity<TestFunction>>(function), -5, 5));
}

TEST(Hmc, DrawsDoNotDependOnTheNumberOfThreads) {
  HmcOptions o;
  o.warmup = 60;
  o.draws = 20;
  const Problem problem = posterior_of("eight schools", EightSchools{}, true);
  for (const char* sampler : {"nuts", "chees"}) {
    o.sampler = sampler;
    const Result one = test::sample(problem, o, 200, 7, 1),
                 four = test::sample(problem, o, 200, 7, 4);
    EXPECT_EQ(one.sample->values, four.sample->values) << sampler;
    EXPECT_EQ(one.sample->step_size, four.sample->step_size) << sampler;
    EXPECT_NE(one.sample->values, test::sample(problem, o, 200, 8, 1).sample->values) << sampler;
  }
}

TEST(Hmc, KeepsTheDrawsThatWereAskedFor) {
  HmcOptions o;
  o.sampler = "nuts";
  o.warmup = 30;
  o.draws = 50;
  o.thin = 4;
  o.keep = 3;
  const Result result = test::sample(posterior_of("eight schools", EightSchools{}, true), o, 8);
  const Sample& sample = *result.sample;
  EXPECT_EQ(sample.chains, 3);
  EXPECT_EQ(sample.draws, 13);
  EXPECT_EQ(sample.all_chains, 8);
  EXPECT_EQ(sample.all_draws, 50);
  EXPECT_EQ(sample.warmup, 30);
  ASSERT_EQ(sample.names.size(), 10u);
  EXPECT_EQ(sample.names[9], "x[10]");
  EXPECT_EQ(sample.values.size(), 3u * 13 * 10);
  EXPECT_EQ(sample.log_density.size(), 39u);
  EXPECT_GT(sample.gradients, 8 * 50);
  EXPECT_EQ(result.work.sweeps, 80);
}

TEST(Hmc, ReportsTheQuantitiesOfTheProblem) {
  Problem problem = posterior_of("eight schools", EightSchools{}, true);
  problem.posterior->quantities.names = {"tau"};
  problem.posterior->quantities.compute = [](std::span<const double> x, std::span<double> out) {
    out[0] = std::exp(x[9]);
  };
  HmcOptions o;
  o.warmup = 20;
  o.draws = 10;
  const Result result = test::sample(problem, o, 4);
  ASSERT_EQ(result.sample->values.size(), 40u);
  for (const double tau : result.sample->values) EXPECT_GT(tau, 0);
}

TEST(Hmc, MomentsOfAllChainsAgreeWithTheKeptDraws) {
  HmcOptions o;
  o.warmup = 40;
  o.draws = 31;
  const Result result = test::sample(posterior_of("eight schools", EightSchools{}, true), o, 6);
  const Sample& sample = *result.sample;
  for (std::size_t i = 0; i < 10; ++i) {
    double mean = 0, square = 0, n = 6 * 31;
    for (std::int64_t c = 0; c < 6; ++c) {
      for (std::int64_t k = 0; k < 31; ++k) mean += sample.value(c, k, i) / n;
    }
    for (std::int64_t c = 0; c < 6; ++c) {
      for (std::int64_t k = 0; k < 31; ++k) square += std::pow(sample.value(c, k, i) - mean, 2);
    }
    EXPECT_NEAR(sample.coordinate_mean[i], mean, 1e-12);
    EXPECT_NEAR(sample.coordinate_variance[i], square / (n - 1), 1e-11);
  }
}

// A density that is zero on a half space, where half of the random starts lie.
struct HalfNormal {
  static constexpr int fixed_dimension = 0;
  double from = 0;
  int dimension() const { return 2; }
  int workspace() const { return 0; }
  template <Want want, class Team>
  EnergyParts evaluate(const Team&, const DensityPoint& at) const {
    const bool inside = at.x[0] > from;
    if constexpr (wants_gradient(want)) {
      at.gradient[0] = at.x[0] * at.weights.term;
      at.gradient[1] = at.x[1] * at.weights.term;
    }
    return {0, inside ? 0.5 * (at.x[0] * at.x[0] + at.x[1] * at.x[1])
                      : std::numeric_limits<double>::quiet_NaN()};
  }
};

TEST(Hmc, BeginsInsideTheSupport) {
  HmcOptions o;
  o.warmup = 100;
  o.draws = 50;
  const Result result = test::sample(posterior_of("half", HalfNormal{}, false), o, 20);
  for (std::int64_t c = 0; c < 20; ++c) {
    for (std::int64_t k = 0; k < 50; ++k) EXPECT_GT(result.sample->value(c, k, 0), 0);
  }
  EXPECT_GT(result.work.not_finite, 0u);
}

TEST(Hmc, RefusesADensityWithoutAnyFiniteStart) {
  try {
    test::sample(posterior_of("nowhere", HalfNormal{10}, false), {}, 20);
    FAIL() << "began outside the support";
  } catch (const ObjectiveError& error) {
    EXPECT_NE(
        error.message().find("none of 20 initial states of objective 'nowhere' has a finite value"),
        std::string::npos)
        << error.message();
  }
}

Result anneal(const Problem& problem, const HmcOptions& o, std::int64_t chains,
              std::int64_t sweeps) {
  Hmc schedule(o);
  RunOptions run;
  run.device = "cpu";
  run.replicas = chains;
  Budget budget;
  budget.sweeps = sweeps;
  return Engine(run).run(problem, schedule, budget);
}

// Polishing ends at the bottom to rounding, where an anneal alone ends as high as its temperature.
TEST(Hmc, AnnealsToTheBottom) {
  HmcOptions o;
  const Problem valley = function_problem(TestFunctionKind::rosenbrock, 6);
  const Result polished = anneal(valley, o, 32, 200);
  EXPECT_LT(polished.energy, 1e-16);
  EXPECT_EQ(polished.work.not_finite, 0) << "chains that are polished rest meanwhile";
  o.polish_sweeps = 0;
  EXPECT_GT(anneal(valley, o, 32, 200).energy, 1e-12);
}

// A regression on raw scales from starts within 2 of 0. At sigma = e^-2 the density is far steeper
// than where the draws are: one step size for all chains would leave some where they began.
TEST(Hmc, ChainsFarOutComeHome) {
  std::vector<double> hs, iq, score;
  for (int r = 0; r < 60; ++r) {
    hs.push_back(100 + 15 * std::sin(1.7 * r));
    iq.push_back(40 + 3 * std::cos(0.3 * r));
    score.push_back(5 + 0.6 * hs.back() - 2 * iq.back() + 4 * std::sin(11.0 * r + 1));
  }
  ModelData data("far out");
  data.add({"N", {}, {60}});
  data.add({"kid_score", {60}, score});
  data.add({"mom_hs", {60}, hs});
  data.add({"mom_iq", {60}, iq});
  HmcOptions o;
  o.warmup = 400;
  o.draws = 400;
  const Result result =
      test::sample(problems::posterior_by_name("kidscore-momhsiq", &data), o, 256);
  EXPECT_LT(result.sample_summary->worst_r_hat()->r_hat, 1.02);
  EXPECT_EQ(result.sample->divergences, 0);
}

// E-BFMI is about one transition. Kept draws that are far apart look like independent ones.
TEST(Hmc, EnergiesAreFollowedBetweenKeptDraws) {
  HmcOptions o;
  o.sampler = "nuts";
  o.warmup = 200;
  o.draws = 1000;
  const Problem problem = problems::posterior_by_name("eight-schools-centered");
  o.thin = 1;
  const Result all = test::sample(problem, o, 4);
  o.thin = 10;
  const Result thinned = test::sample(problem, o, 4);
  EXPECT_EQ(thinned.sample->draws, 100);
  EXPECT_EQ(thinned.sample_summary->e_bfmi, all.sample_summary->e_bfmi);
  EXPECT_EQ(thinned.sample_summary->e_bfmi_min, all.sample_summary->e_bfmi_min);
  // The same of the kept draws alone, once all of them and once one in ten.
  Sample kept = *all.sample;
  kept.hamiltonian_steps.clear();
  EXPECT_NEAR(summarize(kept).e_bfmi, all.sample_summary->e_bfmi, 1e-9);
  kept = *thinned.sample;
  kept.hamiltonian_steps.clear();
  kept.thin = 1;
  EXPECT_GT(summarize(kept).e_bfmi, 1.5 * all.sample_summary->e_bfmi) << "a test that sees nothing";
}

// A chain that goes on from where another one is has that one's energy in the same tick: the best
// states are verified by their energies.
TEST(Hmc, RelocatedChainsHaveTheEnergiesOfTheirStates) {
  HmcOptions o;
  o.sampler = "chees";
  o.warmup = 200;
  o.draws = 10;
  o.super_chains = 0;
  const Problem problem = problems::posterior_by_name("eight-schools-centered");
  double relocated = 0;
  for (const std::uint64_t seed : {12, 20}) {
    Hmc schedule(o);
    RunOptions run;
    run.device = "cpu";
    run.replicas = 256;
    run.seed = seed;
    run.top = 100000;
    const Result result = Engine(run).run(problem, schedule);
    EXPECT_TRUE(result.verified) << seed;
    relocated += result.diagnostics.at("relocated_chains");
  }
  EXPECT_GT(relocated, 0) << "a test that sees nothing";
}

// Steps so short that every chain stays where it began, which nested R-hat must find out.
TEST(Hmc, ChainsOfASuperChainBeginInOneState) {
  for (const std::int64_t rungs : {1, 3}) {
    HmcOptions o;
    o.sampler = "static";
    o.leapfrogs = 1;
    o.step_size = 1e-9;
    o.warmup = 0;
    o.draws = 2;
    o.super_chains = 4;
    o.rungs = rungs;
    o.parameter_min = 0.5;
    const Result result =
        test::sample(posterior_of("eight schools", EightSchools{}, true), o, 12 * rungs);
    const Sample& sample = *result.sample;
    EXPECT_EQ(sample.super_chains, 4);
    if (rungs > 1) continue;  // replicas of a ladder change places
    for (std::int64_t c = 0; c < 12; ++c) {
      EXPECT_NEAR(sample.value(c, 0, 0), sample.value(c % 4, 0, 0), 1e-6);
      const double apart = std::abs(sample.value(c, 0, 0) - sample.value(0, 0, 0));
      EXPECT_EQ(apart > 1e-4, c % 4 > 0) << "chain " << c;
    }
    EXPECT_GT(result.sample_summary->worst_nested_r_hat()->nested_r_hat, 100);
  }
}

// With M chains of E effective draws each, nested R-hat is about sqrt(1 + 1 / (M E)): below 1.004
// for 16 chains of 8. Of 16 super-chains the variance of their means is uncertain to a third.
TEST(Hmc, ManyShortChainsAreJudgedByNestedRHat) {
  HmcOptions o;
  o.warmup = 150;
  o.draws = 20;
  const Problem problem = posterior_of("eight schools", EightSchools{}, true);
  const Result result = test::sample(problem, o, 256);
  EXPECT_EQ(result.parameters.at("super_chains"), "16");
  EXPECT_EQ(result.sample->super_chains, 16);
  const SampleSummary& summary = *result.sample_summary;
  EXPECT_LT(summary.worst_nested_r_hat()->nested_r_hat, 1.03);
  EXPECT_GT(summary.worst_r_hat()->r_hat, r_hat_limit) << "20 draws are too few for R-hat";

  EXPECT_EQ(test::sample(problem, o, 128).sample->super_chains, 0);
}

TEST(Hmc, RefusesSuperChainsOfUnequalSize) {
  HmcOptions o;
  o.super_chains = 5;
  try {
    test::sample(posterior_of("eight schools", EightSchools{}, true), o, 12);
    FAIL() << "12 chains became 5 groups";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.code(), "hmc.super_chains");
    EXPECT_EQ(error.message(), "12 chains cannot be divided into 5 super-chains of equal size");
    EXPECT_EQ(error.fix(), "--chains 15");
  }
}

TEST(Hmc, AnnealsFunctionsToTheirMinimum) {
  HmcOptions o;
  Hmc schedule(o);
  RunOptions run = options(64);
  const Result sphere =
      Engine(run).run(function_problem(TestFunctionKind::sphere, 10), schedule, {.sweeps = 400});
  EXPECT_EQ(sphere.parameters.at("mode"), "anneal");
  EXPECT_LT(sphere.objective, 1e-3);
  Hmc again(o);
  const Result rosenbrock =
      Engine(run).run(function_problem(TestFunctionKind::rosenbrock, 4), again, {.sweeps = 1000});
  EXPECT_LT(rosenbrock.objective, 0.1);
}

using Bounds = std::vector<std::uint32_t>;

TEST(MetricWindows, DoubleWithinTheWarmup) {
  const auto windows = [](std::int64_t warmup) { return hmc::metric_windows(warmup, false); };
  EXPECT_EQ(windows(1000), (Bounds{10, 25, 50, 100, 200, 400, 950}));
  EXPECT_EQ(windows(300), (Bounds{10, 25, 50, 100, 270}));
  EXPECT_EQ(windows(100), (Bounds{10, 25, 88}));
  EXPECT_EQ(windows(32), (Bounds{10, 20}));
  EXPECT_TRUE(windows(31).empty());
  EXPECT_TRUE(windows(0).empty());
}

TEST(MetricWindows, LeaveALengthTimeToBeLearnt) {
  const auto windows = [](std::int64_t warmup) { return hmc::metric_windows(warmup, true); };
  EXPECT_EQ(windows(1000), (Bounds{10, 25, 50, 100, 200, 400, 850}));
  EXPECT_EQ(windows(300), (Bounds{10, 25, 50, 150}));
  EXPECT_EQ(windows(200), (Bounds{10, 25, 50, 100}));
  EXPECT_EQ(windows(40), (Bounds{10, 20}));
  EXPECT_EQ(windows(39), (Bounds{10, 20}));
  EXPECT_TRUE(windows(38).empty());
  for (const std::int64_t warmup : {50, 137, 250, 301, 999, 5000}) {
    EXPECT_GE(warmup - windows(warmup).back(), std::min<std::int64_t>(150, warmup / 2)) << warmup;
  }
}

}  // namespace
}  // namespace kiln::test::hmc_test
