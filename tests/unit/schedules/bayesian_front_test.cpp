// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Bayesian search for fronts: few evaluations, each by expected hypervolume improvement.
#include "kiln/schedules/bayesian_front.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "kiln/archive.hpp"
#include "kiln/engine.hpp"
#include "kiln/fronts/indicators.hpp"
#include "kiln/objectives/vector_objective.hpp"
#include "kiln/problems/multi_objective.hpp"
#include "kiln/problems/multi_objective_discrete.hpp"

#include "backends/cpu_queue.hpp"
#include "front_method.hpp"
#include "schedule_fixtures.hpp"

namespace kiln::bayesian_front_test {
namespace {

using test::complaint;
using test::options;

BayesianFrontOptions by_models(std::int64_t batch = 1, std::int64_t studies = 1) {
  BayesianFrontOptions chosen;
  chosen.batch = batch;
  chosen.studies = studies;
  return chosen;
}

Result run_of(const Problem& problem, Schedule& schedule, std::int64_t steps, std::uint64_t seed,
              int threads) {
  RunOptions run = options(0, seed);
  run.threads = threads;
  const Result result = Engine(run).run(problem, schedule, {.sweeps = steps});
  EXPECT_TRUE(result.verified) << problem.identity.name;
  return result;
}

Result search(const Problem& problem, const BayesianFrontOptions& chosen, std::int64_t batches,
              std::uint64_t seed = 1, int threads = 2) {
  BayesianFront schedule(chosen);
  return run_of(problem, schedule, batches, seed, threads);
}

/// The volume that `evaluations` of another method reach: 20 members and their children.
double volume_by_population(const Problem& problem, const std::string& method,
                            std::int64_t evaluations, std::uint64_t seed) {
  test::FrontMethod chosen(method);
  chosen.population = 20;
  return run_of(problem, *chosen.schedule(), evaluations / 20 - 1, seed, 2).objective;
}

/// The same of uniform points: the first population of one generation that has no children.
double volume_at_random(const Problem& problem, std::int64_t evaluations, std::uint64_t seed) {
  test::FrontMethod chosen;
  chosen.population = evaluations;
  chosen.crossover = "none";
  chosen.mutation_probability = 1e-300;
  return run_of(problem, *chosen.schedule(), 1, seed, 2).objective;
}

std::string text_of(const Result& result) {
  std::string text;
  for (const FrontMember& member : result.front->members) {
    for (const double x : member.values) text += std::to_string(x) + " ";
    text += "\n";
  }
  return text;
}

// The whole front of ZDT1 has 0.8767 in this box.
TEST(BayesianFront, NeedsFewEvaluationsOfZdt1) {
  const Problem problem = problems::zdt(1, 5);
  const Result result = search(problem, by_models(), 40);
  EXPECT_EQ(result.diagnostics.at("evaluations"), 40);
  EXPECT_GT(result.objective, 0.83);
  EXPECT_LT(result.objective, 0.8767);
  EXPECT_LT(volume_by_population(problem, "nsga2", 40, 1), 0.5);
  EXPECT_LT(volume_at_random(problem, 40, 1), 0.5);
}

// The whole front of DTLZ2 has 0.6066 * 1.331 = 0.8074.
TEST(BayesianFront, NeedsFewEvaluationsOfThreeObjectives) {
  const Problem problem = problems::dtlz(2, 3, 3);
  const Result result = search(problem, by_models(4), 12);
  EXPECT_EQ(result.diagnostics.at("evaluations"), 48);
  EXPECT_LT(result.objective, 0.8074);
  const double others =
      std::max(volume_by_population(problem, "nsga2", 60, 1), volume_at_random(problem, 60, 1));
  EXPECT_GT(result.objective, others + 0.1);
}

TEST(BayesianFront, MeasuresAroundItsDesignWhereNoFrontIsKnown) {
  const auto function = [](StateSpan state, std::span<double> f, std::span<double>) {
    const auto x = std::get<std::span<const double>>(state[0]);
    f[0] = x[0] * x[0] + x[1] * x[1];
    f[1] = -100 * ((x[0] - 1) * (x[0] - 1) + x[1] * x[1]);
  };
  Problem problem = make_multi_objective_problem(
      "own", "host",
      make_host_vector_objective("own", Space::reals(2, -2, 2), 2, 0, function, true));
  const Result design = search(problem, by_models(), 4);
  EXPECT_FALSE(design.front->members.empty());
  const Result result = search(problem, by_models(), 12);
  EXPECT_GT(result.objective, 0);
  EXPECT_FALSE(result.front->box.ideal.empty());
}

TEST(BayesianFront, EvaluatesNoPointTwiceAndKeepsAllOfASmallSpace) {
  // As many ones as possible against as few as possible: every number of ones is on the front.
  int calls = 0;
  const Problem problem = make_multi_objective_problem(
      "ones", "host",
      make_host_vector_objective(
          "ones", Space::binary(5), 2, 0,
          [&calls](StateSpan state, std::span<double> f, std::span<double>) {
            const auto bits = std::get<std::span<const std::int8_t>>(state[0]);
            f[0] = static_cast<double>(std::ranges::count(bits, 1));
            f[1] = 5 - f[0];
            ++calls;
          },
          false));
  BayesianFrontOptions chosen = by_models(2);
  chosen.reference = {6, 6};
  const Result result = search(problem, chosen, 10, 1, 1);
  EXPECT_EQ(result.front->members.size(), 6u);
  EXPECT_EQ(result.diagnostics.at("evaluations"), 20);
}

TEST(BayesianFront, EvaluatesNoValueOfALongRangeOfIntegersTwice) {
  std::vector<std::vector<std::int32_t>> seen;
  const Problem problem = make_multi_objective_problem(
      "range", "host",
      make_host_vector_objective(
          "range", Space::integers(1, 0, 5000), 2, 0,
          [&seen](StateSpan state, std::span<double> f, std::span<double>) {
            const auto x = std::get<std::span<const std::int32_t>>(state[0]);
            const double u = x[0] / 5000.0;
            f[0] = (u - 0.37) * (u - 0.37);
            f[1] = (u - 0.371) * (u - 0.371);
            seen.emplace_back(x.begin(), x.end());
          },
          false));
  BayesianFrontOptions chosen = by_models(2);
  chosen.reference = {1, 1};
  BayesianFront schedule(chosen);
  RunOptions run = options(0, 1);
  run.threads = 1;
  kiln::Run search(problem, schedule, {.sweeps = 20}, run, open_backend("cpu", 1));
  seen.clear();
  search.advance();
  ASSERT_GE(seen.size(), 40u);
  seen.resize(40);  // the others are those of the front, once more on the host
  std::ranges::sort(seen);
  EXPECT_EQ(std::ranges::adjacent_find(seen), seen.end());
}

TEST(BayesianFront, GoesOnAfterEvaluationsWithoutNumbers) {
  const auto function = [](StateSpan state, std::span<double> f, std::span<double>) {
    const auto x = std::get<std::span<const double>>(state[0]);
    f[0] = x[0];
    f[1] = x[0] < 0.5 ? std::numeric_limits<double>::quiet_NaN() : (1 + x[1]) / x[0];
  };
  const Problem problem = make_multi_objective_problem(
      "half", "host",
      make_host_vector_objective("half", Space::reals(2, 0, 1), 2, 0, function, true));
  const Result result = search(problem, by_models(), 14);
  EXPECT_GT(result.diagnostics.at("failed_evaluations"), 0);
  EXPECT_EQ(result.diagnostics.at("failed_evaluations"),
            static_cast<double>(result.work.not_finite));
  ASSERT_FALSE(result.front->members.empty());
  EXPECT_GE(result.front->members.front().values[0], 0.5);
  EXPECT_NE(result.advice.front().find("failed evaluations: "), std::string::npos);
}

TEST(BayesianFront, DoesNotDependOnThreadsAndSearchesIslandsApart) {
  const Problem problem = problems::zdt(2, 3);
  const Result one = search(problem, by_models(2, 2), 6, 3, 1);
  EXPECT_EQ(text_of(one), text_of(search(problem, by_models(2, 2), 6, 3, 2)));
  EXPECT_EQ(one.diagnostics.at("evaluations"), 24);
  EXPECT_NE(text_of(one), text_of(search(problem, by_models(2, 2), 6, 4, 2)));
}

struct TwoResults {
  Result expected, resumed;
};

// Of a run of 11 batches in one piece, and of one that another object goes on with.
TwoResults resumed_after(const Problem& problem, std::int64_t batches) {
  const OpenedBackend cpu = open_backend("cpu", 1);
  const Budget half{.sweeps = batches}, whole{.sweeps = 11};
  BayesianFront a(by_models()), b(by_models()), c(by_models());
  kiln::Run uninterrupted(problem, a, whole, options(0, 5), cpu);
  Archive archive;
  {
    kiln::Run first(problem, b, whole, options(0, 5), cpu);
    first.advance_to(half);
    first.save(archive);
  }
  kiln::Run second(problem, c, whole, options(0, 5), cpu);
  second.load(archive);
  return {uninterrupted.advance(), second.advance()};
}

TEST(BayesianFront, ResumedEqualsUninterrupted) {
  const Problem problem = problems::zdt(2, 3);
  const auto [expected, resumed] = resumed_after(problem, 7);
  EXPECT_EQ(text_of(resumed), text_of(expected));
  EXPECT_EQ(resumed.objective, expected.objective);
}

/// As near to the origin as possible, on a ring that 2.5 % of the square lie on: g1 keeps points
/// out of a circle of radius 0.8, g2 within one of 0.82. The front is the inner arc; in its box,
/// which is that of the unit circle, it leaves 1.1^2 - pi / 4 = 0.4246 below the reference.
Problem ring() {
  Objectives objectives;
  objectives.ideal = {0, 0};
  objectives.nadir = {0.8, 0.8};
  objectives.constrained = true;
  return make_multi_objective_problem(
      "ring", "host",
      make_host_vector_objective(
          "ring", Space::reals(2, 0, 1), 2, 2,
          [](StateSpan state, std::span<double> f, std::span<double> g) {
            const auto x = std::get<std::span<const double>>(state[0]);
            const double square = x[0] * x[0] + x[1] * x[1];
            f[0] = x[0];
            f[1] = x[1];
            g[0] = 0.64 - square;
            g[1] = square - 0.6724;
          },
          true),
      objectives);
}

std::int64_t feasible_in(const Evaluations& evaluations) {
  return std::ranges::count_if(evaluations.all, [](const Evaluation& one) {
    return std::ranges::all_of(one.constraints, [](double g) { return g <= 0; });
  });
}

TEST(BayesianFront, LooksForWhatIsFeasible) {
  const Problem problem = ring();
  const Result result = search(problem, by_models(), 45);
  EXPECT_EQ(result.diagnostics.at("evaluations"), 45);
  ASSERT_FALSE(result.front->members.empty());
  for (const FrontMember& member : result.front->members) {
    const double radius = std::hypot(member.values[0], member.values[1]);
    EXPECT_GE(radius, 0.8);
    EXPECT_LE(radius, 0.82);
  }
  EXPECT_GE(feasible_in(*result.evaluations), 12) << "of 45, of which one would be by chance";
  EXPECT_LT(result.objective, 1.21 - 0.25 * 3.14159265);
  EXPECT_GT(result.objective, 0.35);
  EXPECT_LT(volume_at_random(problem, 45, 1), 0.26);
}

TEST(BayesianFront, HandsOutEveryEvaluationAsSoonAsItIsThere) {
  const Problem problem = ring();
  BayesianFront schedule(by_models(2));
  RunOptions run_options = options(0, 3);
  std::vector<Evaluation> seen;
  run_options.on_evaluation = [&](const Evaluation& one) { seen.push_back(one); };
  kiln::Run run(problem, schedule, {.sweeps = 6}, run_options, open_backend("cpu", 1));
  run.advance_to({.sweeps = 3});
  EXPECT_EQ(seen.size(), 6u);
  const Result result = run.advance();
  const std::vector<Evaluation>& all = result.evaluations->all;
  ASSERT_EQ(seen.size(), 12u);
  ASSERT_EQ(all.size(), 12u);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(seen[i].state, all[i].state);
    EXPECT_EQ(seen[i].objectives, all[i].objectives);
    EXPECT_EQ(seen[i].batch, static_cast<std::int64_t>(i / 2 + 1));
    const auto& x = std::get<std::vector<double>>(all[i].state[0]);
    EXPECT_EQ(all[i].objectives, x);
    EXPECT_EQ(all[i].value, x[0]);
    const double square = x[0] * x[0] + x[1] * x[1];
    EXPECT_EQ(all[i].constraints, (std::vector<double>{0.64 - square, square - 0.6724}));
  }
}

// The second objective is maximised, so that signs matter.
TEST(BayesianFront, GoesOnFromPastEvaluations) {
  const auto function = [](StateSpan state, std::span<double> f, std::span<double>) {
    const auto x = std::get<std::span<const double>>(state[0]);
    f[0] = x[0];
    f[1] = -(1 - x[0] * x[0] - x[1]);
  };
  Objectives objectives;
  objectives.maximized = {false, true};
  const Problem problem = make_multi_objective_problem(
      "own", "host", make_host_vector_objective("own", Space::reals(2, 0, 1), 2, 0, function, true),
      objectives);
  const Result before = search(problem, by_models(), 12);
  BayesianFront schedule(by_models());
  for (const Evaluation& one : before.evaluations->all) {
    schedule.add_past(one.state, one.objectives, one.constraints);
  }
  EXPECT_FALSE(before.diagnostics.contains("past_evaluations"));
  const Result after = Engine(options(0, 9)).run(problem, schedule, {.sweeps = 5});
  EXPECT_EQ(after.diagnostics.at("evaluations"), 5);
  EXPECT_EQ(after.diagnostics.at("past_evaluations"), 12);
  EXPECT_TRUE(after.verified);
  EXPECT_EQ(after.front->box.ideal, before.front->box.ideal) << "its points are known";
  EXPECT_EQ(after.front->box.nadir, before.front->box.nadir);
  EXPECT_GE(after.objective, before.objective);
  const std::vector<Evaluation>& all = after.evaluations->all;
  ASSERT_EQ(all.size(), 17u);
  for (std::size_t i = 0; i < 17; ++i) {
    EXPECT_EQ(all[i].batch, i < 12 ? 0 : static_cast<std::int64_t>(i) - 11);
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(all[i].state, all[j].state) << i << " " << j;
  }
  // Models that know twelve points find better ones than a design of five.
  EXPECT_GT(after.objective, search(problem, by_models(), 5, 9).objective);
}

TEST(BayesianFront, ResumesWithConstraintsAndWithoutABox) {
  Problem problem = ring();
  Objectives objectives = *problem.objectives;
  objectives.ideal.clear();
  objectives.nadir.clear();
  problem.objectives = std::make_shared<const Objectives>(objectives);
  const auto [expected, resumed] = resumed_after(problem, 3);
  ASSERT_EQ(resumed.evaluations->all.size(), 11u);
  for (std::size_t i = 0; i < 11; ++i) {
    const Evaluation &one = resumed.evaluations->all[i], &other = expected.evaluations->all[i];
    EXPECT_EQ(one.state, other.state) << i;
    EXPECT_EQ(one.objectives, other.objectives) << i;
    EXPECT_EQ(one.constraints, other.constraints) << i;
    EXPECT_EQ(one.batch, other.batch) << i;
  }
  EXPECT_EQ(resumed.front->box.ideal, expected.front->box.ideal);
}

TEST(BayesianFront, RefusesWhatItHasNoModelsFor) {
  const auto refusal = [](const Problem& problem) {
    return complaint([&] { search(problem, by_models(), 1); });
  };
  EXPECT_NE(
      refusal(problems::dtlz(2, 5)).find("bayesian-front supports two to four objectives, not 5"),
      std::string::npos);
}

}  // namespace
}  // namespace kiln::bayesian_front_test
