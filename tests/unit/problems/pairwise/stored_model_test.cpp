// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "pairwise/stored_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kiln/problems/pairwise.hpp"
#include "kiln/replica_batch.hpp"

#include "backends/cpu_queue.hpp"
#include "models/small_models.hpp"
#include "pairwise/pairwise_objective.hpp"
#include "pairwise/stored_scale.hpp"

namespace kiln::problems::stored_model_test {
namespace {

using test::all_states;
using test::random_graph;
using test::random_ising;
using test::values_of;

std::vector<double> stored_energies(const Objective& objective, const std::vector<State>& states) {
  const auto queue = test::cpu_queue();
  const auto count = static_cast<std::int64_t>(states.size());
  ReplicaBatch batch(*queue, objective.space(), objective.execution().layouts, {count, 1, 1});
  batch.write_states(states);
  objective.bind(*queue)->as<Evaluates>()->evaluate({batch, batch.energy(), {}, nullptr}, *queue);
  std::vector<double> energies = batch.read_energies(false);
  energies.resize(states.size());
  return energies;
}

// The value of a state as sum of integers of the coefficients.
std::int64_t value_of(const Qubo& whole, const std::vector<std::int8_t>& x) {
  double value = whole.offset;
  for (std::size_t i = 0; i < whole.linear.size(); ++i) value += whole.linear[i] * x[i];
  for (const QuboTerm& t : whole.quadratic) {
    value += t.value * x[static_cast<std::size_t>(t.i)] * x[static_cast<std::size_t>(t.j)];
  }
  return static_cast<std::int64_t>(value);
}
std::int64_t value_of(const Ising& whole, const std::vector<std::int8_t>& s) {
  double value = whole.offset;
  for (std::size_t i = 0; i < whole.fields.size(); ++i) value += whole.fields[i] * s[i];
  for (const Edge& e : whole.couplings) {
    value += e.weight * s[static_cast<std::size_t>(e.u)] * s[static_cast<std::size_t>(e.v)];
  }
  return static_cast<std::int64_t>(value);
}
std::int64_t value_of(const Graph& whole, const std::vector<std::int8_t>& s) {
  double value = 0;
  for (const Edge& e : whole.edges) {
    if (s[static_cast<std::size_t>(e.u)] != s[static_cast<std::size_t>(e.v)]) value += e.weight;
  }
  return static_cast<std::int64_t>(value);
}

Qubo random_qubo(std::int32_t n, std::int32_t range) {
  const Ising model = random_ising(n, 8, range);
  Qubo qubo;
  qubo.n = n;
  qubo.linear = model.fields;
  for (const Edge& e : model.couplings) qubo.quadratic.push_back({e.u, e.v, e.weight});
  return qubo;
}

// The nearest double to each number over `denominator`: what a reader makes of "0.3".
Qubo over(Qubo whole, double denominator) {
  for (double& a : whole.linear) a /= denominator;
  for (QuboTerm& term : whole.quadratic) term.value /= denominator;
  whole.offset /= denominator;
  return whole;
}
Ising over(Ising whole, double denominator) {
  for (double& h : whole.fields) h /= denominator;
  for (Edge& e : whole.couplings) e.weight /= denominator;
  whole.offset /= denominator;
  return whole;
}
Graph over(Graph whole, double denominator) {
  for (Edge& e : whole.edges) e.weight /= denominator;
  return whole;
}

int size_in_variables(const Qubo& qubo) { return qubo.n; }
int size_in_variables(const Ising& ising) { return ising.n; }
int size_in_variables(const Graph& graph) { return graph.n_vertices; }

// All numbers that users see are the doubles nearest to decimal fractions.
template <class Model>
void expect_nearest(const Problem& problem, const Model& whole, double denominator, bool spins) {
  const std::vector<State> states = all_states(size_in_variables(whole), spins);
  const std::vector<double> stored = stored_energies(*problem.objective, states);
  EXPECT_TRUE(problem.units.stored_integers);
  for (std::size_t i = 0; i < states.size(); ++i) {
    const double truth = static_cast<double>(value_of(whole, values_of(states[i]))) / denominator;
    ASSERT_EQ(stored[i], std::floor(stored[i]));
    ASSERT_EQ(problem.units.objective_of_stored(stored[i]), truth) << i;
    ASSERT_EQ(problem.solution.verify(spans_of(states[i])), truth) << i;
    ASSERT_EQ(problem.stored_target(truth), stored[i]) << i;
    ASSERT_EQ(problem.stored_of(truth), stored[i]) << i;
  }
}

TEST(DecimalWeights, GiveTheNearestDoubles) {
  for (const double denominator : {10.0, 20.0, 1000.0, 1e6}) {
    for (const std::int32_t range : {9, 123457}) {
      SCOPED_TRACE(testing::Message() << range << " / " << denominator);
      const Graph graph = random_graph(9, 10, range);
      expect_nearest(make_maxcut(over(graph, denominator)), graph, denominator, true);
      Ising ising = random_ising(9, 8, range);
      Qubo qubo = random_qubo(9, range);
      for (const double offset : {0.0, 7.0}) {
        ising.offset = qubo.offset = offset;
        expect_nearest(make_ising(over(ising, denominator)), ising, denominator, true);
        for (const Sense sense : {Sense::minimize, Sense::maximize}) {
          expect_nearest(make_qubo(over(qubo, denominator), sense), qubo, denominator, false);
        }
      }
    }
  }
}

// The offset has another denominator than the coefficients.
TEST(DecimalWeights, MayHaveAFinerOffset) {
  Ising whole = random_ising(8, 8, 9);
  Ising model = over(whole, 10);
  model.offset = 0.01;
  for (double& h : whole.fields) h *= 10;
  for (Edge& e : whole.couplings) e.weight *= 10;
  whole.offset = 1;
  expect_nearest(make_ising(model), whole, 100, true);
}

TEST(DecimalWeights, AddUpToWhatPeopleRead) {
  const Problem problem = make_maxcut(Graph{3, {{0, 1, 0.1}, {1, 2, 0.2}}});
  const State state{std::vector<std::int8_t>{1, -1, 1}};
  EXPECT_NE(0.1 + 0.2, 0.3);
  EXPECT_EQ(problem.solution.verify(spans_of(state)), 0.3);
  EXPECT_EQ(problem.units.objective_of_stored(stored_energies(*problem.objective, {state}).front()),
            0.3);
  EXPECT_EQ(problem.scale(), 10);
  EXPECT_EQ(problem.units.energy_of_stored(-3), -0.3);
}

TEST(DecimalWeights, TakeTheNarrowestArithmetic) {
  const auto arithmetic = [](const Ising& model) {
    const StoredModel stored = stored_model(std::make_shared<const Ising>(model), "test");
    EXPECT_TRUE(stored.integers);
    const PairwisePlan plan = plan_pairwise(*stored.model);
    EXPECT_TRUE(plan.integral);
    return plan.arithmetic;
  };
  EXPECT_EQ(arithmetic(Ising{2, {0, 0}, {{0, 1, 0.1}}, 0}), Arithmetic::narrow);
  EXPECT_EQ(arithmetic(Ising{2, {0.01, 0}, {{0, 1, 1234.56}}, 0}), Arithmetic::medium);
  EXPECT_EQ(arithmetic(Ising{2, {0.000001, 0}, {{0, 1, 1234.56}}, 0}), Arithmetic::wide);
}

TEST(DecimalScale, IsTheLeastThatFits) {
  const auto scale = [](const std::vector<double>& numbers, double tolerance) {
    const auto all = [&](auto test) { return std::ranges::all_of(numbers, test); };
    double size = 0;
    for (const double x : numbers) size += std::abs(x);
    return decimal_scale(all, {size, std::ssize(numbers), 1}, tolerance);
  };
  EXPECT_EQ(scale({3, -4}, 0), 1);
  EXPECT_EQ(scale({0.1, -0.7}, 0), 10);
  EXPECT_EQ(scale({0.2, 0.4}, 0), 5);
  EXPECT_LT(0.29 * 100, 29);
  EXPECT_EQ(scale({0.29, 1}, 0), 100) << "rounded, not cut off";
  EXPECT_EQ(scale({0.25, 0.1}, 0), 20);
  EXPECT_EQ(scale({1, 2, 3, 0.001}, 0), 1000);
  EXPECT_EQ(scale({0.123456789012345}, 0), 200000000000000) << "0.12345...9 * 2e14 is whole";
  EXPECT_EQ(scale({0.3, 3 * 0.1}, 0), 0) << "computed";
  EXPECT_EQ(scale({0.3, 3 * 0.1}, decimal_tolerance), 10);
  EXPECT_EQ(scale({1 / 3.0, 1 / 7.0, 1 / 11.0}, 0), 0);
  EXPECT_EQ(scale({0.1, 0x1p51}, 0), 0) << "too large for exact sums";
}

TEST(ExactMap, HasACommonDenominator) {
  const std::optional<Affine> map = exact_map(0.25, 10, 1000);
  ASSERT_TRUE(map);
  EXPECT_EQ(map->divisor, 20);
  EXPECT_EQ((*map)(3), 0.55);
  EXPECT_EQ(map->inverse(0.55), 3);
  EXPECT_FALSE(exact_map(1 / 3.0, 10, 1000));
  EXPECT_FALSE(exact_map(0.5, 1, 0x1p53));
}

Graph normal_like(std::int32_t n) {
  Graph graph = random_graph(n, 16, 1000000);
  for (Edge& e : graph.edges) e.weight = std::sin(e.weight) * std::sqrt(2);
  return graph;
}

TEST(FixedPoint, HoldsRealWeights) {
  const Graph graph = normal_like(10);
  const Problem problem = make_maxcut(graph);
  EXPECT_FALSE(problem.units.stored_integers);
  EXPECT_EQ(problem.identity.notes, std::vector<std::string>{});
  EXPECT_EQ(std::ilogb(problem.scale()), std::log2(problem.scale())) << "a power of two";
  EXPECT_GT(problem.scale(), 0x1p40);
  const std::vector<State> states = all_states(10, true);
  const std::vector<double> stored = stored_energies(*problem.objective, states);
  for (std::size_t i = 0; i < states.size(); ++i) {
    ASSERT_EQ(stored[i], std::floor(stored[i]));
    double cut = 0;
    for (const Edge& e : graph.edges) {
      const auto& s = values_of(states[i]);
      if (s[static_cast<std::size_t>(e.u)] != s[static_cast<std::size_t>(e.v)]) cut += e.weight;
    }
    ASSERT_NEAR(problem.units.objective_of_stored(stored[i]), cut, 1e-13);
    ASSERT_NEAR(problem.solution.verify(spans_of(states[i])), cut, 1e-13);
    ASSERT_GE(problem.stored_target(cut), stored[i] - 1) << "a value that was found is reached";
    ASSERT_LE(stored[i], problem.stored_target(cut));
  }
}

TEST(FixedPoint, LeavesLargeIntegersAlone) {
  constexpr double large = 2251799813685249;  // three of them are above 2^52
  const Ising model{3, {0, 0, 0}, {{0, 1, large}, {1, 2, large + 2}, {0, 2, large + 1}}, 0};
  const StoredModel stored = stored_model(std::make_shared<const Ising>(model), "test");
  EXPECT_EQ(stored.scale, 1);
  EXPECT_EQ(stored.shift, 0);
  EXPECT_EQ(stored.note, "");
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(stored.model->couplings[i].weight, model.couplings[i].weight);
  }
}

// Equal weights are all rounded alike: a cut of many edges is as far off as it can be.
TEST(FixedPoint, KnowsHowFarEnergiesMayBeOff) {
  Ising model{200, {}, {}, 0};
  model.fields.assign(200, 0.0);
  for (std::int32_t u = 0; u < 200; ++u) {
    for (std::int32_t v = u + 1; v < 200; ++v) model.couplings.push_back({u, v, 1 / 3.0});
  }
  model.couplings[0].weight = 1 / 7.0;  // or one scale would make all of them integers
  model.couplings[1].weight = std::sqrt(2);
  const StoredModel stored = stored_model(std::make_shared<const Ising>(model), "test");
  double off = 0;  // with all spins up
  for (std::size_t i = 0; i < model.couplings.size(); ++i) {
    off += stored.model->couplings[i].weight / stored.scale - model.couplings[i].weight;
  }
  EXPECT_GT(std::abs(off), 0);
  EXPECT_LE(std::abs(off), stored.shift);
  EXPECT_LE(stored.shift, 2 * std::abs(off));
}

// The best k of n items, with a penalty for another number than k: the penalty weighs up to 1e9
// times as much as the items.
Qubo penalty_model(std::int32_t n, double k, double penalty) {
  Qubo qubo;
  qubo.n = n;
  const Graph items = normal_like(n);
  qubo.linear.assign(static_cast<std::size_t>(n), penalty * (1 - 2 * k));
  for (const Edge& e : items.edges) {
    qubo.quadratic.push_back({e.u, e.v, 2 * penalty + e.weight});
  }
  qubo.offset = penalty * k * k;
  return qubo;
}

// Digits that 64 bits of a mantissa keep where 53 do not.
long double exact_value(const Qubo& qubo, const std::vector<std::int8_t>& x) {
  long double value = qubo.offset;
  for (std::size_t i = 0; i < qubo.linear.size(); ++i) {
    if (x[i] != 0) value += static_cast<long double>(qubo.linear[i]);
  }
  for (const QuboTerm& t : qubo.quadratic) {
    const bool both =
        x[static_cast<std::size_t>(t.i)] != 0 && x[static_cast<std::size_t>(t.j)] != 0;
    if (both) value += static_cast<long double>(t.value);
  }
  return value;
}

std::size_t place_of_least(const std::vector<double>& energies) {
  return static_cast<std::size_t>(std::ranges::min_element(energies) - energies.begin());
}

TEST(FixedPoint, HasTheOptimaOfPenaltyModels) {
  const std::vector<State> states = all_states(14, false);
  for (double penalty = 1; penalty <= 1e9; penalty *= 10) {
    SCOPED_TRACE(penalty);
    const Qubo qubo = penalty_model(14, 5, penalty);
    const Problem fixed = make_qubo(qubo);
    EXPECT_EQ(fixed.identity.notes, std::vector<std::string>{});
    EXPECT_NE(fixed.scale(), 1);
    std::vector<long double> truth;
    for (const State& state : states) truth.push_back(exact_value(qubo, values_of(state)));
    const long double least = *std::ranges::min_element(truth);
    // The path of real numbers, whose weights are not scaled.
    Ising reals = *stored_model(qubo, "test", 1).model;
    for (double& h : reals.fields) h /= fixed.scale();
    for (Edge& e : reals.couplings) e.weight /= fixed.scale();
    ASSERT_FALSE(plan_pairwise(reals).integral);
    const auto objective = make_pairwise_objective("reals", reals, BlockKind::binary);
    const std::size_t by_fixed = place_of_least(stored_energies(*fixed.objective, states));
    const std::size_t by_reals = place_of_least(stored_energies(*objective, states));
    EXPECT_EQ(truth[by_fixed], least);
    EXPECT_EQ(by_fixed, by_reals);
  }
}

// Coefficients of the items alone, beside those of the penalty.
TEST(FixedPoint, LeavesModelsWhoseWeightsItWouldMove) {
  for (const double penalty : {1.0, 1e3, 1e6, 1e8, 1e10, 1e12, 1e300}) {
    const Ising model{3, {0, 0, 0}, {{0, 1, 1 / 3.0}, {1, 2, penalty * std::sqrt(2)}}, 0};
    const StoredModel stored = stored_model(std::make_shared<const Ising>(model), "test");
    const bool fits = penalty < 1e9;
    EXPECT_EQ(stored.note.empty(), fits) << penalty << stored.note;
    EXPECT_EQ(plan_pairwise(*stored.model).integral, fits) << penalty;
    const double kept = stored.model->couplings[0].weight / stored.scale;
    EXPECT_NEAR(kept, 1 / 3.0, fits ? 1e-6 / 3 : 0.0);
  }
}

// Of two million sizes that fill (0, 1) some are below a millionth. Beside them a weight of another
// kind, however small its share, counts by itself.
TEST(FixedPoint, JudgesTheSmallestOfManyByTheirDistribution) {
  std::vector<double> sizes;
  for (int i = 1; i <= 2000000; ++i) sizes.push_back((i - 0.3) / 2000000 * std::sqrt(0.5));
  const double scale = fixed_point_scale({1e6, 2000000, 1});
  EXPECT_GT(std::abs(whole_of(sizes[0], scale) / scale - sizes[0]), 1e-6 * sizes[0]);
  EXPECT_TRUE(fits_distributions(sizes, scale));
  EXPECT_FALSE(fits_distributions(sizes, 0x1p-9 * scale)) << "too coarse for one in a hundred";
  sizes.push_back(sizes[0] / 2000);
  EXPECT_FALSE(fits_distributions(sizes, scale)) << "a gap";
  EXPECT_FALSE(fits_distributions({1, 1e300}, 0x1p-945));
  std::vector<double> ladder;  // each counts
  for (int i = 0; i < 60; ++i) ladder.push_back(std::ldexp(1 / 3.0, i));
  EXPECT_FALSE(fits_distributions(ladder, 0x1p-8));
  EXPECT_TRUE(fits_distributions(ladder, 0x1p40));
}

TEST(FixedPoint, SaysWhichWeightItCannotHold) {
  const auto notes = [](const Problem& problem) { return problem.identity.notes; };
  using Notes = std::vector<std::string>;
  EXPECT_EQ(notes(make_maxcut(Graph{3, {{0, 1, 1}, {1, 2, 1e300}}})),
            Notes{"the weight of the edge between vertices 0 and 1 (counted from 0) is too small "
                  "for fixed point: 1; expected at least 1.5e+290, because the absolute values sum "
                  "to 1e+300; sweeps of real numbers are slower"});
  EXPECT_EQ(notes(make_ising(Ising{3, {0, 1e-300, 1.5}, {{0, 1, 3}}, 0})),
            Notes{"the field of spin 1 (counted from 0) is too small for fixed point: 1e-300; "
                  "expected at least 8.9e-10, because the absolute values sum to 4.5; sweeps of "
                  "real numbers are slower"});
  EXPECT_EQ(notes(make_qubo(Qubo{2, {0.1, 1e20}, {{0, 1, 1e19}}, 0})),
            Notes{"the linear coefficient of variable 0 (counted from 0) is too small for fixed "
                  "point: 0.1; expected at least 3.3e+10, because the absolute values sum to "
                  "1.1e+20; sweeps of real numbers are slower"});
  EXPECT_EQ(notes(make_maxcut(Graph{2, {{0, 1, 5e-324}}})).size(), 1u) << "a denormal number";
  EXPECT_EQ(notes(make_maxcut(Graph{2, {{0, 1, 0x1p-900}}})).size(), 0u);
}

// Weights far apart keep their values on the path of real numbers, whatever their size.
TEST(FixedPoint, KeepsTheAnswersOfExtremeModels) {
  for (const double small : {1.0, 5e-324, 1e-310, 0.1}) {
    for (const double large : {1e300, 1e20, 1.0}) {
      const Problem problem = make_maxcut(Graph{3, {{0, 1, small}, {1, 2, large}}});
      const std::vector<State> states = all_states(3, true);
      const std::vector<double> stored = stored_energies(*problem.objective, states);
      const std::size_t best = place_of_least(stored);
      const double cut = problem.solution.verify(spans_of(states[best]));
      EXPECT_EQ(cut, small + large);
      EXPECT_NEAR(problem.units.objective_of_stored(stored[best]), cut, problem.units.rounding);
      EXPECT_TRUE(std::isfinite(problem.stored_target(cut)));
    }
  }
}

}  // namespace
}  // namespace kiln::problems::stored_model_test
