// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/replica_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "kiln/problems/generators.hpp"
#include "kiln/problems/pairwise_family.hpp"
#include "kiln/schedules/parallel_tempering.hpp"

#include "backends/cpu_queue.hpp"
#include "models/models_family.hpp"
#include "models/small_models.hpp"
#include "schedule_fixtures.hpp"
#include "schedule_suite.hpp"

namespace kiln::test::replica_exchange_test {
namespace {

using test::complaint;
using test::options;
using test::random_graph;
using test::sparse_cut;

Problem small_family() { return make_pairwise_family(test::random_family(90, 1, 7), "family"); }

struct ExchangeTraits : test::SweepingTraits {
  static constexpr std::int64_t sweeps = 48;
  static ScheduleEntry entry() { return builtin_registry().schedule("replica-exchange"); }
  static Problem problem() { return sparse_cut(); }
  static std::vector<test::Texts> variants() {
    return {{{"rungs", "8"}},
            {{"rungs", "8"}, {"walkers", "0"}, {"sweeps_per_swap", "3"}},
            {{"rungs", "6"}, {"walkers", "2"}, {"walker_sweeps", "17"}, {"pairs", "all_pairs"}},
            {{"rungs", "14"},
             {"walkers", "2"},
             {"walker_sweeps", "21"},
             {"walker_restart", "best"},
             {"sweeps_per_swap", "2"}},
            {{"rungs", "1"},
             {"walkers", "1"},
             {"walker_restart", "current"},
             {"walker_interval", "3"},
             {"cadence", "stochastic"}},
            {{"rungs", "6"}, {"walkers", "2"}, {"walker_sweeps", "17"}, {"exchange", "state"}},
            {{"rungs", "3"}, {"moves", "heat-bath"}},
            {{"moves", "metropolis,heat-bath,metropolis,heat-bath"}, {"sweeps_per_swap", "2"}},
            {{"rungs", "2"}, {"walkers", "1"}, {"moves", "metropolis,heat-bath"}}};
  }
  static std::vector<test::Refused> refused() {
    return {
        {{{"beta_min", "-1"}, {"rungs", "2000"}, {"walkers", "-2"}, {"coordinate", "time"}},
         {"beta_min: -1 is out of range", "rungs: 2000 is out of range",
          "walkers: -2 is out of range", "coordinate: 'time' is not one of"}},
        {{{"parameter_min", "2"}, {"parameter_max", "1"}},
         {"parameter_min must not be greater than parameter_max",
          "need coordinate=parameter or coordinate=both"}},
        {{{"coordinate", "parameter"}, {"ladder", "list"}, {"betas", "1,2"}},
         {"betas need coordinate=temperature or coordinate=both", "ladder=list needs parameters"}},
        {{{"coordinate", "both"}, {"ladder", "list"}, {"betas", "2,1"}, {"parameters", "0"}},
         {"betas and parameters must have the same length", "betas must not decrease"}},
        {{{"coordinate", "parameter"}, {"ladder", "list"}, {"parameters", "1,1"}, {"rungs", "3"}},
         {"parameters must increase strictly",
          "rungs must equal the number of values in parameters=..."}},
        {{{"coordinate", "parameter"}, {"ladder", "geometric"}, {"parameters", "0,1"}},
         {"ladder=geometric is only for temperatures", "parameters need ladder=list"}},
        {{{"ladder", "list"}, {"walker_sweeps", "3"}, {"sweeps_per_swap", "5"}},
         {"ladder=list needs betas", "walker_sweeps must be at least sweeps_per_swap"}},
        {{{"moves", "metropolis,heatbath,heat-bath"}, {"rungs", "4"}},
         {"moves: 'heatbath' is not one of metropolis, heat-bath; the nearest is 'heat-bath'"}},
        {{{"moves", "metropolis,heat-bath"}, {"rungs", "4"}},
         {"moves must be one rule for all rungs, or one rule for each rung (2 rules for 4 rungs)"}},
        {{{"moves", "metropolis,heat-bath"}, {"ladder", "list"}, {"betas", "1,0.5"}},
         {"betas must not decrease"}}};
  }
};

/// The same for ladders over the parameter of a family.
struct FamilyTraits : ExchangeTraits {
  static Problem problem() { return small_family(); }
  static std::vector<test::Texts> variants() {
    return {{{"rungs", "8"}, {"walkers", "0"}},
            {{"coordinate", "parameter"}, {"rungs", "8"}},
            {{"coordinate", "parameter"},
             {"ladder", "list"},
             {"parameters", "-0.5,0,0.6,1"},
             {"beta_max", "0.7"},
             {"walkers", "0"}},
            {{"coordinate", "both"}, {"rungs", "6"}, {"walkers", "2"}, {"walker_sweeps", "20"}},
            {{"coordinate", "both"},
             {"ladder", "list"},
             {"betas", "0.1,0.5,0.5"},
             {"parameters", "0,0,1"},
             {"walkers", "1"},
             {"walker_sweeps", "9"},
             {"sweeps_per_swap", "3"}}};
  }
};

// Names of the instances are part of the test names: ReplicaExchange/ScheduleSuite.…
INSTANTIATE_TYPED_TEST_SUITE_P(ReplicaExchange, ScheduleSuite, ExchangeTraits);
INSTANTIATE_TYPED_TEST_SUITE_P(ReplicaExchangeOfFamilies, ScheduleSuite, FamilyTraits);

Result exchanged(const Problem& problem, const ReplicaExchangeOptions& chosen,
                 std::int64_t replicas, const Budget& budget) {
  ReplicaExchange schedule(chosen);
  return Engine(options(replicas)).run(problem, schedule, budget);
}

TEST(ReplicaExchange, FindsTheBestCutWithDefaults) {
  const Problem g1 = make_maxcut(problems::gset("G1"), "gset:G1");
  const Result result = exchanged(g1, {}, 0, {.sweeps = 4000, .target = 11624.0});
  EXPECT_EQ(result.objective, 11624);
  EXPECT_EQ(result.stop, Stop::target_reached);
}

// The special case: temperatures and no walkers.
TEST(ReplicaExchange, OverTemperatureIsParallelTempering) {
  const Problem problem = sparse_cut();
  ReplicaExchangeOptions chosen;
  chosen.rungs = 8;
  chosen.walkers = 0;
  ParallelTemperingOptions tempering;
  tempering.rungs = 8;
  tempering.cluster_moves = "off";
  ParallelTempering schedule(tempering);
  const Result theirs = Engine(options(48)).run(problem, schedule, {.sweeps = 200});
  Result ours = exchanged(problem, chosen, 48, {.sweeps = 200});
  EXPECT_EQ(ours.solution, theirs.solution);
  EXPECT_EQ(ours.work.accepted, theirs.work.accepted);
  EXPECT_EQ(ours.series, theirs.series);
  EXPECT_EQ(ours.diagnostics.at("walkers"), 0);
  ours.diagnostics.erase("walkers");
  EXPECT_EQ(ours.diagnostics, theirs.diagnostics);
}

TEST(ReplicaExchange, EndsAtOneOverAPosterior) {
  Problem bowl = make_problem(make_host_objective(
      "bowl", Space::reals(2, -50, 50),
      [](std::span<const double> x) { return 0.5 * (x[0] * x[0] + x[1] * x[1]); }));
  ReplicaExchangeOptions chosen;
  chosen.rungs = 4;
  chosen.walkers = 0;
  const auto beta_max = [&] {
    return std::stod(exchanged(bowl, chosen, 8, {.sweeps = 20}).parameters.at("beta_max"));
  };
  EXPECT_GT(beta_max(), 100);
  bowl.posterior.emplace();
  EXPECT_EQ(beta_max(), 1);
}

TEST(ReplicaExchange, RefusesAParameterThatIsNotThere) {
  ReplicaExchangeOptions chosen;
  for (const char* coordinate : {"parameter", "both"}) {
    chosen.coordinate = coordinate;
    const std::string message =
        complaint([&] { exchanged(sparse_cut(), chosen, 0, {.sweeps = 4}); });
    EXPECT_NE(message.find("objective 'sparse' does not offer parameters"), std::string::npos)
        << message;
  }
}

TEST(ReplicaExchange, TakesTheRangeOfTheFamily) {
  PairwiseFamily family = test::random_family(40, 1, 3);
  family.low = -1;
  family.target = 2;
  const Problem problem = make_pairwise_family(family);
  ReplicaExchangeOptions chosen;
  chosen.coordinate = "parameter";
  chosen.rungs = 4;
  chosen.ladder = "linear";
  chosen.walkers = 0;
  const Result result = exchanged(problem, chosen, 8, {.sweeps = 40});
  EXPECT_EQ(result.series.at("parameter"), (std::vector<double>{-1, 0, 1, 2}));
  const std::vector<double> same(4, problem.objective->beta_range().cold * problem.scale());
  EXPECT_EQ(result.series.at("beta"), same);
  EXPECT_EQ(result.parameters.at("parameter_max"), "2");
  ASSERT_EQ(result.series.at("log_z").size(), 4u);
}

// The constants of both parts count: of A in neither, of B in proportion to lambda.
TEST(ReplicaExchange, CountsTheOffsetOfTheTermInLogZ) {
  PairwiseFamily family = test::random_family(8, 1, 3);
  family.low = 0;
  family.target = 1;
  for (const double offset : {0.0, 2.5, -40.0}) {
    family.base.offset = 3;
    family.term.offset = offset;
    double z[2] = {0, 0};
    for (const State& state : test::all_states(8, true)) {
      const auto spins = test::values_of(state);
      const double a = test::direct_energy(family.base, spins),
                   b = test::direct_energy(family.term, spins);
      for (const int lambda : {0, 1}) {
        z[lambda] += std::exp(-0.5 * (a + family.base.offset + lambda * (b + offset)));
      }
    }
    ReplicaExchangeOptions chosen;
    chosen.coordinate = "parameter";
    chosen.ladder = "list";
    chosen.parameters = {0, 0.25, 0.5, 0.75, 1};
    chosen.beta_max = 0.5;
    chosen.burn_in = 50;
    const Result result =
        exchanged(make_pairwise_family(family), chosen, 5 * 256, {.sweeps = 1000});
    EXPECT_LT(result.diagnostics.at("log_z_error"), 0.02);
    EXPECT_LT(std::abs(result.diagnostics.at("log_z_difference") - std::log(z[1] / z[0])),
              4 * result.diagnostics.at("log_z_error"))
        << offset;
    EXPECT_FALSE(result.diagnostics.contains("log_z"));
  }
}

TEST(ReplicaExchange, AdaptsTheRungsOfAParameter) {
  const Problem problem = make_pairwise_family(test::random_family(60, 1, 5));
  ReplicaExchangeOptions chosen;
  chosen.coordinate = "parameter";
  chosen.rungs = 6;
  chosen.beta_max = 0.5;
  chosen.parameter_max = 2;
  chosen.walkers = 0;
  chosen.burn_in = 2000;
  const Result result = exchanged(problem, chosen, 96, {.sweeps = 4000});
  const std::vector<double>& lambda = result.series.at("parameter");
  const std::vector<double>& rate = result.series.at("acceptance");
  EXPECT_EQ(lambda.front(), 0);
  EXPECT_EQ(lambda.back(), 2);
  const auto [least, most] = std::minmax_element(rate.begin(), rate.end());
  EXPECT_LT(*most - *least, 0.06) << "all neighbours exchange equally often";
  chosen.ladder = "linear";
  const Result even = exchanged(problem, chosen, 96, {.sweeps = 4000});
  const std::vector<double>& before = even.series.at("acceptance");
  const auto [low, high] = std::minmax_element(before.begin(), before.end());
  EXPECT_GT(*high - *low, 2 * (*most - *least)) << "which they did not at equal steps";
}

// The answer is that of the member which is the problem, whichever rung met it.
TEST(ReplicaExchange, JudgesByTheTargetAlone) {
  const PairwiseFamily family = test::random_family(14, 1, 11);
  const Problem problem = make_pairwise_family(family);
  double least = 1e9;
  for (const State& state : test::all_states(14, true)) {
    least = std::min(least, test::direct_energy(family.base, test::values_of(state)) +
                                test::direct_energy(family.term, test::values_of(state)));
  }
  for (const char* coordinate : {"temperature", "parameter", "both"}) {
    ReplicaExchangeOptions chosen;
    chosen.coordinate = coordinate;
    chosen.rungs = 4;
    const Result result = exchanged(problem, chosen, 0, {.sweeps = 400});
    EXPECT_EQ(result.objective, least) << coordinate;
    EXPECT_TRUE(result.verified);
  }
}

TEST(ReplicaExchange, LetsWalkersExchange) {
  ReplicaExchangeOptions chosen;
  chosen.rungs = 6;
  chosen.walkers = 2;
  chosen.walker_sweeps = 50;
  const Result result = exchanged(sparse_cut(), chosen, 32, {.sweeps = 400});
  EXPECT_EQ(result.diagnostics.at("ladders"), 4);
  EXPECT_EQ(result.diagnostics.at("walkers"), 2);
  EXPECT_GT(result.diagnostics.at("walker_exchanges"), 100);
  EXPECT_EQ(result.series.at("best_share").size(), 8u);
  const std::vector<double>& share = result.series.at("best_share");
  EXPECT_DOUBLE_EQ(std::accumulate(share.begin(), share.end(), 0.0), 1.0);
  EXPECT_EQ(result.series.at("beta").size(), 6u);
}

TEST(ReplicaExchange, MovesRungsByRulesOfTheirOwn) {
  ReplicaExchangeOptions chosen;
  chosen.rungs = 4;
  const auto with = [&](std::vector<std::string> moves) {
    chosen.moves = std::move(moves);
    return exchanged(sparse_cut(), chosen, 16, {.sweeps = 40});
  };
  const Result metropolis = with({"metropolis"}), bath = with({"heat-bath"});
  const Result mixed = with({"metropolis", "heat-bath", "metropolis", "heat-bath"});
  // A list of the same is one for all.
  EXPECT_EQ(with({"heat-bath", "heat-bath", "heat-bath", "heat-bath"}).work.accepted,
            bath.work.accepted);
  // The heat bath takes fewer of the moves that Metropolis takes.
  EXPECT_LT(bath.work.accepted, mixed.work.accepted);
  EXPECT_LT(mixed.work.accepted, metropolis.work.accepted);
  EXPECT_TRUE(mixed.verified);
}

TEST(ReplicaExchange, TakesTheNumberOfRungsFromTheMoves) {
  ReplicaExchangeOptions chosen;
  chosen.moves = {"metropolis", "heat-bath", "heat-bath"};
  const Result result = exchanged(sparse_cut(), chosen, 12, {.sweeps = 10});
  EXPECT_EQ(result.diagnostics.at("rungs"), 3);
  EXPECT_EQ(result.diagnostics.at("ladders"), 4);
}

TEST(ReplicaExchange, ExchangesAlwaysBetweenRulesAtOneTemperature) {
  ReplicaExchangeOptions chosen;
  chosen.ladder = "list";
  chosen.betas = {0.5, 0.5};
  chosen.moves = {"metropolis", "heat-bath"};
  chosen.burn_in = 0;
  EXPECT_EQ(exchanged(sparse_cut(), chosen, 32, {.sweeps = 20}).series.at("acceptance").front(), 1);
}

}  // namespace
}  // namespace kiln::test::replica_exchange_test
