// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/parallel_tempering.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "kiln/objectives/ladder_end.hpp"
#include "kiln/plan.hpp"
#include "kiln/problems/generators.hpp"

#include "backends/cpu_queue.hpp"
#include "models/models.hpp"
#include "models/models_sweep.hpp"
#include "models/small_models.hpp"
#include "schedule_fixtures.hpp"
#include "schedule_suite.hpp"
#include "tempering_fixtures.hpp"

namespace kiln::test::parallel_tempering_test {
namespace {

using test::complaint;
using test::ladder;
using test::options;
using test::random_graph;
using test::sparse_cut;
using test::tempered;

struct TemperingTraits : test::SweepingTraits {
  static constexpr std::int64_t sweeps = 48;
  static ScheduleEntry entry() { return builtin_registry().schedule("parallel-tempering"); }
  static Problem problem() { return sparse_cut(); }
  static std::vector<test::Texts> variants() {
    return {{},
            {{"ladder", "geometric"}, {"beta_min", "0.1"}, {"beta_max", "5"}, {"rungs", "8"}},
            {{"ladder", "list"}, {"betas", "0.1,0.5,1,2"}, {"sweeps_per_swap", "3"}},
            {{"ladder", "linear"}, {"burn_in", "0"}, {"rungs", "3"}, {"pairs", "all_pairs"}},
            {{"pairs", "random_adjacent"}, {"cadence", "adaptive"}, {"swap_window", "2"}},
            {{"pairs", "sequential"}, {"cadence", "stochastic"}, {"swap_probability", "0.5"}},
            {{"rungs", "1"}, {"cluster_moves", "off"}},
            {{"rungs", "6"}, {"cluster_moves", "on"}, {"cluster_interval", "1"}},
            {{"rungs", "48"}, {"adaptation_rounds", "3"}, {"sweeps_per_swap", "2"}},
            {{"rungs", "6"}, {"cluster_moves", "on"}, {"exchange", "state"}}};
  }
  static std::vector<test::Refused> refused() {
    return {{{{"beta_min", "-1"}, {"rungs", "2000"}, {"swap_gain", "0.5"}, {"pairs", "most"}},
             {"beta_min: -1 is out of range", "rungs: 2000 is out of range",
              "swap_gain: 0.5 is out of range", "pairs: 'most' is not one of"}},
            {{{"beta_min", "2"}, {"beta_max", "1"}, {"ladder", "list"}},
             {"beta_min must not be greater than beta_max", "ladder=list needs betas"}},
            {{{"betas", "1,1"}, {"interval_min", "9"}, {"interval_max", "3"}},
             {"betas need ladder=list", "betas must increase strictly",
              "interval_min must not be greater than interval_max"}},
            {{{"ladder", "list"}, {"betas", "1,2,3"}, {"rungs", "4"}},
             {"rungs must equal the number of values in betas=..."}}};
  }
};

// Names of the instances are part of the test names: ParallelTempering/ScheduleSuite.…
INSTANTIATE_TYPED_TEST_SUITE_P(ParallelTempering, ScheduleSuite, TemperingTraits);

TEST(ParallelTempering, FindsTheBestCut) {
  const Problem g11 = make_maxcut(problems::gset("G11"), "gset:G11");
  ParallelTempering schedule;
  const Result result = Engine(options(128)).run(g11, schedule, {.sweeps = 3000, .target = 564.0});
  EXPECT_EQ(result.objective, 564);
  EXPECT_EQ(result.stop, Stop::target_reached);
}

TEST(ParallelTempering, MakesLaddersOfTheReplicas) {
  ParallelTempering schedule(ladder(6, 0.1, 1));
  const auto plan = [&](std::int64_t replicas) {
    return plan_run(sparse_cut(), schedule, {.sweeps = 10}, options(replicas),
                    open_backend("cpu", 1));
  };
  EXPECT_EQ(plan(30).shape.groups, 5);
  EXPECT_EQ(plan(0).shape.replicas, 132) << "the default, rounded up";
  EXPECT_EQ(plan(0).shape.groups, 22);
  EXPECT_EQ(complaint([&] { plan(32); }),
            "run.replicas: 32 replicas cannot be divided into groups of 6");
}

TEST(ParallelTempering, SuggestsWholeLaddersWhereMemoryIsShort) {
  ParallelTempering schedule(ladder(6, 0.1, 1));
  RunPlan plan =
      plan_run(sparse_cut(), schedule, {.sweeps = 10}, options(60000), open_backend("cpu", 1));
  plan.device.memory_free = plan.bytes_needed() / 2;
  EXPECT_GT(plan.fitting_replicas(), 20000);
  EXPECT_EQ(plan.fitting_replicas() % 96, 0) << "whole ladders and whole words";
}

TEST(ParallelTempering, SaysWhatItChose) {
  const Problem problem = sparse_cut();
  const Objective::BetaRange range = problem.objective->beta_range();
  const double end = problem.objective->as<EndsLadders>()->ladder_end();
  const Result result = tempered(problem, {}, 32, 200);
  EXPECT_EQ(result.parameters.at("rungs"), "16");
  EXPECT_EQ(result.parameters.at("beta_min"), detail::show_real(range.hot));
  EXPECT_EQ(result.parameters.at("burn_in"), "50");
  EXPECT_LT(end, range.cold);
  const std::string cold = detail::show_real(range.cold);
  EXPECT_EQ(tempered(problem, {}, 31 * 16, 8).parameters.at("beta_max"), cold);
  EXPECT_EQ(tempered(problem, {}, 32 * 16, 8).parameters.at("beta_max"), detail::show_real(end))
      << "of 32 ladders the colder rungs find nothing more";
}

// Draws of the coldest rung are to be those of the posterior, not of its neighbourhood of the mode.
TEST(ParallelTempering, EndsAtOneOverAPosterior) {
  Problem bowl = make_problem(make_host_objective(
      "bowl", Space::reals(2, -50, 50),
      [](std::span<const double> x) { return 0.5 * (x[0] * x[0] + x[1] * x[1]); }));
  ParallelTemperingOptions chosen;
  chosen.rungs = 4;
  EXPECT_GT(std::stod(tempered(bowl, chosen, 8, 20).parameters.at("beta_max")), 100);
  bowl.posterior.emplace();
  EXPECT_EQ(tempered(bowl, chosen, 8, 20).parameters.at("beta_max"), "1");
  chosen.beta_max = 30;
  EXPECT_EQ(tempered(bowl, chosen, 8, 20).parameters.at("beta_max"), "30");
  chosen.beta_max = 0;
  chosen.beta_min = 2;
  EXPECT_EQ(tempered(bowl, chosen, 8, 20).parameters.at("beta_max"), "2");
}

// Two normal densities whose inverse temperatures have the ratio R exchange with probability
// 2 I_x(k, k), x = 1 / (1 + R), k half the dimension, which is whole here; the barrier of all steps
// together is k binomial(2k, k) / 4^k log(beta_max / beta_min).
double exchange_of_normals(int k, double ratio) {
  const double x = 1 / (1 + ratio);
  double sum = 0, term = std::pow(1 - x, 2 * k - 1);  // of j out of 2k - 1
  for (int j = 0; j < 2 * k; ++j) {
    if (j >= k) sum += term;
    term *= x / (1 - x) * (2 * k - 1 - j) / (j + 1);
  }
  return 2 * sum;
}

TEST(ParallelTempering, BeginsOverAPosteriorAsHotAsItsRungsCanCarry) {
  for (const auto& [name, shape] : {std::pair{"gaussian-4,100", 2}, {"gaussian-10,1", 5}}) {
    const Problem normal = builtin_registry().problem("density").make(name);
    for (const std::int64_t rungs : {4, 6}) {
      ParallelTemperingOptions chosen;
      chosen.rungs = rungs;
      const Result result = tempered(normal, chosen, 64 * rungs, 3000);
      const double ends = std::log(1 / std::stod(result.parameters.at("beta_min")));
      const auto gaps = static_cast<double>(rungs - 1);
      double barrier = ends * shape;
      for (int i = 1; i <= shape; ++i) barrier *= (2 * i - 1) / (2.0 * i);
      EXPECT_NEAR(2 * barrier + 1, static_cast<double>(rungs), 0.4) << name;
      const double expected = exchange_of_normals(shape, std::exp(ends / gaps));
      for (const double rate : result.series.at("acceptance")) {
        EXPECT_NEAR(rate, expected, 0.03) << name << ", " << rungs << " rungs";
      }
    }
  }
}

// All replicas begin in the greater mode, whose energy less log 0.8 is that of a normal density.
TEST(ParallelTempering, FindsBothModesOfAPosteriorByItself) {
  const Problem modes = builtin_registry().problem("density").make("two-modes-4");
  const double both = 2 - 0.8 * std::log(0.8) - 0.2 * std::log(0.2), one = 2 - std::log(0.8);
  const Result result = tempered(modes, {}, 512, 4000);
  EXPECT_NEAR(result.series.at("mean_energy").back(), both, 0.05);
  ParallelTemperingOptions cold;
  cold.beta_min = 1;
  const Result stuck = tempered(modes, cold, 512, 4000);
  EXPECT_NEAR(stuck.series.at("mean_energy").back(), one, 0.05);
}

TEST(ParallelTempering, PlacesTheFirstLadderAsAsked) {
  const auto betas = [](const ParallelTemperingOptions& chosen) {
    return tempered(sparse_cut(), chosen, 12, 8).series.at("beta");
  };
  const std::vector<double> even = betas(ladder(4, 1, 4, "linear"));
  for (std::size_t r = 0; r < 4; ++r) EXPECT_DOUBLE_EQ(even[r], 1.0 + static_cast<double>(r));
  const std::vector<double> factors = betas(ladder(4, 1, 8, "geometric"));
  for (std::size_t r = 0; r < 4; ++r) EXPECT_NEAR(factors[r], std::exp2(r), 1e-13 * factors[r]);
  ParallelTemperingOptions list;
  list.ladder = "list";
  list.betas = {0, 0.5, 7};
  EXPECT_EQ(betas(list), list.betas);
  EXPECT_EQ(betas(ladder(1, 1, 4)), (std::vector<double>{4})) << "a single rung is the coldest";
}

TEST(ParallelTempering, AdaptsUntilAllNeighboursExchangeEquallyOften) {
  const Problem problem = make_ising(test::random_ising(60, 2, 3));
  const auto spread = [&](const std::string& kind) {
    const Result result = tempered(problem, ladder(10, 0.02, 2, kind), 640, 2000);
    EXPECT_EQ(result.diagnostics.at("adapted"), 1);
    const std::vector<double>& r = result.series.at("rejection");
    const auto [least, most] = std::minmax_element(r.begin(), r.end());
    return *most - *least;
  };
  EXPECT_GT(spread("geometric"), 0.3);
  EXPECT_LT(spread("adaptive"), 0.05);
}

// 4096 states enumerated; 256 ladders of 6 rungs, 3000 measured sweeps.
TEST(ParallelTempering, ReportsEnergiesAndLogZOfEachRung) {
  const Ising model = test::random_ising(12, 6, 3, 0.5);
  const Result result = tempered(make_ising(model), ladder(6, 0.1, 1.2), 6 * 256, 4000);
  const std::vector<double>& beta = result.series.at("beta");
  std::vector<double> z(6, 0.0), mean(6, 0.0);
  for (const State& state : test::all_states(12, true)) {
    const double energy = make_ising(model).solution.verify(spans_of(state));
    for (std::size_t r = 0; r < 6; ++r) {
      const double weight = std::exp(-beta[r] * energy);
      z[r] += weight;
      mean[r] += weight * energy;
    }
  }
  for (std::size_t r = 0; r < 6; ++r) {
    EXPECT_NEAR(result.series.at("mean_energy")[r], mean[r] / z[r], 0.02) << r;
    EXPECT_NEAR(result.series.at("log_z")[r], std::log(z[r] / z[0]), 0.01) << r;
  }
  EXPECT_EQ(result.diagnostics.at("log_z_difference"), result.series.at("log_z").back());
}

// Replicas that forget everything between swaps make 1 / (2 + 2 Lambda) round trips per phase on a
// fine ladder.
TEST(ParallelTempering, ReplicasTravelAsFastAsTheBarrierAllows) {
  const Problem torus = make_maxcut(problems::torus_pm1(10, 10, 1), "torus");
  ParallelTemperingOptions chosen = ladder(40, 0.1, 1);
  chosen.sweeps_per_swap = 10;
  const Result result = tempered(torus, chosen, 80, 30000);
  EXPECT_GT(result.diagnostics.at("round_trip_efficiency"), 0.8);
  EXPECT_LT(result.diagnostics.at("round_trip_efficiency"), 1.1);
  EXPECT_NEAR(result.diagnostics.at("barrier"), 5.3, 0.2);

  chosen.pairs = "sequential";
  const Result slow = tempered(torus, chosen, 80, 30000);
  EXPECT_GT(result.diagnostics.at("round_trips"), 4 * slow.diagnostics.at("round_trips"));
}

TEST(ParallelTempering, CountsEachPlaceAndPhaseOfItsReport) {
  ParallelTemperingOptions chosen = ladder(8, 0.1, 1);
  chosen.burn_in = 100;
  chosen.adaptation_rounds = 2;  // 33 and 66 ticks, and one is left
  const Result result = tempered(sparse_cut(), chosen, 24, 200);
  EXPECT_EQ(result.diagnostics.at("rungs"), 8);
  EXPECT_EQ(result.diagnostics.at("ladders"), 3);
  EXPECT_EQ(result.diagnostics.at("swap_phases"), 100);
  for (const auto& [name, values] : result.series) {
    const bool gaps = name == "acceptance" || name == "rejection";
    EXPECT_EQ(values.size(), gaps ? 7u : 8u) << name;
  }
  const std::vector<double>& share = result.series.at("best_share");
  EXPECT_NEAR(std::accumulate(share.begin(), share.end(), 0.0), 1, 1e-12);
  const std::vector<double>& best = result.series.at("best_energy");
  EXPECT_EQ(*std::min_element(best.begin(), best.end()), result.energy);
}

TEST(ParallelTempering, SaysWhatWouldHelp) {
  const auto advice = [](const ParallelTemperingOptions& chosen, std::int64_t sweeps) {
    std::string all;
    for (const std::string& one : tempered(sparse_cut(), chosen, 96, sweeps).advice) all += one;
    return all;
  };
  EXPECT_NE(advice(ladder(2, 0.1, 3), 200).find("give the ladder more rungs"), std::string::npos);
  EXPECT_NE(advice(ladder(48, 0.1, 0.2), 400).find("rungs suffice"), std::string::npos);
  EXPECT_NE(advice(ladder(48, 0.1, 3), 60).find("No replica went"), std::string::npos);
  ParallelTemperingOptions endless = ladder(8, 0.1, 1);
  endless.burn_in = 1000;
  EXPECT_NE(advice(endless, 100).find("within its burn-in"), std::string::npos);
}

// Two rungs stay where they are, so that the gap between them is closed before and after.
TEST(ParallelTempering, JudgesNoLadderThatStillAdapts) {
  ParallelTemperingOptions chosen = ladder(2, 0.1, 3);
  chosen.burn_in = 100;
  const Result unfinished = tempered(sparse_cut(), chosen, 96, 90),
               finished = tempered(sparse_cut(), chosen, 96, 300);

  EXPECT_GT(unfinished.series.at("rejection").front(), 0.7);
  EXPECT_EQ(unfinished.diagnostics.at("adapted"), 0);
  EXPECT_EQ(unfinished.advice,
            std::vector<std::string>{
                "The run ended within its burn-in: its ladder statistics describe an unfinished "
                "adaptation. Give the run more time, or a shorter burn_in."});
  EXPECT_EQ(finished.diagnostics.at("adapted"), 1);
  ASSERT_FALSE(finished.advice.empty());
  EXPECT_NE(finished.advice.front().find("give the ladder more rungs"), std::string::npos);
}

TEST(ParallelTempering, MovesClustersWhereTheyHelp) {
  const auto chosen_for = [](const Problem& problem, const std::string& wish,
                             std::int64_t replicas) {
    ParallelTemperingOptions chosen = ladder(8, 0.1, 1);
    chosen.cluster_moves = wish;
    return tempered(problem, chosen, replicas, 40);
  };
  const Problem torus = make_maxcut(problems::torus_pm1(10, 10, 1), "torus");
  const Problem dense = make_maxcut(random_graph(40, 16, 1), "dense");
  const Result moved = chosen_for(torus, "automatic", 64);
  EXPECT_EQ(moved.parameters.at("cluster_moves"), "on");
  EXPECT_TRUE(moved.verified);
  for (const double size : moved.series.at("cluster_size")) {
    EXPECT_GT(size, 1);
    EXPECT_LT(size, 50);
  }
  EXPECT_EQ(chosen_for(torus, "automatic", 8).parameters.at("cluster_moves"), "off");
  EXPECT_EQ(chosen_for(dense, "automatic", 64).parameters.at("cluster_moves"), "off");
  EXPECT_EQ(complaint([&] { chosen_for(torus, "on", 8); }),
            "schedule.cluster_moves: cluster_moves=on is impossible: there is only one ladder: use "
            "more replicas");
  const Problem ring = make_ising(test::ring(12, test::constant(-1), test::constant(0)));
  for (const Problem* one : {&dense, &ring}) {
    EXPECT_EQ(
        complaint([&] { chosen_for(*one, "on", 64); }),
        "schedule.cluster_moves: cluster_moves=on is impossible: Kiln sweeps the model in "
        "sequential order: at least an eighth of its pairs are coupled, or a colouring of its n "
        "variables takes more than n / 8 colours");
  }
}

TEST(ParallelTempering, TempersFunctionsOnTheHost) {
  // Two valleys; from the shallow one near -2 a cold walk alone does not find out.
  const auto valleys = [](std::span<const double> x) {
    return std::pow(x[0] * x[0] - 4, 2) - 2 * x[0];
  };
  const Problem problem =
      make_problem(make_host_objective("valleys", Space::reals(1, -5, 5), valleys));
  const Result result = tempered(problem, ladder(6, 0.05, 20), 24, 400);
  EXPECT_NEAR(result.objective, -4.06, 0.05);
  EXPECT_GT(result.diagnostics.at("round_trips"), 0);
}

// A limit may cut a tick in two; swaps, cluster moves and adaptation wait for its end.
TEST(ParallelTempering, GoesOnWithinATick) {
  const Problem problem = make_ising(test::random_ising(60, 1, 3, 0.37));
  ParallelTemperingOptions chosen = ladder(6, 0.1, 2);
  chosen.sweeps_per_swap = 3;
  chosen.cluster_moves = "on";
  chosen.cluster_interval = 2;
  const OpenedBackend cpu = open_backend("cpu", 1);
  const Budget whole{.sweeps = 120};
  ParallelTempering a(chosen), b(chosen);
  kiln::Run uninterrupted(problem, a, whole, options(24), cpu);
  kiln::Run cut(problem, b, whole, options(24), cpu);
  const Result expected = uninterrupted.advance();
  for (const std::int64_t sweeps : {40, 41, 77, 120}) cut.advance_to({.sweeps = sweeps});
  for (std::int64_t r = 0; r < 24; ++r) {
    ASSERT_EQ(cut.batch()[r].state(), uninterrupted.batch()[r].state()) << r;
    ASSERT_EQ(cut.batch()[r].energy(), uninterrupted.batch()[r].energy()) << r;
  }
  EXPECT_EQ(cut.advance().series.at("beta"), expected.series.at("beta"));
}

TEST(ParallelTempering, ALadderAloneIsTheLadderInABatch) {
  constexpr std::int64_t rungs = 8;
  const Problem problem = sparse_cut();
  const OpenedBackend cpu = open_backend("cpu", 1);
  const Budget budget{.sweeps = 64};
  ParallelTemperingOptions chosen = ladder(rungs, 0.1, 2, "geometric");
  chosen.cluster_moves = "off";  // they join two ladders
  ParallelTempering in_batch(chosen), alone(chosen);
  kiln::Run all(problem, in_batch, budget, options(3 * rungs, 9), cpu);
  all.advance();
  for (std::int64_t group = 0; group < 3; ++group) {
    kiln::Run one(problem, alone, budget, options(rungs, group_key(9, group)), cpu);
    one.advance();
    for (std::int64_t i = 0; i < rungs; ++i) {
      ASSERT_EQ(all.batch()[group * rungs + i].state(), one.batch()[i].state()) << group;
    }
  }
}

TEST(ParallelTempering, GoesDownhillWhereATimeLimitEndsIt) {
  // At beta = 0 states are random; only the descent at the end can bring them down.
  ParallelTemperingOptions hot;
  hot.ladder = "list";
  hot.betas = {0, 1e-9};
  ParallelTempering schedule(hot);
  const Problem problem = make_maxcut(random_graph(400, 1, 1));
  kiln::Run run(problem, schedule, {.time_limit_s = 0.01}, options(32), open_backend("cpu", 1));
  const Result random = run.advance_to({.sweeps = 5});
  const Result descended = run.advance();
  EXPECT_GT(descended.objective, random.objective + 200);
}

// What is small goes up together and comes down together (ADR 0009).
TEST(ParallelTempering, CostsAHandfulOfCopies) {
  for (const char* clusters : {"on", "off"}) {
    for (const std::int64_t sweeps : {20, 400}) {
      ParallelTemperingOptions chosen = ladder(8, 0.1, 1);
      chosen.cluster_moves = clusters;
      const Result result = tempered(sparse_cut(), chosen, 64, sweeps);
      EXPECT_LT(result.work.device.copies, 15u);
      EXPECT_EQ(result.work.in_ticks.copies, 0u);
    }
  }
}

}  // namespace
}  // namespace kiln::test::parallel_tempering_test
