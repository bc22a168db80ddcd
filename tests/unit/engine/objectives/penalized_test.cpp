// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/objectives/penalized.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/objectives/turned.hpp"
#include "kiln/problems/expression.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "models/small_models.hpp"

namespace kiln::penalized_test {
namespace {

constexpr std::int32_t n = 8;

double ones_in(StateSpan state) {
  const auto bits = std::get<std::span<const std::int8_t>>(state.front());
  return std::accumulate(bits.begin(), bits.end(), 0.0);
}
/// How far the number of ones is from three, squared.
double off_three(StateSpan state) { return std::pow(ones_in(state) - 3, 2); }

Problem function(Sense sense) {
  Qubo qubo{n, {3, -5, 2, -1, 4, -6, 5, -2}, {}, 0};
  for (std::int32_t i = 0; i + 1 < n; ++i)
    qubo.quadratic.push_back({i, i + 1, i % 2 == 0 ? 3. : -4.});
  return make_qubo(qubo, sense, "function");
}

Result solve(const Problem& problem) {
  SimulatedAnnealing annealing;
  return Engine({.device = "cpu", .threads = 1, .replicas = 32})
      .run(problem, annealing, {.sweeps = 200});
}

/// The best penalised value of all states.
double best_of(const Problem& problem, double weight) {
  const bool most = problem.units.sense == Sense::maximize;
  double best = (most ? -1 : 1) * std::numeric_limits<double>::infinity();
  for (const State& state : test::all_states(n, false)) {
    const auto span = spans_of(state);
    const double penalty = weight * off_three(span);
    const double value = problem.solution.verify(span) + (most ? -penalty : penalty);
    best = most ? std::max(best, value) : std::min(best, value);
  }
  return best;
}

TEST(Penalized, RunsFindTheBestOfAllStates) {
  for (const Sense sense : {Sense::minimize, Sense::maximize}) {
    const Problem problem = function(sense);
    ASSERT_NE(ones_in(spans_of(solve(problem).solution)), 3) << "the penalty changes nothing here";
    const Result result = solve(penalized(problem, off_three, 100));
    EXPECT_TRUE(result.verified);
    EXPECT_EQ(result.objective, best_of(problem, 100));
    EXPECT_EQ(result.energy, sense == Sense::maximize ? -result.objective : result.objective);
    EXPECT_EQ(ones_in(spans_of(result.solution)), 3);
    // Between the two ends the best state violates a little.
    const Result weak = solve(penalized(problem, off_three, 1.5));
    EXPECT_EQ(weak.objective, best_of(problem, 1.5));
  }
}

TEST(Penalized, ProblemsAreTurnedAndPenalizedAgain) {
  const Problem problem = function(Sense::minimize);
  const Problem twice = penalized(penalized(problem, off_three, 60), off_three, 40);
  EXPECT_EQ(solve(twice).objective, best_of(problem, 100));
  const Problem other = penalized(turned(problem), off_three, 100);
  EXPECT_EQ(solve(other).objective, best_of(function(Sense::maximize), 100));
}

TEST(Penalized, ForgetsWhatIsNoLongerTrue) {
  Problem problem = function(Sense::minimize);
  problem.known.best = -20;
  problem.known.bound = -30;
  problem.start.schedule = "tabu-coloring";
  const Problem other = penalized(problem, off_three, 1);
  EXPECT_FALSE(other.known.best || other.known.bound);
  EXPECT_EQ(other.start.schedule, "");
}

TEST(Penalized, RefusesWeightsThatAreNone) {
  const Problem problem = function(Sense::minimize);
  for (const double weight : std::vector<double>{0, -1, INFINITY, std::nan("")}) {
    EXPECT_THROW(penalized(problem, off_three, weight), InvalidArgument) << weight;
  }
}

// The search would not see the constraints, or a penalty could outweigh theirs.
TEST(Penalized, RefusesConstraintsThatArePenaltiesAlready) {
  using Kind = problems::ExpressionVariable::Kind;
  const auto code_of = [](Kind kind, std::vector<std::string> constraints, bool turns) {
    const Problem problem = problems::make_expression_problem(
        {"x", {{"x", {}, 0, 9, kind}}, nullptr, Sense::minimize, std::move(constraints)});
    try {
      turns ? turned(problem)
            : penalized(
                  problem, [](StateSpan) { return 0.0; }, 1);
    } catch (const InvalidArgument& error) {
      return error.code();
    }
    return std::string("accepted");
  };
  for (const Kind kind : {Kind::real, Kind::integer}) {
    EXPECT_EQ(code_of(kind, {"x >= 3"}, false), "problem.penalty");
    EXPECT_EQ(code_of(kind, {"x >= 3"}, true), "problem.sense");
    EXPECT_EQ(code_of(kind, {}, false), "accepted");
    EXPECT_EQ(code_of(kind, {}, true), "accepted");
  }
}

// Constraints that the objective evaluates stay what they are.
TEST(Penalized, KeepsConstraintsOfTheObjective) {
  Problem problem = make_problem(make_constrained_host_objective(
      "bits", Space({{BlockKind::binary, n, 0, 1}}), 1, [](StateSpan state, std::span<double> g) {
        g[0] = ones_in(state) - 2;
        return -ones_in(state);
      }));
  const Problem other = penalized(problem, off_three, 1);
  EXPECT_EQ(other.objective->constraints(), 1);
  const State three{std::vector<std::int8_t>{1, 1, 1, 0, 0, 0, 0, 0}};
  EXPECT_EQ(other.solution.constraint_values(spans_of(three)), std::vector<double>{1});
  EXPECT_EQ(other.objective->constraint_reference()(spans_of(three)), std::vector<double>{1});
}

}  // namespace
}  // namespace kiln::penalized_test
