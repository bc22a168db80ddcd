// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/potts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/problems/generators.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "backends/cpu_queue.hpp"
#include "potts/potts_objective.hpp"

namespace kiln::potts_test {
namespace {

using problems::plan_potts;
using test::code_of;

// 3 variables of 3 values: h_0(2) = -1, J_01 = 2, J_12 = 3.
const Potts small{3, 3, {{0, 2, -1}}, {{0, 1, 2}, {1, 2, 3}}};

State state_of(std::vector<std::int32_t> values) { return {std::move(values)}; }

double verified(const Problem& problem, std::vector<std::int32_t> values) {
  const State state = state_of(std::move(values));
  return problem.solution.verify(spans_of(state));
}

TEST(Potts, CanonicalFormSortsMergesAndDropsZeros) {
  Potts model{4,
              3,
              {{2, 1, 1}, {0, 2, 5}, {2, 1, 2}, {1, 0, 0}},
              {{3, 1, 1}, {1, 3, 1}, {0, 1, 2}, {0, 2, 1}, {2, 0, -1}}};

  EXPECT_EQ(problems::canonicalize(model), 3);

  EXPECT_EQ(model, (Potts{4, 3, {{0, 2, 5}, {2, 1, 3}}, {{0, 1, 2}, {1, 3, 2}}}));
  EXPECT_EQ(problems::canonical_text(model), "potts 4 3\nh 0 2 5\nh 2 1 3\n0 1 2\n1 3 2\n");
}

TEST(Potts, RefusesWhatCannotBe) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto made = [](const Potts& model) { return code_of([&] { make_potts(model); }); };
  EXPECT_EQ(made({0, 3, {}, {}}), "problem.size");
  EXPECT_EQ(made({2, 1, {}, {}}), "problem.size");
  EXPECT_EQ(made({2, 128, {}, {}}), "problem.size");
  EXPECT_EQ(made({2, 3, {{2, 0, 1}}, {}}), "problem.range");
  EXPECT_EQ(made({2, 3, {{0, 3, 1}}, {}}), "problem.range");
  EXPECT_EQ(made({2, 3, {}, {{0, 2, 1}}}), "problem.range");
  EXPECT_EQ(made({2, 3, {}, {{1, 1, 1}}}), "problem.self_loop");
  EXPECT_EQ(made({2, 3, {{0, 0, nan}}, {}}), "problem.value");
  EXPECT_EQ(made({2, 3, {{0, 0, 3e307}, {1, 0, 3e307}}, {}}), "problem.value");
  EXPECT_EQ(made({2, 127, {}, {{0, 1, 1}}}), "accepted");
}

TEST(Potts, ProblemHasTheEnergyOfTheDefinition) {
  const Problem problem = make_potts(small, "small");

  EXPECT_EQ(problem.identity.family, "potts");
  EXPECT_TRUE(problem.units.integral);
  EXPECT_EQ(verified(problem, {2, 2, 2}), 4);
  EXPECT_EQ(verified(problem, {0, 0, 1}), 2);
  EXPECT_EQ(verified(problem, {2, 1, 0}), -1);
  const State state = state_of({2, 2, 2});
  EXPECT_EQ(problem.objective->reference()(spans_of(state)), 4);
  EXPECT_EQ(problem.solution.format(spans_of(state)), "2\n2\n2\n");
  EXPECT_EQ(problem.identity.sizes.back(), (std::pair<std::string, std::string>("q", "3")));
}

TEST(Potts, DecimalsAreStoredAsIntegersWhereThatIsExact) {
  Potts quarters = small;
  quarters.fields[0].amount = -0.25;
  Potts tenths = small;
  tenths.couplings[0].weight = 0.1;
  tenths.couplings[1].weight = 0.2;
  Potts huge = small;
  huge.couplings[0].weight = 0x1p53;

  EXPECT_EQ(make_potts(quarters).scale(), 4);
  EXPECT_FALSE(make_potts(quarters).units.integral);
  EXPECT_EQ(make_potts(tenths).scale(), 10);
  EXPECT_TRUE(make_potts(tenths).units.stored_integers);
  EXPECT_FALSE(plan_potts(tenths).integral);
  EXPECT_FALSE(plan_potts(huge).integral);
  EXPECT_FALSE(make_potts(huge).units.integral);
  EXPECT_TRUE(plan_potts(small).integral);
}

// 3^5 states.
std::vector<State> states_of_five() {
  std::vector<State> states;
  for (int number = 0; number < 243; ++number) {
    std::vector<std::int32_t> values;
    for (int i = 0, rest = number; i < 5; ++i, rest /= 3) values.push_back(rest % 3);
    states.push_back(state_of(std::move(values)));
  }
  return states;
}

std::vector<double> stored_energies(const Problem& problem, const std::vector<State>& states) {
  const auto queue = test::cpu_queue();
  const Objective& objective = *problem.objective;
  const auto count = static_cast<std::int64_t>(states.size());
  ReplicaBatch batch(*queue, objective.space(), objective.execution().layouts, {count, 1, 1});
  batch.write_states(states);
  objective.bind(*queue)->as<Evaluates>()->evaluate({batch, batch.energy(), {}, nullptr}, *queue);
  std::vector<double> energies = batch.read_energies(false);
  energies.resize(states.size());
  return energies;
}

// A ring of five with two fields.
Potts five(double unit) {
  return {5,
          3,
          {{0, 2, -1 * unit}, {3, 0, 6 * unit}},
          {{0, 1, 2 * unit}, {1, 2, -3 * unit}, {2, 3, 7 * unit}, {3, 4, unit}, {0, 4, 4 * unit}}};
}

TEST(Potts, DecimalFractionsGiveTheNearestDoubles) {
  const Potts whole = five(1);
  Potts tenths = whole;
  for (PottsField& field : tenths.fields) field.amount /= 10;
  for (Edge& e : tenths.couplings) e.weight /= 10;
  const Problem problem = make_potts(tenths);
  const std::vector<State> states = states_of_five();
  const std::vector<double> stored = stored_energies(problem, states);
  EXPECT_EQ(problem.scale(), 10);
  for (std::size_t i = 0; i < states.size(); ++i) {
    const auto& values = std::get<std::vector<std::int32_t>>(states[i].front());
    const double truth = problems::potts_energy(whole, values);
    EXPECT_EQ(stored[i], truth);
    EXPECT_EQ(problem.units.objective_of_stored(stored[i]), truth / 10);
    EXPECT_EQ(problem.solution.verify(spans_of(states[i])), truth / 10);
  }
}

TEST(Potts, RealWeightsAreStoredInFixedPoint) {
  Potts model = five(1 / 3.0);
  model.couplings[0].weight = std::sqrt(2);
  const Problem problem = make_potts(model);
  EXPECT_GT(problem.scale(), 0x1p40);
  EXPECT_EQ(problem.identity.notes, std::vector<std::string>{});
  const std::vector<State> states = states_of_five();
  const std::vector<double> stored = stored_energies(problem, states);
  for (std::size_t i = 0; i < states.size(); ++i) {
    EXPECT_EQ(stored[i], std::floor(stored[i]));
    EXPECT_NEAR(problem.units.objective_of_stored(stored[i]),
                problem.solution.verify(spans_of(states[i])), 1e-14);
  }
  model.couplings[1].weight = 1e-12;
  EXPECT_EQ(make_potts(model).identity.notes,
            std::vector<std::string>{
                "the coupling of variables 1 and 2 (counted from 0) is too small for fixed point: "
                "1e-12; expected at least 8.9e-10, because the absolute values sum to 7.7; sweeps "
                "of real numbers are slower"});
}

TEST(PottsPlan, SharesOrderAndRowsWithThePairwisePlan) {
  const Potts model = problems::potts_torus(6, 8, 3, 1);
  const problems::PottsPlan plan = plan_potts(model);
  const problems::PairwisePlan pairs = problems::plan_pairwise(
      {model.n, std::vector<double>(static_cast<std::size_t>(model.n), 0.0), model.couplings, 0});

  EXPECT_EQ(plan.pairs.variable, pairs.variable);
  EXPECT_EQ(plan.pairs.class_begin, pairs.class_begin);
  EXPECT_FALSE(plan.pairs.sequential);
  EXPECT_TRUE(plan.field.empty());
}

TEST(PottsPlan, PutsFieldsAtTheSitesOfTheirVariables) {
  const problems::PottsPlan plan = plan_potts(small);

  ASSERT_EQ(plan.field.size(), plan.pairs.variable.size() * 3);
  for (std::size_t site = 0; site < plan.pairs.variable.size(); ++site) {
    const bool is_first = plan.pairs.variable[site] == 0;
    EXPECT_EQ(plan.field[site * 3 + 2], is_first ? -1 : 0);
    EXPECT_EQ(plan.field[site * 3], 0);
  }
}

// With two values and half the couplings and fields it is the Ising model of the same numbers.
TEST(Potts, TwoValuesHaveTheBetaRangeOfTheIsingModel) {
  const Graph graph = problems::random_graph(60, 40, 3);
  Ising ising{60, std::vector<double>(60, 0.0), graph.edges, 0};
  Potts potts{60, 2, {}, graph.edges};
  for (Edge& e : potts.couplings) e.weight = 2;
  for (std::int32_t v = 0; v < 60; ++v) {
    ising.fields[static_cast<std::size_t>(v)] = v % 3;
    potts.fields.push_back({v, 0, static_cast<double>(v % 3)});
    potts.fields.push_back({v, 1, -static_cast<double>(v % 3)});
  }

  const auto wanted = make_ising(ising).objective->beta_range();
  const auto got = make_potts(potts).objective->beta_range();

  EXPECT_NEAR(got.hot, wanted.hot, 1e-12);
  EXPECT_NEAR(got.cold, wanted.cold, 1e-12);
}

TEST(Potts, RangeIsKnownForModelsWithoutTerms) {
  const auto range = make_potts({5, 3, {}, {}}).objective->beta_range();

  EXPECT_EQ(range.hot, 1);
  EXPECT_EQ(range.cold, 1);
}

TEST(Coloring, CountsConflictingEdgesOnce) {
  const Graph triangle{3, {{0, 1, 5.0}, {1, 2, -2.0}, {2, 0, 1.0}, {1, 0, 1.0}}};

  const Problem problem = make_coloring({triangle, 2}, "triangle");

  EXPECT_EQ(problem.identity.family, "coloring");
  EXPECT_EQ(problem.units.sense, Sense::minimize);
  EXPECT_TRUE(problem.units.integral);
  EXPECT_FALSE(problem.known.best.has_value());
  EXPECT_EQ(verified(problem, {0, 0, 0}), 3);
  EXPECT_EQ(verified(problem, {0, 1, 0}), 1);
}

TEST(Coloring, WantsANumberOfColors) {
  const auto made = [](std::int32_t colors) {
    return code_of([&] { make_coloring({problems::queen_graph(3), colors}); });
  };
  EXPECT_EQ(made(0), "problem.colors");
  EXPECT_EQ(made(1), "problem.colors");
  EXPECT_EQ(made(-3), "problem.colors");
  EXPECT_EQ(made(65536), "problem.colors");
  EXPECT_EQ(made(65535), "accepted");
  EXPECT_EQ(made(128), "accepted");
  EXPECT_EQ(made(127), "accepted");
  EXPECT_EQ(made(Coloring::fewest), "accepted");
}

// On a board of 2 x 2 squares all are joined.
TEST(Coloring, RefusalSaysWhatWouldHelp) {
  try {
    make_coloring({problems::queen_graph(2), 0}, "board");
    FAIL() << "was accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(error.fix().find("--colors min"), std::string::npos) << error.fix();
    EXPECT_NE(error.fix().find("--colors 4"), std::string::npos) << error.fix();
    EXPECT_NE(error.expected().find("2 .. 65535"), std::string::npos) << error.expected();
  }
}

// The same model, in bytes and in 32 bits, is annealed in the same range.
TEST(Coloring, RangeOfManyColorsIsThatOfThePottsModel) {
  const Graph graph = problems::random_graph(90, 60, 3);
  const auto few = make_coloring({graph, 127}).objective->beta_range();
  const auto many = make_coloring({graph, 128}).objective->beta_range();

  EXPECT_NEAR(many.hot, few.hot * std::sqrt(128.0 / 127), 1e-9 * few.hot);
  EXPECT_GT(many.cold, 0.9 * few.cold);
  EXPECT_LT(many.cold, 1.1 * few.cold);
}

// A Potts model whose energy is as low stays one to be sampled: its runs go on.
TEST(Coloring, HasNoFewerConflictsThanNone) {
  const Graph graph = problems::random_graph(30, 20, 3);
  for (const std::int32_t colors : {3, 127, 128, 300}) {
    EXPECT_EQ(make_coloring({graph, colors}).known.bound, 0) << colors;
  }
  EXPECT_EQ(make_potts({30, 3, {}, graph.edges}).known.bound, std::nullopt);
}

TEST(Coloring, FewestColorsAreCountedAnew) {
  const Graph path{3, {{0, 1, 1.0}, {1, 2, 1.0}}};
  const Problem problem = make_coloring({path, Coloring::fewest}, "path");
  const auto value = [&](std::vector<std::int32_t> colors) {
    return problem.solution.verify(spans_of(State{std::move(colors)}));
  };

  EXPECT_EQ(problem.start.schedule, "tabu-coloring");
  EXPECT_EQ(value({0, 1, 0}), 2);
  EXPECT_EQ(value({1, 0, 2}), 3);
  EXPECT_EQ(value({0, 0, 1}), 4);  // worse than any colouring of three vertices
  EXPECT_EQ(value({1, 1, 1}), 5);
}

TEST(Coloring, IsFoundByAnnealing) {
  const Problem problem = make_coloring({problems::mycielski_graph(5), 6}, "myciel5");
  SimulatedAnnealing annealing;
  RunOptions options;
  options.device = "cpu";
  options.replicas = 33;
  Budget budget;
  budget.sweeps = 500;
  budget.target = 0;

  const Result result = Engine(options).run(problem, annealing, budget);

  EXPECT_EQ(result.objective, 0);
  EXPECT_TRUE(result.verified);
}

// Real weights: energies are evaluated anew instead of being updated.
TEST(Potts, RealModelsAreVerifiedToo) {
  Potts model = problems::potts_torus(6, 6, 3, 1);
  for (std::size_t k = 0; k < model.couplings.size(); ++k) {
    model.couplings[k].weight *= 0.1 + 0.01 * static_cast<double>(k);
  }
  model.fields = {{0, 1, 0.7}, {9, 2, -0.3}};
  const Problem problem = make_potts(model, "real");
  SimulatedAnnealing annealing;
  RunOptions options;
  options.device = "cpu";
  options.replicas = 40;
  Budget budget;
  budget.sweeps = 300;

  const Result result = Engine(options).run(problem, annealing, budget);

  EXPECT_TRUE(result.verified);
  EXPECT_LT(result.objective, 0);
}

}  // namespace
}  // namespace kiln::potts_test
