// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/bayesian_optimization.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "kiln/observer.hpp"
#include "kiln/problems/constrained.hpp"
#include "kiln/problems/continuous.hpp"
#include "kiln/problems/multi_objective.hpp"
#include "kiln/problems/table.hpp"

#include "backends/cpu_queue.hpp"
#include "schedule_fixtures.hpp"
#include "schedule_suite.hpp"

namespace kiln::test::bayesian_optimization_test {
namespace {

using test::complaint;
using test::options;

const test::Texts quick_texts{{"candidates", "128"}, {"starts", "2"}, {"restarts", "1"}};

// Twelve studies of four points each: the replicas of the suite.
ScheduleEntry quick_entry() {
  ScheduleEntry entry = builtin_registry().schedule("bayesian-optimization");
  entry.make = [make = entry.make](test::Texts texts) {
    texts.try_emplace("batch", "4");
    for (const auto& [name, value] : quick_texts) texts.try_emplace(name, value);
    return make(texts);
  };
  return entry;
}

Problem mixed_problem() {
  const Space space({{BlockKind::category, 1, 0, 2}, {BlockKind::real, 1, -1, 2}});
  Problem problem = make_problem(make_host_objective("mixed", space, [](StateSpan state) {
    const auto c = std::get<std::span<const std::int32_t>>(state[0])[0];
    const double x = std::get<std::span<const double>>(state[1])[0];
    return (x - 0.3 * c) * (x - 0.3 * c) + (c == 1 ? 0.0 : 0.4);
  }));
  problem.coordinates = {{"catalyst", true, {}}, {"heat", false, {}}};
  return problem;
}

Problem of_permutations() {
  return make_problem(make_host_objective(
      "order", Space::permutation(4), [](std::span<const std::int32_t> p) { return 1.0 * p[0]; }));
}

Problem without_bounds() {
  constexpr double far = std::numeric_limits<double>::infinity();
  return make_problem(make_host_objective("everywhere", Space::reals(2, -far, far),
                                          [](std::span<const double> x) { return x[0]; }));
}

struct BayesianTraits {
  static constexpr std::int64_t sweeps = 3;
  static constexpr bool host_paced = true;
  static ScheduleEntry entry() { return quick_entry(); }
  static Problem problem() { return problems::function_by_name("branin"); }
  static std::vector<test::Texts> variants() {
    return {{},
            {{"acquisition", "thompson"}, {"design", "latin-hypercube"}},
            {{"batch", "4"}, {"fantasies", "3"}},
            {{"trust_regions", "2"}, {"initial", "3"}, {"batch", "8"}}};
  }
  static std::vector<test::Refused> refused() {
    return {{{{"initial", "7"},
              {"evaluations", "6"},
              {"acquisition", "logei"},
              {"fantasies", "3"},
              {"failures", "2"}},
             {"initial must not be greater than evaluations (6)",
              "fantasies needs acquisition=qlogei", "failures needs trust_regions"}},
            {{{"acquisition", "luck"}, {"batch", "0"}},
             {"acquisition: 'luck' is not ", "batch: 0 is out of range"}}};
  }
  static std::vector<test::Unsuitable> unsuitable() {
    return {{of_permutations(), {"no permutations"}},
            {without_bounds(), {"needs bounds for all variables"}},
            {problems::zdt(1, 5), {"values"}}};
  }
};

// Names of the instances are part of the test names: BayesianOptimization/ScheduleSuite.…
INSTANTIATE_TYPED_TEST_SUITE_P(BayesianOptimization, ScheduleSuite, BayesianTraits);

BayesianOptimizationOptions quick() {
  BayesianOptimizationOptions chosen;
  chosen.candidates = 256;
  chosen.starts = 4;
  chosen.restarts = 2;
  return chosen;
}

Result search(const Problem& problem, const BayesianOptimizationOptions& chosen,
              const Budget& budget, const Observers& observers = {}) {
  BayesianOptimization schedule(chosen);
  return Engine(options(0)).run(problem, schedule, budget, observers);
}

TEST(BayesianOptimization, EndsByItselfAndKeepsAllEvaluations) {
  BayesianOptimizationOptions chosen = quick();
  chosen.evaluations = 14;
  chosen.batch = 4;
  chosen.studies = 2;
  const Problem problem = mixed_problem();
  const Result result = search(problem, chosen, {});
  EXPECT_EQ(result.stop, Stop::converged);
  EXPECT_EQ(result.work.sweeps, 4);
  ASSERT_TRUE(result.evaluations);
  const std::vector<Evaluation>& all = result.evaluations->all;
  ASSERT_EQ(all.size(), 28u);  // 14 each: three batches of 4 and one of 2
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].batch, static_cast<std::int64_t>(i / 8 + 1));
    EXPECT_EQ(all[i].study, static_cast<std::int64_t>(i < 24 ? i % 8 / 4 : (i - 24) / 2));
    EXPECT_EQ(all[i].value, problem.solution.verify(spans_of(all[i].state)));
    best = std::min(best, all[i].value);
  }
  EXPECT_EQ(result.objective, best);
  EXPECT_EQ(result.series.at("best_by_sweep").size(), 4u);
  const ModelSummary& model = result.evaluations->model;
  ASSERT_EQ(model.lengths.size(), 2u);
  EXPECT_EQ(model.lengths[0].first, "catalyst");
  EXPECT_EQ(model.lengths[1].first, "heat");
}

// Every evaluation may cost an hour: the function itself counts its calls.
TEST(BayesianOptimization, MakesExactlyTheEvaluationsThatItIsTold) {
  const auto calls_of = [](std::int64_t evaluations, std::int64_t batch, std::int64_t studies,
                           bool beside_sweeps) {
    std::int64_t calls = 0;
    Problem problem = make_problem(
        make_host_objective("counted", Space::reals(1, 0, 1), [&](std::span<const double> x) {
          ++calls;
          return (x[0] - 0.3) * (x[0] - 0.3);
        }));
    problem.solution.verify = [](StateSpan state) {  // not counted
      const double x = std::get<std::span<const double>>(state[0])[0];
      return (x - 0.3) * (x - 0.3);
    };
    BayesianOptimizationOptions chosen = quick();
    chosen.evaluations = evaluations;
    chosen.batch = batch;
    chosen.studies = studies;
    BayesianOptimization schedule(chosen);
    Budget budget;
    if (beside_sweeps) {
      schedule.end_at_evaluations();
      budget.sweeps = (evaluations + batch - 1) / batch;
    }
    const Result result = Engine(options(0)).run(problem, schedule, budget);
    EXPECT_EQ(result.diagnostics.at("evaluations"), static_cast<double>(evaluations * studies));
    const std::int64_t initial = std::stoll(schedule.parameters().at("initial"));
    EXPECT_LE(initial, evaluations);
    return calls;
  };
  for (const std::int64_t evaluations : {1, 3, 4, 5, 7, 9}) {
    for (const std::int64_t batch : {1, 2, 4}) {
      EXPECT_EQ(calls_of(evaluations, batch, 1, false), evaluations) << batch;
      EXPECT_EQ(calls_of(evaluations, batch, 1, true), evaluations) << batch;
      EXPECT_EQ(calls_of(evaluations, batch, 3, false), 3 * evaluations) << batch;
    }
  }
}

TEST(BayesianOptimization, SweepsAloneAreWholeBatches) {
  const Problem problem = problems::function_by_name("branin");
  BayesianOptimizationOptions chosen = quick();
  chosen.evaluations = 5;
  chosen.batch = 4;
  EXPECT_EQ(search(problem, chosen, {.sweeps = 2}).evaluations->all.size(), 8u);
}

TEST(BayesianOptimization, DesignsFillWholeBatchesUnlessTheseAreLarger) {
  const Problem problem = problems::function_by_name("hartmann6");  // 3 sqrt(6): 8 points
  for (const auto& [batch, designs] : std::map<std::int64_t, const char*>{
           {1, "8"}, {2, "8"}, {3, "9"}, {5, "10"}, {6, "6"}, {8, "8"}, {9, "8"}}) {
    BayesianOptimizationOptions chosen = quick();
    chosen.batch = batch;
    BayesianOptimization schedule(chosen);
    (void)Engine(options(0)).run(problem, schedule, {.sweeps = 1});
    EXPECT_EQ(schedule.parameters().at("initial"), designs) << batch;
  }
}

TEST(BayesianOptimization, AStudyOfManyIsAsItIsAlone) {
  const Problem problem = problems::function_by_name("branin");
  BayesianOptimizationOptions chosen = quick();
  const Result alone = search(problem, chosen, {.sweeps = 10});
  chosen.studies = 3;
  const Result together = search(problem, chosen, {.sweeps = 10});
  std::vector<State> of_first;
  for (const Evaluation& one : together.evaluations->all) {
    if (one.study == 0) of_first.push_back(one.state);
  }
  ASSERT_EQ(of_first.size(), alone.evaluations->all.size());
  for (std::size_t i = 0; i < of_first.size(); ++i) {
    EXPECT_EQ(of_first[i], alone.evaluations->all[i].state) << "evaluation " << i;
  }
}

// A region that starts again asks for another design.
TEST(BayesianOptimization, LatinHypercubesNeverEndASearchOfReals) {
  const Problem problem = problems::function_by_name("ackley-2");
  BayesianOptimizationOptions chosen = quick();
  chosen.design = "latin-hypercube";
  chosen.trust_regions = 1;
  BayesianOptimization schedule(chosen);
  const Result result = Engine(options(0)).run(problem, schedule, {.sweeps = 120});
  EXPECT_EQ(result.diagnostics.at("evaluations"), 120);
  EXPECT_GT(result.diagnostics.at("region_restarts"), 0) << "else nothing is tested";
  for (const std::string& advice : result.advice) {
    EXPECT_EQ(advice.find("every point of the space"), std::string::npos) << advice;
  }
}

TEST(BayesianOptimization, ValuesAreInTheSenseOfTheUser) {
  Problem problem = mixed_problem();
  const auto f = problem.solution.verify;
  problem.units.sense = Sense::maximize;
  problem.units.objective_of_stored = {10, -1};
  problem.solution.verify = [f](StateSpan state) { return 10 - f(state); };
  BayesianOptimization schedule(quick());
  const State past{std::vector<std::int32_t>{1}, std::vector<double>{0.3}};
  schedule.add_past(past, 10.0);
  const Result result = Engine(options(0)).run(problem, schedule, {.sweeps = 8});
  const std::vector<Evaluation>& all = result.evaluations->all;
  ASSERT_EQ(all.size(), 9u);
  EXPECT_EQ(all[0].batch, 0);
  EXPECT_EQ(all[0].value, 10.0);
  for (const Evaluation& one : all) EXPECT_NEAR(one.value, 10 - f(spans_of(one.state)), 1e-12);
  EXPECT_EQ(result.series.at("best_by_sweep").front(), 10.0);
  const auto says = [](const std::string& one) { return one.find("past") != std::string::npos; };
  EXPECT_EQ(std::ranges::count_if(result.advice, says), result.objective < 10 ? 1 : 0);
}

TEST(BayesianOptimization, PastEvaluationsAreADesign) {
  const Problem problem = problems::function_by_name("branin");
  BayesianOptimization schedule(quick());
  const Result before = search(problem, quick(), {.sweeps = 6});
  for (const Evaluation& one : before.evaluations->all) {
    schedule.add_past(one.state, one.value);
  }
  bool fitted = false;
  const Observers look{[&](const ReportPoint& point) {
    for (const auto& [name, value] : point.notes) fitted |= name == "model_fit" && value == value;
    return Next::go_on;
  }};
  Engine(options(0)).run(problem, schedule, {.sweeps = 1}, look);
  EXPECT_TRUE(fitted) << "the first point is the model's";
}

TEST(BayesianOptimization, RefusesPastEvaluationsOfOtherSpaces) {
  BayesianOptimization schedule(quick());
  schedule.add_past({std::vector<double>{0.5, 99}}, 1);
  EXPECT_EQ(complaint([&] {
              Engine(options(0)).run(problems::function_by_name("branin"), schedule, {.sweeps = 1});
            }),
            "state.value: variable 2 of block 1 has a value that the kind real does not allow");
}

TEST(BayesianOptimization, ReportPointsSayWhatTheModelExpects) {
  std::vector<ReportPoint> points;
  RunOptions run = options(0);
  run.report_interval_s = 0;
  BayesianOptimization schedule(quick());
  Engine(run).run(problems::function_by_name("branin"), schedule, {.sweeps = 9},
                  {[&](const ReportPoint& point) {
                    points.push_back(point);
                    return Next::go_on;
                  }});
  ASSERT_FALSE(points.empty());
  const auto& notes = points.back().notes;
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_EQ(notes[0].first, "evaluations");
  EXPECT_EQ(notes[0].second, 9);
  EXPECT_EQ(notes[1].first, "expected_gain");
  EXPECT_GT(notes[1].second, 0);
  EXPECT_EQ(notes[2].first, "model_fit");
  EXPECT_LE(notes[2].second, 1);
}

TEST(BayesianOptimization, ASmallTableIsReadToItsEnd) {
  std::istringstream text("a,b,y\nx,1,5\nx,2,6\nz,1,9\nz,2,7\nw,1,8\n");
  const Problem table =
      problems::make_table_problem(problems::read_table(text, "t.csv", {"y"}), "table:t.csv");
  BayesianOptimizationOptions chosen = quick();
  for (const std::int64_t batch : {1, 3}) {
    chosen.batch = batch;
    const Result result = search(table, chosen, {});
    EXPECT_EQ(result.objective, 9);
    EXPECT_EQ(result.stop, Stop::converged);
    EXPECT_EQ(result.evaluations->all.size(), 5u) << "each row once";
    ASSERT_FALSE(result.advice.empty());
    EXPECT_NE(result.advice.back().find("every point of the space"), std::string::npos);
  }
}

TEST(BayesianOptimization, MeetsTheConstraintsOfGramacy) {
  const Problem gramacy = problems::constrained_by_name("gramacy");
  BayesianOptimizationOptions chosen = quick();
  chosen.candidates = 1024;
  chosen.starts = 8;
  const Result result = search(gramacy, chosen, {.sweeps = 40});
  EXPECT_TRUE(result.feasible());
  EXPECT_TRUE(result.verified);
  EXPECT_LT(result.objective, 0.5998 + 0.02);
  for (const Evaluation& one : result.evaluations->all) EXPECT_EQ(one.constraints.size(), 2u);
}

TEST(BayesianOptimization, FailedEvaluationsAreCounted) {
  const Problem problem = make_problem(
      make_host_objective("half", Space::reals(2, 0, 1), [](std::span<const double> x) {
        return x[0] < 0.5 ? std::numeric_limits<double>::quiet_NaN() : x[0] + x[1];
      }));
  const Result result = search(problem, quick(), {.sweeps = 16});
  EXPECT_LT(result.objective, 0.9);
  const auto& all = result.evaluations->all;
  const auto failed =
      std::ranges::count_if(all, [](const Evaluation& one) { return std::isnan(one.value); });
  EXPECT_GT(failed, 0);
  EXPECT_EQ(result.diagnostics.at("failed_evaluations"), static_cast<double>(failed));
}

TEST(BayesianOptimization, NothingIsFoundWhereEverythingFails) {
  const Problem problem = make_problem(make_host_objective(
      "nothing", Space::reals(2, 0, 1),
      [](std::span<const double>) { return std::numeric_limits<double>::quiet_NaN(); }));
  EXPECT_THROW(search(problem, quick(), {.sweeps = 8}), ObjectiveError);
}

// Noise is fitted where evaluations may differ, and nowhere else.
TEST(BayesianOptimization, FitsNoiseToNoisyExperimentsAlone) {
  const auto values = [](const Problem& problem, const std::string& noise) {
    BayesianOptimizationOptions chosen;
    chosen.evaluations = 14;
    chosen.noise = noise;
    BayesianOptimization schedule(chosen);
    const Result result = Engine(options(0, 3)).run(problem, schedule, {});
    std::vector<double> all;
    for (const Evaluation& one : result.evaluations->all) all.push_back(one.value);
    return all;
  };
  const Problem exact = problems::function_by_name("branin");
  Problem noisy = exact;
  noisy.experiment.emplace().noisy = true;
  EXPECT_EQ(values(exact, "automatic"), values(exact, "none"));
  EXPECT_EQ(values(noisy, "automatic"), values(noisy, "fitted"));
  EXPECT_NE(values(exact, "none"), values(exact, "fitted")) << "else nothing is told apart";
}

TEST(BayesianOptimization, AFinishedRunGoesOn) {
  const Problem problem = problems::function_by_name("branin");
  BayesianOptimization one(quick()), two(quick());
  const OpenedBackend cpu = open_backend("cpu", 1);
  kiln::Run whole(problem, one, {.sweeps = 10}, options(0), cpu);
  kiln::Run half(problem, two, {.sweeps = 10}, options(0), cpu);
  const Result expected = whole.advance();
  half.advance_to({.sweeps = 7});
  Archive archive;
  half.save(archive);
  BayesianOptimization three(quick());
  kiln::Run rest(problem, three, {.sweeps = 10}, options(0), cpu);
  rest.load(archive);
  const Result result = rest.advance();
  ASSERT_EQ(result.evaluations->all.size(), 10u);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(result.evaluations->all[i].state, expected.evaluations->all[i].state) << i;
    EXPECT_EQ(result.evaluations->all[i].batch, static_cast<std::int64_t>(i) + 1);
  }
  EXPECT_EQ(result.series, expected.series);
}

}  // namespace
}  // namespace kiln::test::bayesian_optimization_test
