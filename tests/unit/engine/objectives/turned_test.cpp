// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The other end of a problem, by its own model where that has one.
#include "kiln/objectives/turned.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/objectives/coloring.hpp"
#include "kiln/problems/generators.hpp"
#include "kiln/problems/potts.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "backends/cpu_options.hpp"

namespace kiln::turned_test {
namespace {

using test::options;

Potts some_potts(double unit) {
  Potts model{7, 3, {{0, 1, 3 * unit}, {2, 0, -2 * unit}, {6, 2, unit}}, {}};
  for (std::int32_t u = 0; u < 7; ++u) {
    for (std::int32_t v = u + 1; v < 7; ++v) {
      const int weight = (5 * u + 3 * v) % 7 - 3;
      if (weight != 0) model.couplings.push_back({u, v, weight * unit});
    }
  }
  return model;
}

double energy_by_definition(const Potts& model, const std::vector<std::int32_t>& x) {
  double energy = 0;
  for (const PottsField& field : model.fields) {
    if (x[static_cast<std::size_t>(field.variable)] == field.value) energy += field.amount;
  }
  for (const Edge& e : model.couplings) {
    if (x[static_cast<std::size_t>(e.u)] == x[static_cast<std::size_t>(e.v)]) energy += e.weight;
  }
  return energy;
}

// Oracle: the definition, at all 3^7 states. Integers, multiples of 1/8, and reals.
TEST(Turned, PottsModelsKeepTheirValuesAndChangeTheirEnergies) {
  for (const double unit : {1.0, 0.125, 0.3}) {
    const Potts model = some_potts(unit);
    const Problem problem = make_potts(model), other = turned(problem);
    const auto stored = problem.objective->reference(), negated = other.objective->reference();
    double greatest = -std::numeric_limits<double>::infinity();
    for (int state = 0; state < 2187; ++state) {
      std::vector<std::int32_t> x;
      for (int rest = state, i = 0; i < 7; ++i, rest /= 3) x.push_back(rest % 3);
      const State full{x};
      const double value = energy_by_definition(model, x);
      greatest = std::max(greatest, value);
      ASSERT_EQ(negated(spans_of(full)), -stored(spans_of(full))) << state;
      ASSERT_NEAR(other.units.objective_of_stored(negated(spans_of(full))), value, 1e-12);
      ASSERT_NEAR(other.units.energy_of_stored(negated(spans_of(full))), -value, 1e-12);
      ASSERT_NEAR(other.solution.verify(spans_of(full)), value, 1e-12);
    }
    EXPECT_EQ(other.units.sense, Sense::maximize);
    SimulatedAnnealing schedule;
    const Result result = Engine(options(64)).run(other, schedule, {.sweeps = 200});
    EXPECT_TRUE(result.verified);
    EXPECT_NEAR(result.objective, greatest, 1e-12) << unit;
    EXPECT_NEAR(result.energy, -greatest, 1e-12) << unit;
  }
}

// A host objective has neither its kernels nor a GPU.
TEST(Turned, ColoringsKeepTheirKernels) {
  const Problem problem = make_coloring({problems::queen_graph(5), 5});
  const Problem other = turned(problem);
  EXPECT_TRUE(other.objective->offers<Sweeps>());
  EXPECT_TRUE(other.objective->execution().cuda);
  EXPECT_NE(other.objective->execution().pace, Pace::host);
  EXPECT_EQ(other.objective->beta_range().cold, problem.objective->beta_range().cold);
  SimulatedAnnealing schedule;
  const Result result = Engine(options(64)).run(other, schedule, {.sweeps = 200});
  EXPECT_EQ(result.objective, 160) << "all edges join equal colours";
  const Problem again = turned(other);
  EXPECT_EQ(again.units.sense, Sense::minimize);
  const Result least = Engine(options(64)).run(again, schedule, {.sweeps = 400});
  EXPECT_EQ(least.objective, 0);
}

TEST(Turned, RefusesWhatHasNoOtherEndForTheReasonThatTheObjectiveGives) {
  const Problem fewest = make_coloring({problems::queen_graph(5), Coloring::fewest}, "board");
  try {
    turned(fewest);
    FAIL() << "the most colours";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.message(), "'board' cannot maximise the number of colours");
    ASSERT_EQ(error.fix_steps().steps().size(), 1u);
    EXPECT_EQ(error.fix_steps().steps().front().code, FixCode::keep_sense);
  }
}

// Of more colours than a Potts model takes; there a search for few conflicts is of no use.
TEST(Turned, ColoringsOfManyColorsAreCalledOnTheHost) {
  const Problem problem = make_coloring({problems::queen_graph(5), 200});
  EXPECT_EQ(problem.start.schedule, "tabu-coloring");
  const Problem other = turned(problem);
  EXPECT_EQ(other.start.schedule, "");
  EXPECT_EQ(other.objective->execution().pace, Pace::host);
  const State equal{std::vector<std::int32_t>(25, 7)};
  EXPECT_EQ(other.objective->reference()(spans_of(equal)), -160) << "all edges";
}

// The model has moves for either sense, the search for few conflicts has not.
TEST(Turned, ColoringsOfFewColorsLoseTheirSchedule) {
  const Problem problem = make_coloring({problems::queen_graph(5), 5});
  EXPECT_EQ(problem.start.schedule, "tabu-coloring");
  const Problem other = turned(problem);
  EXPECT_EQ(other.start.schedule, "");
  EXPECT_EQ(other.objective->execution().pace, Pace::device);
  EXPECT_EQ(other.objective->as<ColoringModelled>(), nullptr);
  const State equal{std::vector<std::int32_t>(25, 3)};
  EXPECT_EQ(other.objective->reference()(spans_of(equal)), -160) << "all edges";
}

}  // namespace
}  // namespace kiln::turned_test
