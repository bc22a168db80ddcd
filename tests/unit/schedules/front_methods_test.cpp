// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "kiln/fronts/indicators.hpp"
#include "kiln/problems/multi_objective.hpp"
#include "kiln/problems/multi_objective_discrete.hpp"
#include "kiln/schedules/parallel_tempering.hpp"

#include "backends/cpu_queue.hpp"
#include "front_method.hpp"
#include "schedule_fixtures.hpp"
#include "schedule_suite.hpp"

namespace kiln::test::front_methods_test {
namespace {

using test::complaint;
using test::options;

// The replicas of the suite make two islands of 24 members unless a variant says otherwise.
ScheduleEntry islands_of_24(const char* name, const char* size) {
  ScheduleEntry entry = builtin_registry().schedule(name);
  entry.make = [make = entry.make, size](test::Texts texts) {
    texts.try_emplace(size, "24");
    return make(texts);
  };
  return entry;
}

struct EvolutionaryTraits {
  static constexpr std::int64_t sweeps = 25;
  static ScheduleEntry entry() { return islands_of_24("evolutionary", "population"); }
  static Problem problem() { return problems::zdt(4, 5); }
  static std::vector<test::Texts> variants() {
    return {{},
            {{"migration_interval", "7"}, {"migrants", "3"}, {"population", "16"}},
            {{"crossover", "differential"}, {"differential_rate", "0.7"}},
            {{"strategy", "nsga3"}},
            {{"epsilon", "0.2"}},
            {{"strategy", "moead"}, {"decomposition", "boundary-intersection"}},
            {{"strategy", "sms-emoa"}, {"reference", "2,2"}, {"population", "48"}}};
  }
  static std::vector<test::Refused> refused() {
    return {
        {{{"population", "2"}, {"epsilon", "0.1,0"}},
         {"population: 2 is out of range: 0, or 4 .. 1048576", "epsilon: 0 is out of range: > 0"}},
        {{{"population", "8"}, {"migrants", "9"}, {"archive", "20"}},
         {"'archive' is not a parameter of schedule 'evolutionary'"}},
        {{{"population", "8"}, {"migrants", "9"}},
         {"migrants must not be greater than population"}},
        {{{"strategy", "spea"}, {"replacements", "5"}, {"crossover_probability", "2"}},
         {"strategy: 'spea' is not ", "replacements: 5 is out of range",
          "crossover_probability: 2 is out of range"}}};
  }
  static std::vector<test::Unsuitable> unsuitable() {
    return {{test::sparse_cut(), {"gives one value"}}};
  }
};

struct AmosaTraits {
  static constexpr std::int64_t sweeps = 25;
  static ScheduleEntry entry() { return islands_of_24("amosa", "chains"); }
  static Problem problem() { return problems::zdt(4, 5); }
  static std::vector<test::Texts> variants() {
    return {{}, {{"archive", "20"}, {"temperature_spread", "0.01"}}, {{"epsilon", "0.2"}}};
  }
  static std::vector<test::Refused> refused() {
    return {{{{"archive", "3"}, {"chains", "0"}},
             {"archive: 3 is out of range: 4 .. 1048576", "chains: 0 is out of range"}},
            {{{"temperature", "0.1"}, {"temperature_end", "1"}},
             {"temperature_end must not be above temperature"}},
            {{{"crossover", "sbx"}}, {"'crossover' is not a parameter of schedule 'amosa'"}}};
  }
  static std::vector<test::Unsuitable> unsuitable() {
    return {{test::sparse_cut(), {"gives one value"}}};
  }
};

// Names of the instances are part of the test names: Evolutionary/ScheduleSuite.…
INSTANTIATE_TYPED_TEST_SUITE_P(Evolutionary, ScheduleSuite, EvolutionaryTraits);
INSTANTIATE_TYPED_TEST_SUITE_P(Amosa, ScheduleSuite, AmosaTraits);

/// With volumes measured up to the worst point of the true front, as the published ones are.
test::FrontMethod by(const std::string& strategy, std::vector<double> reference = {1, 1}) {
  test::FrontMethod chosen(strategy);
  chosen.reference = std::move(reference);
  return chosen;
}

Result search(const Problem& problem, const test::FrontMethod& chosen, std::int64_t sweeps,
              std::uint64_t seed = 1) {
  const auto schedule = chosen.schedule();
  RunOptions run = options(0, seed);
  run.threads = 2;
  const Result result = Engine(run).run(problem, *schedule, {.sweeps = sweeps});
  EXPECT_TRUE(result.verified) << problem.identity.name << " by " << chosen.strategy;
  return result;
}

double median_of_three(const std::function<double(std::uint64_t seed)>& value) {
  std::vector<double> values{value(1), value(2), value(3)};
  std::sort(values.begin(), values.end());
  return values[1];
}

double median_volume(const Problem& problem, const test::FrontMethod& chosen, std::int64_t sweeps) {
  return median_of_three(
      [&](auto seed) { return search(problem, chosen, sweeps, seed).objective; });
}

double median_distance(const Problem& problem, const test::FrontMethod& chosen,
                       std::int64_t sweeps) {
  const Points front = problem.objectives->true_front(1000);
  return median_of_three([&](auto seed) {
    return inverted_generational_distance(search(problem, chosen, sweeps, seed).front->points(),
                                          front);
  });
}

std::string all_advice(const Result& result) {
  std::string all;
  for (const std::string& one : result.advice) all += one;
  return all;
}

constexpr double min_by_nsga2 = 0.6565;

// 25,000 evaluations each. 100 points on the front of ZDT1 dominate at most 0.662228 below (1, 1),
// and all of it 2/3.
TEST(FrontMethods, EveryStrategyReachesTheFrontOfZdt1) {
  constexpr double best_of_100 = 0.662228;
  struct Case {
    const char* strategy;
    std::int64_t sweeps;
    double least;
  };
  for (const Case& one :
       {Case{"nsga2", 249, min_by_nsga2}, Case{"nsga3", 249, 0.6565}, Case{"moead", 249, 0.62},
        Case{"sms-emoa", 249, 0.660}, Case{"amosa", 2499, 0.645}}) {
    SCOPED_TRACE(one.strategy);
    const double volume = median_volume(problems::zdt(1), by(one.strategy), one.sweeps);
    EXPECT_GE(volume, one.least);
    EXPECT_LE(volume, best_of_100);
  }
}

TEST(FrontMethods, ReachesConcaveAndDeceptiveFronts) {
  EXPECT_GE(median_volume(problems::zdt(2), by("nsga2"), 249), 0.32);
  EXPECT_GE(median_volume(problems::zdt(4), by("nsga2"), 249), 0.63);
}

TEST(FrontMethods, SpreadsOverASphereByReferenceLines) {
  const Problem sphere = problems::dtlz(2);
  const double by_lines = median_distance(sphere, by("nsga3", {}), 249);
  EXPECT_LE(by_lines, 0.057);
  EXPECT_GE(median_distance(sphere, by("nsga2", {}), 249), 1.1 * by_lines)
      << "crowding distances do not spread points over a surface as evenly";
}

// With mutation alone, every variable at once and steps as long as the range, children forget their
// parents; what is left is random search that keeps its best.
TEST(FrontMethods, IsBetterThanRandomSearch) {
  test::FrontMethod random = by("nsga2");
  random.crossover = "none";
  random.mutation_probability = 1;
  random.mutation_index = 1e-9;
  EXPECT_LT(median_volume(problems::zdt(1), random, 249), 0.9 * min_by_nsga2);
}

TEST(FrontMethods, LosesTheFrontWithoutWhatSpreadsOrCools) {
  // Weighted sums have their minima at the ends of a concave front.
  test::FrontMethod sums = by("moead");
  sums.decomposition = "weighted-sum";
  const Problem concave = problems::zdt(2);
  const Result ends = search(concave, sums, 249), all = search(concave, by("moead"), 249);
  EXPECT_LT(ends.front->members.size(), 20u);
  EXPECT_GT(all.front->members.size(), 60u);
  EXPECT_GE(all.objective, 0.31);
  // At a high temperature the archive still keeps what it meets, but replicas do not go anywhere.
  test::FrontMethod hot = by("amosa");
  hot.temperature = hot.temperature_end = 1e6;
  EXPECT_LT(search(problems::zdt(1), hot, 999).objective,
            0.9 * search(problems::zdt(1), by("amosa"), 999).objective);
}

TEST(FrontMethods, NeverBeatsATrueFront) {
  for (const Problem& problem :
       {problems::zdt(1, 5), problems::zdt(2, 5), problems::zdt(3, 5), problems::zdt(6, 5),
        problems::zdt(5), problems::dtlz(2, 3, 2), problems::cdtlz("c2-dtlz2"), problems::wfg(4)}) {
    const Points front = problem.objectives->true_front(500);
    const Result result = search(problem, by("nsga2", {}), 100);
    for (const FrontMember& member : result.front->members) {
      std::vector<double> worse = member.values;
      for (double& value : worse) value += 1e-6;  // points of the front are rounded
      for (const std::vector<double>& point : front) {
        ASSERT_FALSE(dominates(worse, point)) << problem.identity.name;
      }
    }
  }
  // The volume of the unit cube beyond the sphere.
  EXPECT_LT(search(problems::dtlz(2), by("sms-emoa", {1, 1, 1}), 20).objective,
            1 - std::numbers::pi / 6);
}

// All members of all fronts, not only the volume.
TEST(FrontMethods, GivesTheSameFrontForAnyThreadsAndWithoutCapture) {
  const Problem problem = problems::dtlz(1);
  for (const char* strategy : {"nsga2", "nsga3", "moead", "sms-emoa", "amosa"}) {
    test::FrontMethod chosen = by(strategy, {});
    chosen.population = 20;
    chosen.islands = 3;
    chosen.migration_interval = 4;
    const auto front_with = [&](int threads, bool capture, std::uint64_t seed) {
      const auto schedule = chosen.schedule();
      RunOptions run = options(0, seed);
      run.threads = threads;
      run.executor = capture ? Executor::automatic : Executor::stream;
      return *Engine(run).run(problem, *schedule, {.sweeps = 30}).front;
    };
    const Front one = front_with(1, true, 5), other = front_with(3, false, 5);
    ASSERT_EQ(one.members.size(), other.members.size()) << strategy;
    for (std::size_t i = 0; i < one.members.size(); ++i) {
      ASSERT_EQ(one.members[i].values, other.members[i].values) << strategy;
      ASSERT_EQ(one.members[i].state, other.members[i].state) << strategy;
    }
    EXPECT_EQ(one.hypervolume, other.hypervolume) << strategy;
    EXPECT_NE(one.points(), front_with(1, true, 6).points()) << strategy;
  }
}

TEST(FrontMethods, MigrationBringsIslandsOn) {
  test::FrontMethod apart = by("nsga2");
  apart.population = 24;
  apart.islands = 4;
  apart.migration_interval = 0;
  test::FrontMethod joined = apart;
  joined.migration_interval = 10;
  EXPECT_GT(median_volume(problems::zdt(1), joined, 100),
            1.1 * median_volume(problems::zdt(1), apart, 100));
}

TEST(FrontMethods, KeepsOneMemberOfEachBox) {
  constexpr double epsilon = 0.04;
  for (const char* strategy : {"nsga2", "amosa"}) {
    test::FrontMethod chosen = by(strategy);
    chosen.epsilon = {epsilon};
    const Result result = search(problems::zdt(1), chosen, strategy[0] == 'a' ? 1999 : 199);
    Points boxes;
    for (const FrontMember& member : result.front->members) {
      boxes.push_back(
          {std::floor(member.values[0] / epsilon), std::floor(member.values[1] / epsilon)});
    }
    EXPECT_EQ(nondominated(boxes).size(), boxes.size()) << strategy << ": no box dominates another";
    for (std::size_t i = 1; i < boxes.size(); ++i) EXPECT_NE(boxes[i - 1], boxes[i]) << strategy;
    EXPECT_GT(boxes.size(), 10u) << strategy;
    EXPECT_LE(boxes.size(), 26u) << strategy << ": as many as there are in a row";
  }
}

TEST(FrontMethods, SaysWhatItChose) {
  const auto chosen = [](const Problem& problem, test::FrontMethod options) {
    options.islands = 2;
    return search(problem, options, 5).parameters;
  };
  EXPECT_EQ(chosen(problems::zdt(1), by("nsga2")).at("population"), "100");
  EXPECT_EQ(chosen(problems::zdt(1), by("nsga2")).at("migrants"), "5");
  EXPECT_EQ(chosen(problems::dtlz(2), by("nsga3", {})).at("population"), "92")
      << "91 reference lines, and everybody has a mate";
  EXPECT_EQ(chosen(problems::dtlz(2), by("moead", {})).at("population"), "91");
  EXPECT_EQ(chosen(problems::zdt(1), by("amosa")).at("archive"), "100");
  EXPECT_EQ(chosen(problems::zdt(1), by("amosa")).at("islands"), "2");
  EXPECT_EQ(chosen(problems::zdt(4), by("nsga2")).at("mutation_probability"), "0.1");
}

TEST(FrontMethods, StopsAtATargetOfTheVolume) {
  const auto schedule = by("nsga2").schedule();
  const Result result =
      Engine(options(0)).run(problems::zdt(1), *schedule, {.sweeps = 1000, .target = 0.5});
  EXPECT_EQ(result.stop, Stop::target_reached);
  EXPECT_GE(result.objective, 0.5);
  EXPECT_LT(result.work.sweeps, 249);
}

// The front of the disc brake has a volume of 0.96 after a few generations of NSGA-II and of 0.87
// at the end.
TEST(FrontMethods, HandsOutTheBestFrontThatWasSeen) {
  const Problem problem = builtin_registry().problem("re").make("33");
  for (const char* strategy : {"nsga2", "nsga3", "moead", "sms-emoa", "amosa"}) {
    SCOPED_TRACE(strategy);
    const auto schedule = by(strategy, {}).schedule();
    RunOptions run = options(0);
    run.report_interval_s = 0;
    double shown = 0;
    const Observers observers{[&](const ReportPoint& point) {
      if (point.has_best) shown = std::max(shown, point.best);
      return Next::go_on;
    }};

    const Result result = Engine(run).run(problem, *schedule, {.sweeps = 249}, observers);

    EXPECT_TRUE(result.verified);
    EXPECT_GT(shown, 0);
    EXPECT_GE(result.objective, shown * (1 - 1e-12));
    EXPECT_EQ(result.front->hypervolume, result.objective);
    EXPECT_NEAR(hypervolume(
                    [&] {
                      Points scaled;
                      for (const auto& p : result.front->points()) {
                        scaled.push_back(result.front->box.scaled(p));
                      }
                      return scaled;
                    }(),
                    result.front->box.reference),
                result.objective, 1e-9);
  }
}

TEST(FrontMethods, MeasuresFromTheReferenceThatUsersRead) {
  const Problem problem = problems::knapsack(30, 2, 1);
  const Result result = search(problem, by("nsga2", {10, 20}), 40);
  const std::vector<double> reference = result.front->box.reference_values();
  EXPECT_NEAR(reference[0], -10, 1e-9) << "profits are maximised, and stored with the sign changed";
  EXPECT_NEAR(reference[1], -20, 1e-9);
  const FrontBox& box = result.front->box;
  const double unit = (box.nadir[0] - box.ideal[0]) * (box.nadir[1] - box.ideal[1]);
  EXPECT_NEAR(result.objective * unit, hypervolume(result.front->points(), {-10, -20}),
              1e-9 * result.objective * unit);
}

TEST(FrontMethods, SaysWhenMembersLieBeyondTheReference) {
  EXPECT_NE(all_advice(search(problems::zdt(1), by("nsga2", {0.5, 0.5}), 249))
                .find("lie beyond the reference point"),
            std::string::npos);
  EXPECT_EQ(all_advice(search(problems::zdt(1), by("nsga2", {}), 249)), "");
}

TEST(FrontMethods, RefusesWhatDoesNotFitTheObjectives) {
  const auto refusal = [](const Problem& problem, const test::FrontMethod& chosen) {
    return complaint([&] { search(problem, chosen, 1); });
  };
  EXPECT_NE(refusal(problems::dtlz(2, 4), by("sms-emoa", {}))
                .find("strategy=sms-emoa supports two or three objectives, not 4"),
            std::string::npos);
  EXPECT_NE(refusal(problems::dtlz(2), by("nsga2", {1, 1}))
                .find("reference has 2 values for 3 objectives"),
            std::string::npos);
  test::FrontMethod boxes;
  boxes.epsilon = {0.1, 0.1};
  EXPECT_NE(refusal(problems::dtlz(2), boxes).find("epsilon has 2 values for 3 objectives"),
            std::string::npos);
  EXPECT_EQ(complaint([] {
              const auto schedule = by("nsga2").schedule();
              Engine(options(150)).run(problems::zdt(1), *schedule, {.sweeps = 1});
            }),
            "run.replicas: 150 replicas cannot be divided into groups of 100");
}

TEST(FrontMethods, IsForSeveralObjectivesAndOthersAreForOne) {
  const std::string of_one = complaint([] { search(test::sparse_cut(), by("nsga2", {}), 1); });
  EXPECT_EQ(of_one.substr(0, of_one.find(':')), "objective.outputs") << of_one;
  EXPECT_EQ(complaint([] {
              ParallelTempering schedule;
              Engine(options(0)).run(problems::zdt(1), schedule, {.sweeps = 1});
            }),
            "objective.outputs: objective 'zdt:1' gives 2 values");
}

}  // namespace
}  // namespace kiln::test::front_methods_test
