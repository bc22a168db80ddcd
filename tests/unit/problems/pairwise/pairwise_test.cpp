// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/pairwise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/objectives/ladder_end.hpp"
#include "kiln/problems/generators.hpp"
#include "kiln/replica_batch.hpp"

#include "backends/cpu_queue.hpp"
#include "models/small_models.hpp"

namespace kiln::pairwise_test {
namespace {

using test::all_states;
using test::complaint;
using test::random_graph;
using test::random_ising;
using test::values_of;

double energy_of(const Ising& model, const std::vector<std::int8_t>& s) {
  double energy = model.offset;
  for (std::size_t i = 0; i < model.fields.size(); ++i) energy += model.fields[i] * s[i];
  for (const Edge& e : model.couplings) {
    energy += e.weight * s[static_cast<std::size_t>(e.u)] * s[static_cast<std::size_t>(e.v)];
  }
  return energy;
}

double cut_of(const Graph& graph, const std::vector<std::int8_t>& s) {
  double cut = 0;
  for (const Edge& e : graph.edges) {
    if (s[static_cast<std::size_t>(e.u)] != s[static_cast<std::size_t>(e.v)]) cut += e.weight;
  }
  return cut;
}

double value_of(const Qubo& qubo, const std::vector<std::int8_t>& x) {
  double value = qubo.offset;
  for (std::size_t i = 0; i < qubo.linear.size(); ++i) value += qubo.linear[i] * x[i];
  for (const QuboTerm& t : qubo.quadratic) {
    value += t.value * x[static_cast<std::size_t>(t.i)] * x[static_cast<std::size_t>(t.j)];
  }
  return value;
}

Qubo random_qubo(std::int32_t n, double unit) {
  const Ising model = random_ising(n, 8, 4, unit);
  Qubo qubo;
  qubo.n = n;
  qubo.linear = model.fields;
  for (const Edge& e : model.couplings) qubo.quadratic.push_back({e.u, e.v, e.weight});
  qubo.offset = 3 * unit;
  return qubo;
}

// The stored energies that the objective gives for the states, each in a slot of its own.
std::vector<double> stored_energies(const Problem& problem, const std::vector<State>& states) {
  const auto queue = test::cpu_queue(2);
  const Objective& objective = *problem.objective;
  const auto count = static_cast<std::int64_t>(states.size());
  ReplicaBatch batch(*queue, objective.space(), objective.execution().layouts, {count, 1, 1});
  batch.write_states(states);
  objective.bind(*queue)->as<Evaluates>()->evaluate({batch, batch.energy(), {}, nullptr}, *queue);
  std::vector<double> energies = batch.read_energies(false);
  energies.resize(states.size());
  return energies;
}

// Compares stored energy, energy, objective value and verifier of every state with the raw data.
template <class Truth>
void expect_equals(const Problem& problem, int n, bool spins, bool exact, Truth objective_value) {
  const std::vector<State> states = all_states(n, spins);
  const std::vector<double> stored = stored_energies(problem, states);
  const double sign = problem.units.sense == Sense::maximize ? -1 : 1;
  double energy_offset = 0;  // Max-Cut: energy = sum of weights - 2 cut
  for (std::size_t i = 0; i < states.size(); ++i) {
    const double truth = objective_value(values_of(states[i]));
    const double tolerance = exact ? 0 : 1e-12 * (1 + std::abs(truth));
    ASSERT_NEAR(problem.units.objective_of_stored(stored[i]), truth, tolerance) << "state " << i;
    ASSERT_NEAR(problem.solution.verify(spans_of(states[i])), truth, tolerance) << "state " << i;
    if (exact) {
      ASSERT_EQ(stored[i], std::floor(stored[i])) << "stored energies are integers";
      ASSERT_EQ(problem.stored_target(truth), stored[i]);
    }
    const double scaled = problem.identity.family == "maxcut" ? -2 * truth : sign * truth;
    const double offset = problem.units.energy_of_stored(stored[i]) - scaled;
    if (i == 0) energy_offset = offset;
    ASSERT_NEAR(offset, energy_offset, tolerance * 10);
  }
}

TEST(MaxCut, EveryStateHasItsCut) {
  for (const std::int32_t n : {2, 3, 8, 9, 10}) {
    for (const std::int32_t range : {1, 50, 20000, 20000000}) {
      SCOPED_TRACE(testing::Message() << n << " vertices, weights up to " << range);
      const Graph graph = random_graph(n, 10, range);
      const Problem problem = make_maxcut(graph);
      EXPECT_TRUE(problem.units.integral);
      EXPECT_EQ(problem.units.sense, Sense::maximize);
      EXPECT_EQ(problem.scale(), 1.0);
      expect_equals(problem, n, true, true, [&](const auto& s) { return cut_of(graph, s); });
    }
  }
}

TEST(MaxCut, EnergyIsTheSumOfWeightsMinusTwiceTheCut) {
  const Problem problem = make_maxcut(Graph{3, {{0, 1, 5}, {1, 2, -2}}});
  const State state{std::vector<std::int8_t>{1, -1, -1}};
  const double stored = stored_energies(problem, {state}).front();
  EXPECT_EQ(problem.units.objective_of_stored(stored), 5);
  EXPECT_EQ(problem.units.energy_of_stored(stored), 3 - 2 * 5);
  EXPECT_EQ(problem.stored_target(5), stored);
  EXPECT_TRUE(problem.better(6, 5));
  EXPECT_EQ(problem.solution.format(spans_of(state)), "0\n1\n1\n");
  EXPECT_EQ(problem.identity.sizes,
            (std::vector<std::pair<std::string, std::string>>{{"n", "3"}, {"m", "2"}}));
}

TEST(MaxCut, FractionsThatAreSumsOfPowersOfTwoAreExact) {
  for (const double unit : {0.5, 0.25, 0x1p-20}) {
    const Graph graph = random_graph(10, 10, 50, unit);
    const Problem problem = make_maxcut(graph);
    EXPECT_FALSE(problem.units.integral) << "the values are not integers";
    EXPECT_GT(problem.scale(), 1.0) << "but what is stored is";
    expect_equals(problem, 10, true, true, [&](const auto& s) { return cut_of(graph, s); });
  }
}

// 3 * 0.1 is not the double nearest to 0.3.
TEST(MaxCut, ComputedDecimalFractionsAreStoredAsIntegers) {
  const Graph graph = random_graph(10, 10, 50, 0.1);
  const Problem problem = make_maxcut(graph);
  EXPECT_FALSE(problem.units.integral);
  EXPECT_FALSE(problem.units.stored_integers) << "rounded in their last digits";
  EXPECT_EQ(problem.scale(), 10.0);
  expect_equals(problem, 10, true, false, [&](const auto& s) { return cut_of(graph, s); });
}

TEST(MaxCut, IntegersThatAreTooLargeToBeExactAreNotClaimed) {
  const Graph graph = random_graph(10, 10, 50, 0x1p52);
  const Problem problem = make_maxcut(graph);
  EXPECT_FALSE(problem.units.integral);
  expect_equals(problem, 10, true, false, [&](const auto& s) { return cut_of(graph, s); });
}

TEST(MaxCut, PutsRepeatedEdgesTogether) {
  const Problem problem = make_maxcut(Graph{2, {{1, 0, 2}, {0, 1, 3}}});
  const auto stored = stored_energies(
      problem, {{std::vector<std::int8_t>{1, -1}}, {std::vector<std::int8_t>{1, 1}}});
  EXPECT_EQ(problem.units.objective_of_stored(stored[0]), 5);
  EXPECT_EQ(problem.units.objective_of_stored(stored[1]), 0);
}

TEST(Qubo, EveryStateHasItsValue) {
  for (const Sense sense : {Sense::minimize, Sense::maximize}) {
    for (const std::int32_t n : {1, 2, 9, 10}) {
      for (const double unit : {1.0, 1000.0, 10000000.0}) {
        SCOPED_TRACE(testing::Message() << n << " bits, unit " << unit);
        const Qubo qubo = random_qubo(n, unit);
        const Problem problem = make_qubo(qubo, sense);
        EXPECT_TRUE(problem.units.integral);
        expect_equals(problem, n, false, true, [&](const auto& x) { return value_of(qubo, x); });
      }
    }
  }
}

TEST(Qubo, FractionsAreExactOrReal) {
  const Qubo exact = random_qubo(10, 0.25), real = random_qubo(10, 0.1);
  EXPECT_FALSE(make_qubo(exact).units.integral);
  expect_equals(make_qubo(exact), 10, false, true,
                [&](const auto& x) { return value_of(exact, x); });
  expect_equals(make_qubo(real), 10, false, false,
                [&](const auto& x) { return value_of(real, x); });
}

TEST(Qubo, AnOffsetThatIsNoIntegerMakesTheValuesReal) {
  Qubo qubo = random_qubo(5, 1);
  qubo.offset = 0.5;
  const Problem problem = make_qubo(qubo);
  EXPECT_FALSE(problem.units.integral);
  expect_equals(problem, 5, false, true, [&](const auto& x) { return value_of(qubo, x); });
}

TEST(Qubo, EnergyIsTheValueAsItIsMinimised) {
  const Qubo qubo{2, {1, -3}, {{0, 1, 10}}, 4};
  const std::vector<State> states = all_states(2, false);  // x0 x1 = 00, 10, 01, 11
  const Problem down = make_qubo(qubo), up = make_qubo(qubo, Sense::maximize);
  const auto low = stored_energies(down, states), high = stored_energies(up, states);
  const double values[] = {4, 5, 1, 12};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(down.units.energy_of_stored(low[i]), values[i]);
    EXPECT_EQ(up.units.energy_of_stored(high[i]), -values[i]);
  }
  EXPECT_EQ(down.solution.format(spans_of(states[1])), "1\n0\n");
}

TEST(Ising, EveryStateHasItsEnergy) {
  for (const std::int32_t n : {1, 2, 9, 10}) {
    for (const double unit : {1.0, 5000.0, 10000000.0}) {
      SCOPED_TRACE(testing::Message() << n << " spins, unit " << unit);
      Ising model = random_ising(n, 8, 4, unit);
      model.offset = -7;
      const Problem problem = make_ising(model);
      EXPECT_TRUE(problem.units.integral);
      EXPECT_EQ(problem.units.sense, Sense::minimize);
      expect_equals(problem, n, true, true, [&](const auto& s) { return energy_of(model, s); });
    }
  }
}

TEST(Ising, FractionsAreExactOrReal) {
  const Ising exact = random_ising(10, 8, 4, 0.5), real = random_ising(10, 8, 4, 0.1);
  EXPECT_EQ(make_ising(exact).scale(), 2);
  expect_equals(make_ising(exact), 10, true, true,
                [&](const auto& s) { return energy_of(exact, s); });
  expect_equals(make_ising(real), 10, true, false,
                [&](const auto& s) { return energy_of(real, s); });
}

// Partial sums over both ends of the couplings pass 2^53 here, though no energy does.
TEST(Ising, ClaimsIntegersOnlyWhereEverySumIsExact) {
  for (const double unit : {0x1p50, 0x1p49}) {
    const Ising model{3, {2 * unit, 0, 0}, {{0, 1, 4 * unit}, {1, 2, 1}}, 0};
    const Problem problem = make_ising(model);
    for (const State& state : all_states(3, true)) {
      const double truth = energy_of(model, values_of(state));
      const double energy =
          problem.units.energy_of_stored(stored_energies(problem, {state}).front());
      if (problem.units.integral) {
        EXPECT_EQ(energy, truth) << unit;
      } else {
        EXPECT_NEAR(energy, truth, 1e-12 * 6 * unit);
      }
    }
  }
}

TEST(Ising, PositiveCouplingsPreferOppositeSpins) {
  const Problem problem = make_ising(Ising{2, {}, {{0, 1, 3}}, 0});
  const auto energy = stored_energies(problem, all_states(2, true));
  EXPECT_EQ(energy, (std::vector<double>{3, -3, -3, 3}));
  const Problem field = make_ising(Ising{1, {2}, {}, 0});
  EXPECT_EQ(stored_energies(field, all_states(1, true)), (std::vector<double>{2, -2}));
}

// Bit 0 is spin +1 and x = 0: the same words of a batch stand for s and for x = (1 - s) / 2.
TEST(Pairwise, BitZeroIsSpinUpAndBinaryZero) {
  const auto queue = test::cpu_queue();
  ReplicaBatch spins(*queue, Space::spins(1), {Layout::packed32}, {2, 1, 1});
  ReplicaBatch bits(*queue, Space::binary(1), {Layout::packed32}, {2, 1, 1});
  spins.write_states({{std::vector<std::int8_t>{1}}, {std::vector<std::int8_t>{-1}}});
  bits.write_states({{std::vector<std::int8_t>{0}}, {std::vector<std::int8_t>{1}}});
  EXPECT_EQ(spins.state(0).packed()(0, 0), 0xAAAAAAAAu);
  EXPECT_EQ(bits.state(0).packed()(0, 0), 0xAAAAAAAAu);
}

TEST(Pairwise, SkipsTheRungsThatAreNotAskedFor) {
  const auto queue = test::cpu_queue();
  const Problem problem = make_ising(Ising{1, {2}, {}, 0});
  ReplicaBatch batch(*queue, problem.objective->space(), {Layout::packed32}, {4, 2, 1});
  batch.write_states({{std::vector<std::int8_t>{1}}});
  std::vector<std::uint32_t> active_rungs{0, 1};
  problem.objective->bind(*queue)->as<Evaluates>()->evaluate(
      {batch, batch.energy(), {active_rungs.data(), 2}, nullptr}, *queue);
  const std::vector<double> energies = batch.read_energies(false);
  EXPECT_EQ(energies[1], std::numeric_limits<double>::infinity());
  EXPECT_EQ(energies[2], 2);
}

TEST(Pairwise, KnowsAtWhichTemperaturesToAnneal) {
  const Objective::BetaRange range = make_ising(random_ising(50, 4, 3)).objective->beta_range();
  EXPECT_GT(range.hot, 0);
  EXPECT_GT(range.cold, 5 * range.hot);
  const Objective::BetaRange doubled =
      make_ising(random_ising(50, 4, 3, 2.0)).objective->beta_range();
  EXPECT_DOUBLE_EQ(doubled.hot, range.hot / 2);
  EXPECT_DOUBLE_EQ(doubled.cold, range.cold / 2);
  const Objective::BetaRange none = make_ising(Ising{4, {}, {}, 0}).objective->beta_range();
  EXPECT_EQ(none.hot, 1);
  EXPECT_EQ(none.cold, 1);
}

// Couplings of +-1 between all of 101 spins, and a field on each.
TEST(Pairwise, KnowsTheUnitOfAMatrixOfBytes) {
  const auto unit_of = [](const std::vector<double>& weights) {
    Ising model{24, std::vector<double>(24, 3.0), {}, 0};
    for (std::int32_t u = 0; u < model.n; ++u) {
      for (std::int32_t v = u + 1; v < model.n; ++v) {
        model.couplings.push_back({u, v, weights[model.couplings.size() % weights.size()]});
      }
    }
    return make_ising(model).objective->work_shape().byte_matrix_unit;
  };
  EXPECT_EQ(unit_of({1, -127}), 1);
  EXPECT_EQ(unit_of({2, -254}), 2) << "fields are odd";
  EXPECT_EQ(unit_of({6, 10, -30}), 2);
  EXPECT_EQ(unit_of({1, 128}), 0);
  EXPECT_EQ(unit_of({2, -256}), 0);
}

TEST(Pairwise, RangeFollowsCouplingsAndFields) {
  Ising model{101, std::vector<double>(101, 0.0), {}, 0};
  for (std::int32_t u = 0; u < 101; ++u) {
    for (std::int32_t v = u + 1; v < 101; ++v) {
      model.couplings.push_back({u, v, (u * v) % 3 == 0 ? -1.0 : 1.0});
    }
  }
  for (const double field : {0.0, 5.0, 1000.0}) {
    std::ranges::fill(model.fields, field);
    const Problem problem = make_ising(model, "model");
    const double sigma = std::sqrt(100 + field * field);
    EXPECT_NEAR(problem.objective->beta_range().hot * problem.scale(), 1 / sigma, 1e-12) << field;
    EXPECT_NEAR(problem.objective->beta_range().cold * problem.scale(), 14 / sigma, 1e-12) << field;
  }
}

// A ladder ends where the smallest change is still accepted once in e^4, or at 7 over the spread:
// all spins joined (spread 10, changes of 4), twenty neighbours (spread 4.5, changes of 4), changes
// without a unit.
TEST(Pairwise, LaddersEndEarlierThanAnnealsWhereChangesAreCoarse) {
  const auto end = [](std::int32_t reach, double unit) {
    Ising model{101, std::vector<double>(101, 0.0), {}, 0};
    for (std::int32_t u = 0; u < 101; ++u) {
      for (std::int32_t d = 1; d <= reach; ++d) model.couplings.push_back({u, (u + d) % 101, unit});
    }
    const Problem problem = make_ising(model, "model");
    return problem.objective->as<EndsLadders>()->ladder_end() * problem.scale();
  };
  EXPECT_NEAR(end(50, 1), 1, 1e-12);
  EXPECT_NEAR(end(10, 1), 7 / std::sqrt(20.0), 1e-12);
  EXPECT_NEAR(end(10, 0.5), 2 * 7 / std::sqrt(20.0), 1e-12) << "half the couplings";
}

// A flip on a torus of weights +-1 changes the energy by a multiple of 4.
TEST(Pairwise, RangeEndsWhereTheSmallestChangeIsFrozen) {
  Ising model{100, std::vector<double>(100, 0.0), problems::torus_pm1(10, 10, 3).edges, 0};
  const Problem problem = make_ising(model, "torus");
  EXPECT_NEAR(problem.objective->beta_range().hot * problem.scale(), 0.5, 1e-12);
  EXPECT_NEAR(problem.objective->beta_range().cold * problem.scale(), 14.0 / 4, 1e-12);
  EXPECT_EQ(problem.objective->as<EndsLadders>()->ladder_end(),
            problem.objective->beta_range().cold);
}

TEST(Pairwise, RangeOfFieldsAloneFollowsTheFields) {
  const Problem problem = make_ising(Ising{3, {0.5, 0.25, 1000}, {}, 0}, "fields");
  const double unit = problem.scale();
  EXPECT_NEAR(problem.objective->beta_range().hot * unit, 2, 1e-12) << "the median field is 1/2";
  EXPECT_NEAR(problem.objective->beta_range().cold * unit, 28, 1e-12);
}

TEST(Pairwise, RefusesModelsThatCannotBe) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(complaint([] { make_maxcut(Graph{}); }).starts_with("problem.size"));
  EXPECT_TRUE(complaint([] { make_qubo(Qubo{}); }).starts_with("problem.size"));
  EXPECT_TRUE(complaint([] { make_ising(Ising{}); }).starts_with("problem.size"));
  EXPECT_TRUE(complaint([] {
                make_maxcut(Graph{2, {{0, 0, 1}}});
              }).starts_with("problem.self_loop"));
  EXPECT_TRUE(complaint([] { make_maxcut(Graph{2, {{0, 2, 1}}}); }).starts_with("problem.range"));
  EXPECT_TRUE(complaint([] { make_maxcut(Graph{2, {{0, 1, inf}}}); }).starts_with("problem.value"));
  EXPECT_TRUE(complaint([] {
                make_ising(Ising{1, {std::nan("")}, {}, 0});
              }).starts_with("problem.value"));
  EXPECT_TRUE(complaint([] { make_ising(Ising{1, {0}, {}, inf}); }).starts_with("problem.value"));
  EXPECT_TRUE(complaint([] {
                make_ising(Ising{1, {0, 5}, {}, 0});
              }).starts_with("problem.size"))
      << "a field without a spin must not be dropped in silence";
  EXPECT_TRUE(complaint([] { make_qubo(Qubo{1, {1}, {}, inf}); }).starts_with("problem.value"));
  EXPECT_TRUE(complaint([] { make_qubo(Qubo{2, {1}, {}, 0}); }).starts_with("problem.size"));
}

}  // namespace
}  // namespace kiln::pairwise_test
