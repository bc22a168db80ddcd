// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/simulated_annealing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "backends/cpu_queue.hpp"
#include "models/small_models.hpp"
#include "schedule_fixtures.hpp"
#include "schedule_suite.hpp"

namespace kiln::test::simulated_annealing_test {
namespace {

using test::complaint;
using test::options;
using test::random_graph;
using test::sparse_cut;

struct AnnealingTraits : test::SweepingTraits {
  static constexpr std::int64_t sweeps = 48;
  static ScheduleEntry entry() { return builtin_registry().schedule("simulated-annealing"); }
  static Problem problem() { return sparse_cut(); }
  static std::vector<test::Texts> variants() {
    return {{},
            {{"cooling", "geometric"}, {"beta_min", "0.1"}, {"beta_max", "5"}},
            {{"cooling", "exponential"}, {"exponential.factor", "0.9"}, {"polish_sweeps", "0"}},
            {{"cooling", "list"}, {"list.betas", "0.1,0.5,1,2"}, {"groups", "3"}},
            {{"cooling", "logarithmic"}, {"logarithmic.rate", "0.5"}},
            {{"cooling", "adaptive"}, {"groups", "2"}, {"adaptive.window", "4"}},
            {{"cooling", "pid"}, {"pid.acceptance_end", "0.01"}},
            {{"anneal_sweeps", "30"}},
            {{"anneal_sweeps", "16"}, {"restart", "best"}, {"groups", "3"}},
            {{"anneal_sweeps", "8"}, {"restart", "current"}, {"reheat", "0.3"}, {"growth", "2"}},
            {{"anneal_sweeps", "16"}, {"restart", "crossover"}, {"groups", "3"}},
            {{"groups", "4"}, {"beta_min_last", "1"}, {"beta_max_last", "9"}},
            {{"moves", "heat-bath"}, {"groups", "2"}},
            {{"anneal_sweeps", "8"}, {"groups", "48"}}};
  }
  static std::vector<test::Refused> refused() {
    return {
        {{{"beta_min", "-1"}, {"exponential.factor", "1.5"}, {"groups", "0"}, {"cooling", "slow"}},
         {"beta_min: -1 is out of range", "exponential.factor: 1.5 is out of range",
          "groups: 0 is out of range", "cooling: 'slow' is not one of"}},
        {{{"beta_min", "2"}, {"beta_max", "1"}, {"cooling", "list"}},
         {"beta_min must not be greater than beta_max",
          "list.betas is empty; expected inverse temperatures"}},
        {{{"list.betas", "1,2"}, {"anneal_sweeps", "10"}},
         {"'list.betas' is a parameter of cooling=list, and cooling is automatic; give "
          "cooling=list or leave 'list.betas' out"}},
        {{{"anneal_sweeps", "10"}, {"polish_sweeps", "10"}},
         {"polish_sweeps must be smaller than anneal_sweeps"}},
        {{{"restart", "never"}, {"growth", "-1"}, {"reheat", "2"}},
         {"restart: 'never' is not one of", "growth: -1 is out of range",
          "reheat: 2 is out of range"}},
        {{{"beta_max_last", "2"}}, {"beta_min_last and beta_max_last need groups"}}};
  }
};

// Names of the instances are part of the test names: SimulatedAnnealing/ScheduleSuite.…
INSTANTIATE_TYPED_TEST_SUITE_P(SimulatedAnnealing, ScheduleSuite, AnnealingTraits);

TEST(SimulatedAnnealing, FindsTheGroundStateOfAFerromagnet) {
  Graph ring{30, {}};
  for (std::int32_t v = 0; v < 30; ++v) ring.edges.push_back({v, (v + 1) % 30, 1});
  SimulatedAnnealing schedule;
  const Result result = Engine(options()).run(make_maxcut(ring), schedule, {.sweeps = 200});
  EXPECT_EQ(result.objective, 30) << "an even ring is cut everywhere";
  EXPECT_EQ(result.energy, -30);
  EXPECT_TRUE(result.verified);
}

TEST(SimulatedAnnealing, CollectsTheComplaintsAboutItsOptions) {
  SimulatedAnnealingOptions wrong;
  wrong.beta_min = 2;
  wrong.beta_max = 1;
  wrong.cooling = ExponentialCooling{-1};
  EXPECT_EQ(complaint([&] { SimulatedAnnealing schedule(wrong); }),
            "config.option: exponential.factor: -1 is out of range: 0 .. 1\n"
            "  beta_min must not be greater than beta_max");
  SimulatedAnnealingOptions empty;
  empty.cooling = ListCooling{};
  EXPECT_EQ(complaint([&] { SimulatedAnnealing schedule(empty); }),
            "config.option: list.betas is empty; expected inverse temperatures, for example "
            "list.betas=0.1,0.5,1,2");
}

// What lies in a range is taken, what lies beyond it is refused with the same words. The oracle is
// the text.
TEST(SimulatedAnnealing, EnforcesTheRangesThatItTells) {
  const ScheduleEntry entry = AnnealingTraits::entry();
  int numbers = 0;
  for (const FieldInfo& field : entry.fields) {
    if (field.type != "integer" && field.type != "real") continue;
    SCOPED_TRACE(field.name + ": " + field.range);
    ++numbers;
    const auto refused = [&](double value) {
      char text[32];
      std::snprintf(text, sizeof text, "%.17g", value);
      test::Texts texts{{field.name, text}};
      if (!field.choice.empty()) texts[field.choice] = field.alternative;
      const std::string said = complaint([&] { entry.make(texts); });
      EXPECT_EQ(said.find("out of range") != std::string::npos,
                said.find(" is out of range: " + field.range) != std::string::npos);
      return said.find("out of range") != std::string::npos;
    };
    const bool open = field.range.starts_with(">= ");
    const double low = std::stod(field.range.substr(open ? 3 : 0));
    const double step = field.type == "integer" ? 1 : 1e-12;
    EXPECT_FALSE(refused(low));
    EXPECT_TRUE(refused(low - step));
    const double high =
        open ? low + 1e6 : std::stod(field.range.substr(field.range.find("..") + 2));
    EXPECT_FALSE(refused(high));
    EXPECT_EQ(refused(high + step), !open);
  }
  EXPECT_EQ(numbers, 21);
}

TEST(SimulatedAnnealing, SaysWhatItChose) {
  SimulatedAnnealing schedule;
  const Problem problem = sparse_cut();
  const Objective::BetaRange range = problem.objective->beta_range();
  const Result result = Engine(options()).run(problem, schedule, {.sweeps = 200});
  EXPECT_EQ(result.parameters.at("cooling"), "linear");
  EXPECT_EQ(result.parameters.at("beta_min"), detail::show_real(range.hot));
  EXPECT_EQ(result.parameters.at("beta_max"), detail::show_real(range.cold));
  EXPECT_EQ(result.parameters.at("anneal_sweeps"), "200");
  EXPECT_EQ(result.parameters.at("polish_sweeps"), "10");
}

// Rounds of many replicas begin short; those of a group are those that it would have alone.
TEST(SimulatedAnnealing, BeginsWithAShortRoundOfManyReplicas) {
  const Problem problem = sparse_cut();
  const auto chosen = [&](std::int64_t replicas, std::int64_t groups, const Budget& budget) {
    SimulatedAnnealingOptions several;
    several.groups = groups;
    SimulatedAnnealing schedule(several);
    RunOptions many = options();
    many.replicas = replicas;
    return Engine(many).run(problem, schedule, budget).parameters.at("anneal_sweeps");
  };
  const Budget short_time{.time_limit_s = 0.002};
  EXPECT_EQ(chosen(511, 1, short_time), "1000");
  EXPECT_EQ(chosen(512, 1, short_time), "512");
  EXPECT_EQ(chosen(1023, 1, short_time), "512");
  EXPECT_EQ(chosen(1024, 1, short_time), "256");
  EXPECT_EQ(chosen(2048, 2, short_time), "256");
  EXPECT_EQ(chosen(2046, 2, short_time), "512");
  EXPECT_EQ(chosen(1024, 1, {.sweeps = 40}), "40");
}

TEST(SimulatedAnnealing, GivesBetasInTheUnitsOfTheUser) {
  // The same model in units of a quarter: betas are four times as great, the path is the same.
  SimulatedAnnealing schedule;
  Engine engine(options());
  const Result whole = engine.run(make_maxcut(random_graph(60, 2, 3)), schedule, {.sweeps = 80});
  const Result quarter =
      engine.run(make_maxcut(random_graph(60, 2, 3, 0.25)), schedule, {.sweeps = 80});
  EXPECT_EQ(quarter.solution, whole.solution);
  EXPECT_EQ(quarter.objective, whole.objective / 4);
  EXPECT_EQ(quarter.work.accepted, whole.work.accepted);
  EXPECT_DOUBLE_EQ(std::stod(quarter.parameters.at("beta_max")),
                   4 * std::stod(whole.parameters.at("beta_max")));
}

TEST(SimulatedAnnealing, NeedsATickThatDividesARound) {
  const Problem problem = sparse_cut();
  const auto sweeps_per_tick = [&](std::int64_t anneal, const Budget& budget) {
    SimulatedAnnealingOptions chosen;
    chosen.anneal_sweeps = anneal;
    return SimulatedAnnealing(chosen).needs(problem, budget).sweeps_per_tick;
  };
  EXPECT_EQ(sweeps_per_tick(0, {}), 8u);
  EXPECT_EQ(sweeps_per_tick(0, {.sweeps = 1001}), 8u) << "a single round has no next one";
  EXPECT_EQ(sweeps_per_tick(0, {.time_limit_s = 1.0, .sweeps = 1001}), 8u)
      << "a limit that is never reached must not change the path";
  EXPECT_EQ(sweeps_per_tick(0, {.sweeps = 1001, .target = 1e9}), 8u);
  EXPECT_EQ(sweeps_per_tick(12, {}), 6u);
  EXPECT_EQ(sweeps_per_tick(13, {}), 1u);
}

TEST(SimulatedAnnealing, EveryRoundBeginsWithNewStates) {
  // At these temperatures, and without ties, a replica goes downhill a few times and is frozen
  // then; only a new state gives it something to do.
  const Problem problem = make_ising(test::random_ising(90, 1, 100000));
  SimulatedAnnealingOptions cold;
  cold.beta_min = cold.beta_max = 1e6;
  cold.polish_sweeps = 0;
  cold.anneal_sweeps = 100;
  SimulatedAnnealing once(cold);
  cold.anneal_sweeps = 10;
  SimulatedAnnealing often(cold);
  Engine engine(options());
  const Result frozen = engine.run(problem, once, {.sweeps = 100});
  const Result restarted = engine.run(problem, often, {.sweeps = 100});
  EXPECT_GT(restarted.work.accepted, 4 * frozen.work.accepted);
}

// Frozen states that are not heated up again stay where they are, whatever the rounds.
TEST(SimulatedAnnealing, LaterRoundsBeginWhereTheyAreToldTo) {
  const Problem problem = make_ising(test::random_ising(90, 1, 100000));
  SimulatedAnnealingOptions chosen;
  chosen.beta_min = chosen.beta_max = 1e6;
  chosen.polish_sweeps = 0;
  chosen.anneal_sweeps = 10;
  chosen.restart = "current";
  SimulatedAnnealing current(chosen);
  chosen.restart = "best";
  SimulatedAnnealing best(chosen);
  chosen.anneal_sweeps = 100;
  SimulatedAnnealing once(chosen);
  Engine engine(options());
  const Result frozen = engine.run(problem, once, {.sweeps = 100});
  EXPECT_EQ(engine.run(problem, current, {.sweeps = 100}).work.accepted, frozen.work.accepted);
  EXPECT_EQ(engine.run(problem, best, {.sweeps = 100}).work.accepted, frozen.work.accepted);
}

// A run of one round leaves restarts out of its ticks, unless it goes on beyond its budget or was
// loaded.
TEST(SimulatedAnnealing, GoesOnBehindItsOnlyRoundFromNewStates) {
  const Problem problem = make_ising(test::random_ising(90, 1, 100000));
  SimulatedAnnealingOptions cold;
  cold.beta_min = cold.beta_max = 1e6;
  cold.polish_sweeps = 0;
  SimulatedAnnealing one(cold), loaded(cold);
  cold.anneal_sweeps = 24;
  SimulatedAnnealing rounds(cold);
  const Result expected = Engine(options()).run(problem, rounds, {.sweeps = 72});

  kiln::Run run(problem, one, {.sweeps = 24}, options(), open_backend("cpu", 1));
  run.advance();
  Archive archive;
  run.save(archive);
  EXPECT_EQ(run.advance_to({.sweeps = 72}).work.accepted, expected.work.accepted);

  kiln::Run longer(problem, loaded, {.sweeps = 72}, options(), open_backend("cpu", 1));
  longer.load(archive);
  EXPECT_EQ(longer.advance().work.accepted, expected.work.accepted);
}

TEST(SimulatedAnnealing, ReheatsPartOfTheWay) {
  SimulatedAnnealingOptions chosen;
  chosen.cooling = GeometricCooling{};
  chosen.beta_min = 1;
  chosen.beta_max = 9;
  chosen.anneal_sweeps = 8;
  chosen.polish_sweeps = 0;
  chosen.restart = "current";
  chosen.reheat = 0.25;
  SimulatedAnnealing schedule(chosen);
  const Problem problem = sparse_cut();
  kiln::Run run(problem, schedule, {.sweeps = 24}, options(), open_backend("cpu", 1));
  std::vector<double> betas;
  for (const std::int64_t sweeps : {1, 8, 9, 16}) {
    run.advance_to({.sweeps = sweeps}, {[&](const ReportPoint& point) {
                     betas.push_back(point.beta);
                     return Next::go_on;
                   }});
  }
  ASSERT_GE(betas.size(), 4u);
  EXPECT_NEAR(betas.front(), 1, 1e-12);
  EXPECT_NEAR(betas.back(), 9, 1e-12);
  EXPECT_EQ(std::ranges::count_if(betas, [](double b) { return std::abs(b - 7) < 1e-12; }), 1)
      << "9 - 0.25 (9 - 1)";
}

TEST(SimulatedAnnealing, SpreadsItsRangesOverTheGroups) {
  SimulatedAnnealingOptions chosen;
  chosen.groups = 3;
  chosen.cooling = LinearCooling{};
  chosen.beta_min = 1;
  chosen.beta_max = 2;
  chosen.beta_max_last = 8;
  SimulatedAnnealing spread(chosen);
  std::vector<SimulatedAnnealingOptions> each(3, chosen);
  for (SimulatedAnnealingOptions& own : each) own.beta_max_last = 0;
  each[1].beta_max = 4;
  each[2].beta_max = 8;
  SimulatedAnnealing listed(each);
  Engine engine(options(48));
  const Result a = engine.run(sparse_cut(), spread, {.sweeps = 40});
  const Result b = engine.run(sparse_cut(), listed, {.sweeps = 40});
  EXPECT_EQ(a.solution, b.solution);
  EXPECT_EQ(a.work.accepted, b.work.accepted);
  EXPECT_EQ(a.series.at("group_beta_max").front(), 2);
  EXPECT_NEAR(a.series.at("group_beta_max")[1], 4, 1e-12);
  EXPECT_EQ(std::ranges::max(a.series.at("group_best")), a.objective);
  each[2].beta_max = 7;
  SimulatedAnnealing other(each);
  EXPECT_NE(engine.run(sparse_cut(), other, {.sweeps = 40}).work.accepted, b.work.accepted);
}

TEST(SimulatedAnnealing, RefusesGroupsThatCannotShareABatch) {
  std::vector<SimulatedAnnealingOptions> groups(2);
  groups[1].restart = "best";
  groups[1].reheat = 3;
  EXPECT_EQ(complaint([&] { SimulatedAnnealing schedule(groups); }),
            "config.option: group 1: reheat: 3 is out of range: 0 .. 1\n"
            "  group 1: anneal_sweeps, polish_sweeps, growth, restart, moves and noise must equal "
            "those of "
            "group 0");
  EXPECT_EQ(
      complaint([] { SimulatedAnnealing schedule(std::vector<SimulatedAnnealingOptions>{}); }),
      "config.option: no group was given");
  std::vector<SimulatedAnnealingOptions> windows(3);
  windows[1].cooling = AdaptiveCooling{.window = 20};
  windows[2].cooling = PidCooling{};
  EXPECT_EQ(complaint([&] { SimulatedAnnealing schedule(windows); }),
            "config.option: group 2: window is 10; expected 20, the window of an earlier group");
}

// Every kind of cooling side by side, and every group as if it were alone.
TEST(SimulatedAnnealing, AGroupWithItsOwnCoolingAloneIsTheGroupInABatch) {
  constexpr std::int64_t group_size = 20;
  const Problem problem = sparse_cut();
  const OpenedBackend cpu = open_backend("cpu", 1);
  const Budget budget{.sweeps = 64};
  std::vector<SimulatedAnnealingOptions> each(7);
  each[0].cooling = ListCooling{{0.1, 1, 3}};
  each[1].cooling = PidCooling{};
  each[2].beta_max = 3;
  each[3].cooling = ListCooling{{0.5, 2}};
  each[4].cooling = AdaptiveCooling{.gain = 1};
  each[5].cooling = ExponentialCooling{};
  each[6].cooling = LogarithmicCooling{};
  SimulatedAnnealing in_batch(each);
  kiln::Run all(problem, in_batch, budget, options(7 * group_size, 9), cpu);
  all.advance();
  for (std::size_t group = 0; group < each.size(); ++group) {
    SimulatedAnnealing alone(each[group]);
    const auto g = static_cast<std::int64_t>(group);
    kiln::Run one(problem, alone, budget, options(group_size, group_key(9, g)), cpu);
    one.advance();
    for (std::int64_t i = 0; i < group_size; ++i) {
      ASSERT_EQ(all.batch()[g * group_size + i].state(), one.batch()[i].state())
          << "group " << group << " replica " << i;
    }
  }
}

TEST(SimulatedAnnealing, AGroupAloneIsTheGroupInABatch) {
  constexpr std::int64_t group_size = 20;
  const Problem problem = sparse_cut();
  const OpenedBackend cpu = open_backend("cpu", 1);
  const Budget budget{.sweeps = 64};
  SimulatedAnnealingOptions chosen;
  chosen.groups = 3;
  SimulatedAnnealing in_batch(chosen), alone;
  kiln::Run all(problem, in_batch, budget, options(3 * group_size, 9), cpu);
  all.advance();
  for (std::int64_t group = 0; group < 3; ++group) {
    kiln::Run one(problem, alone, budget, options(group_size, group_key(9, group)), cpu);
    one.advance();
    for (std::int64_t i = 0; i < group_size; ++i) {
      const Replica a = all.batch()[group * group_size + i], b = one.batch()[i];
      ASSERT_EQ(a.best_energy(), b.best_energy()) << "group " << group << " replica " << i;
      ASSERT_EQ(a.state(), b.state());
      ASSERT_EQ(a.best_state(), b.best_state());
    }
  }
}

TEST(SimulatedAnnealing, MoreReplicasDoNotDisturbTheFirst) {
  const Problem problem = sparse_cut();
  const OpenedBackend cpu = open_backend("cpu", 2);
  const Budget budget{.sweeps = 64};
  SimulatedAnnealing a, b;
  kiln::Run few(problem, a, budget, options(32), cpu), many(problem, b, budget, options(96), cpu);
  few.advance();
  many.advance();
  for (std::int64_t r = 0; r < 32; ++r) {
    ASSERT_EQ(few.batch()[r].best_energy(), many.batch()[r].best_energy()) << r;
    ASSERT_EQ(few.batch()[r].best_state(), many.batch()[r].best_state()) << r;
    ASSERT_EQ(few.batch()[r].state(), many.batch()[r].state()) << r;
  }
}

}  // namespace
}  // namespace kiln::test::simulated_annealing_test
