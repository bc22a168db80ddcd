// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/objectives/vector_objective.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/errors.hpp"

#include "backends/cpu_queue.hpp"
#include "front_method.hpp"

namespace kiln::vector_objective_test {
namespace {

using test::complaint;
using Out = std::span<double>;
using Reals = std::span<const double>;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

const Space unit_square = Space::reals(2, 0, 1);

/// The variables themselves; a state is infeasible beyond x + y = 1.5.
void coordinates(StateSpan state, Out f, Out g) {
  const auto x = std::get<Reals>(state[0]);
  f[0] = x[0];
  f[1] = x[1];
  if (!g.empty()) g[0] = x[0] + x[1] - 1.5;
}

std::shared_ptr<const Objective> on_host(HostVectorCallable function, int objectives = 2,
                                         int constraints = 0, const Space& space = unit_square) {
  return make_host_vector_objective("own", space, objectives, constraints, std::move(function));
}

Problem coordinates_problem(int constraints = 0, Objectives objectives = {}) {
  return make_multi_objective_problem("own", "host", on_host(coordinates, 2, constraints),
                                      std::move(objectives));
}

/// The same functor for tests of make_functor_vector_objective.
struct Coordinates {
  KILN_HD static constexpr int objectives() { return 2; }
  KILN_HD static constexpr int constraints() { return 1; }
  template <class Point>
  KILN_HD void operator()(const Point& x, double* f, double* g) const {
    f[0] = x[0];
    f[1] = x[1];
    g[0] = x[0] + x[1] - 1.5;
  }
};

Result search(const Problem& problem, int threads = 1) {
  test::FrontMethod chosen;
  chosen.population = 20;
  const auto schedule = chosen.schedule();
  RunOptions options;
  options.device = "cpu";
  options.threads = threads;
  return Engine(options).run(problem, *schedule, {.sweeps = 20});
}

State at(double x, double y) { return {std::vector<double>{x, y}}; }

FrontCandidates candidates_at(const std::vector<std::pair<double, double>>& places) {
  FrontCandidates candidates;
  for (const auto& [x, y] : places) candidates.states.push_back(at(x, y));
  return candidates;
}

Front front_of(const Problem& problem, FrontCandidates candidates) {
  const auto queue = test::cpu_queue();
  return make_front(problem, std::move(candidates), *queue);
}

TEST(VectorObjective, RefusesNumbersThatDoNotFit) {
  EXPECT_EQ(complaint([] { on_host(coordinates, 1); }),
            "objective.outputs: objective 'own' has 1 objectives");
  EXPECT_EQ(complaint([] { on_host(coordinates, max_objectives + 1); }),
            "objective.outputs: objective 'own' has 17 objectives");
  EXPECT_EQ(complaint([] { on_host(coordinates, 2, max_constraints + 1); }),
            "objective.outputs: objective 'own' has 17 constraints");
  EXPECT_EQ(complaint([] { on_host(coordinates, 2, -1); }),
            "objective.outputs: objective 'own' has -1 constraints");
  EXPECT_EQ(complaint([] { on_host(coordinates, max_objectives, max_constraints); }), "accepted");
}

TEST(VectorObjective, RefusesSpacesThatCannotBeVaried) {
  const char* unbounded = "objective.bounds: objective 'own' has reals without bounds";
  EXPECT_EQ(complaint([] { on_host(coordinates, 2, 0, Space::reals(2, -inf, inf)); }), unbounded);
  EXPECT_EQ(complaint([] { on_host(coordinates, 2, 0, Space::reals(2, 0, inf)); }), unbounded);
  const std::vector<Block> nine(9, Block{BlockKind::binary, 1, 0, 1});
  EXPECT_EQ(complaint([&] { on_host(coordinates, 2, 0, Space(nine)); }),
            "space.blocks: a space can have at most 8 blocks");
}

TEST(VectorObjective, RefusesEmptyFunctions) {
  EXPECT_EQ(complaint([] { on_host({}); }), "objective.empty: objective 'own' is empty");
  EXPECT_EQ(complaint([] { make_vector_objective("own", unit_square, nullptr); }),
            "objective.empty: objective 'own' is empty");
}

TEST(VectorObjective, GivesItsSpaceTheNumberOfValues) {
  EXPECT_EQ(on_host(coordinates, 5)->space().outputs(), 5);
  EXPECT_EQ(on_host(coordinates, 5)->space().blocks(), unit_square.blocks());
  EXPECT_EQ(on_host(coordinates)->execution().pace, Pace::host);
  EXPECT_FALSE(on_host(coordinates)->execution().cuda);
  EXPECT_EQ(make_functor_vector_objective("own", unit_square, Coordinates{})->execution().pace,
            Pace::device);
}

TEST(VectorObjective, ExceptionsOfTheFunctionEndTheRun) {
  const auto outcome = [](HostVectorCallable function, int threads) {
    try {
      search(make_multi_objective_problem("own", "host", on_host(std::move(function))), threads);
    } catch (const ObjectiveError& error) {
      return error.code() + ": " + error.message();
    }
    return std::string("no error");
  };
  for (const int threads : {1, 3}) {
    EXPECT_EQ(outcome([](StateSpan, Out, Out) { throw std::runtime_error("no licence"); }, threads),
              "objective.threw: objective 'own' threw an exception: no licence");
    EXPECT_EQ(outcome([](StateSpan, Out, Out) { throw 7; }, threads),
              "objective.threw: objective 'own' threw an object that is not a std::exception");
  }
}

// The same values and the same draws.
TEST(VectorObjective, AFunctorAndACallableGiveTheSameRun) {
  const Result by_callable = search(coordinates_problem(1));
  const Result by_functor = search(make_multi_objective_problem(
      "own", "host", make_functor_vector_objective("own", unit_square, Coordinates{})));
  EXPECT_EQ(by_callable.front->points(), by_functor.front->points());
  EXPECT_EQ(by_callable.work.accepted, by_functor.work.accepted);
  EXPECT_TRUE(by_callable.verified && by_functor.verified);
}

TEST(MultiObjectiveProblem, RefusesListsOfAnotherLength) {
  const auto refusal = [](Objectives objectives) {
    return complaint([&] { coordinates_problem(0, std::move(objectives)); });
  };
  Objectives names, maximized, ideal, nadir;
  names.names = {"one", "two", "three"};
  maximized.maximized = {true};
  ideal.ideal = {0};
  nadir.ideal = {0, 0};
  nadir.nadir = {1, 1, 1};
  EXPECT_EQ(refusal(names), "objective.outputs: 3 names for 2 objectives");
  EXPECT_EQ(refusal(maximized), "objective.outputs: 1 directions for 2 objectives");
  EXPECT_EQ(refusal(ideal), "objective.outputs: 1 ideal values for 2 objectives");
  EXPECT_EQ(refusal(nadir), "objective.outputs: 3 nadir values for 2 objectives");
}

TEST(MultiObjectiveProblem, RefusesBoxesThatAreNone) {
  const auto refusal = [](std::vector<double> ideal, std::vector<double> nadir) {
    Objectives objectives;
    objectives.ideal = std::move(ideal);
    objectives.nadir = std::move(nadir);
    return complaint([&] { coordinates_problem(0, objectives); });
  };
  const char* const no_box = "objective.box: the ideal and nadir values do not span a box";
  EXPECT_EQ(refusal({0, 0}, {}), no_box);
  EXPECT_EQ(refusal({}, {1, 1}), no_box);
  EXPECT_EQ(refusal({0, 1}, {1, 1}), no_box);
  EXPECT_EQ(refusal({0, 0}, {1, inf}), no_box);
  EXPECT_EQ(refusal({0, 0}, {1, 1}), "accepted");
}

TEST(MultiObjectiveProblem, RefusesObjectivesOfOneValue) {
  const auto one =
      make_host_objective("single", unit_square, [](std::span<const double> x) { return x[0]; });
  EXPECT_EQ(complaint([&] { make_multi_objective_problem("own", "host", one); }),
            "objective.outputs: objective 'single' has only one value");
}

TEST(MultiObjectiveProblem, FillsInWhatIsLeftOut) {
  const Problem problem = coordinates_problem(1);
  const Objectives& objectives = *problem.objectives;
  EXPECT_EQ(objectives.names, (std::vector<std::string>{"f1", "f2"}));
  EXPECT_EQ(objectives.maximized, (std::vector<bool>{false, false}));
  EXPECT_EQ(problem.units.sense, Sense::maximize) << "of the hypervolume";
  const State inside = at(0.25, 0.5), outside = at(1, 0.75);
  EXPECT_EQ(objectives.evaluate(spans_of(inside)).values, (std::vector<double>{0.25, 0.5}));
  EXPECT_EQ(objectives.evaluate(spans_of(inside)).violation, 0);
  EXPECT_EQ(objectives.evaluate(spans_of(outside)).violation, 0.25);
}

TEST(MakeFront, SortsAndDropsWhatIsDominatedOrEqual) {
  const Front front = front_of(
      coordinates_problem(),
      candidates_at({{0.5, 0.5}, {0.9, 0.1}, {0.1, 0.9}, {0.5, 0.5}, {0.6, 0.5}, {0.9, 0.9}}));
  EXPECT_EQ(front.points(), (Points{{0.1, 0.9}, {0.5, 0.5}, {0.9, 0.1}}));
  EXPECT_EQ(front.members[1].state, at(0.5, 0.5));
  EXPECT_EQ(front.candidates, 6);
  EXPECT_EQ(front.infeasible, 0);
  EXPECT_EQ(front.extremes, (std::vector<std::size_t>{0, 2}));
  EXPECT_TRUE(front.verified);
}

TEST(MakeFront, MeasuresAroundTheFrontOrInTheBoxThatItIsGiven) {
  const auto places = candidates_at({{0.1, 0.9}, {0.5, 0.5}, {0.9, 0.1}});
  const Front around = front_of(coordinates_problem(), places);
  // In units of 0.1 .. 0.9 with the reference at 1.1: steps of 0.5, 0.5 and 0.1.
  EXPECT_NEAR(around.hypervolume, 0.5 * 0.1 + 0.5 * 0.6 + 0.1 * 1.1, 1e-12);
  EXPECT_EQ(around.half_width, 0);

  FrontCandidates in_box = places;
  in_box.box = {{0, 0}, {2, 2}, {0.5, 0.5}};
  const Front given = front_of(coordinates_problem(), in_box);
  EXPECT_EQ(given.box.reference_values(), (std::vector<double>{1, 1}));
  EXPECT_NEAR(given.hypervolume, (0.9 * 0.1 + 0.5 * 0.4 + 0.1 * 0.4) / 4, 1e-12);

  Objectives known;
  known.ideal = {0, 0};
  known.nadir = {1, 1};
  const Front in_known = front_of(coordinates_problem(0, known), places);
  EXPECT_EQ(in_known.box.reference, (std::vector<double>{1.1, 1.1}));
  EXPECT_NEAR(in_known.hypervolume, 1.0 * 0.2 + 0.6 * 0.4 + 0.2 * 0.4, 1e-12);
}

TEST(MakeFront, KeepsInfeasibleStatesAway) {
  const Problem problem = coordinates_problem(1);
  const Front some = front_of(problem, candidates_at({{1, 0.75}, {0.75, 0.75}, {0.8, 0.1}}));
  EXPECT_EQ(some.points(), (Points{{0.75, 0.75}, {0.8, 0.1}}));
  EXPECT_EQ(some.infeasible, 1);
  EXPECT_EQ(some.min_violation, 0);
  const Front none = front_of(problem, candidates_at({{1, 0.75}, {1, 1}}));
  EXPECT_TRUE(none.members.empty());
  EXPECT_EQ(none.hypervolume, 0);
  EXPECT_EQ(none.min_violation, 0.25);
}

TEST(MakeFront, VerifiesEveryValueOfTheDevice) {
  const Problem problem = coordinates_problem(1);
  FrontCandidates claimed = candidates_at({{0.5, 0.5}, {0.9, 0.1}, {1, 1}});
  claimed.values = {{0.5, 0.5}, {0.9, 0.1}, {1, 1}};
  claimed.violations = {0, 0, 0.5};
  EXPECT_TRUE(front_of(problem, claimed).verified);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 2; ++k) {
      FrontCandidates wrong = claimed;
      wrong.values[i][k] += 1e-6;
      EXPECT_FALSE(front_of(problem, wrong).verified) << i << ' ' << k;
      EXPECT_EQ(front_of(problem, wrong).points(), (Points{{0.5, 0.5}, {0.9, 0.1}}))
          << "the values of the host count";
      wrong.values[i][k] = nan;
      EXPECT_FALSE(front_of(problem, wrong).verified) << i << ' ' << k;
    }
    FrontCandidates wrong = claimed;
    wrong.violations[i] += 1e-6;
    EXPECT_FALSE(front_of(problem, wrong).verified) << i;
  }
  FrontCandidates rounded = claimed;
  rounded.values[1][0] *= 1 + 1e-15;
  EXPECT_TRUE(front_of(problem, rounded).verified) << "sums in another order";
}

// Stored with the sign changed, so the least stored value is the best.
TEST(MakeFront, ShowsMaximisedObjectivesAsUsersReadThem) {
  Objectives objectives;
  objectives.names = {"cost", "gain"};
  objectives.maximized = {false, true};
  const auto gains = on_host([](StateSpan state, Out f, Out) {
    const auto x = std::get<Reals>(state[0]);
    f[0] = x[0];
    f[1] = -x[1];
  });
  const Problem problem = make_multi_objective_problem("own", "host", gains, objectives);
  const Front front = front_of(problem, candidates_at({{0.2, 0.3}, {0.6, 0.8}, {0.6, 0.1}}));
  ASSERT_EQ(front.points(), (Points{{0.2, -0.3}, {0.6, -0.8}}));
  EXPECT_EQ(front.shown(0, front.members[1].values[0]), 0.6);
  EXPECT_EQ(front.shown(1, front.members[1].values[1]), 0.8);
  EXPECT_EQ(front.names[1], "gain");
}

// Ascending as users read them, whatever the sense.
TEST(MakeFront, OrdersMembersByTheFirstObjectiveAsItIsShown) {
  const auto pair = on_host([](StateSpan state, Out f, Out) {
    const auto x = std::get<Reals>(state[0]);
    f[0] = x[0];
    f[1] = x[1];
  });
  for (const bool maximized : {false, true}) {
    Objectives objectives;
    objectives.names = {"gain", "cost"};
    objectives.maximized = {maximized, false};
    const Problem problem = make_multi_objective_problem("own", "host", pair, objectives);
    const Front front =
        front_of(problem, candidates_at({{0.6, 0.3}, {0.2, 0.8}, {0.9, 0.1}, {0.4, 0.5}}));
    std::vector<double> shown;
    for (const FrontMember& member : front.members)
      shown.push_back(front.shown(0, member.values[0]));
    ASSERT_EQ(shown.size(), 4u);
    EXPECT_TRUE(std::ranges::is_sorted(shown)) << maximized;
    // The ends are where they were: members of the least and the greatest stored value.
    EXPECT_EQ(front.members[front.extremes[0]].values[0], 0.2);
    EXPECT_EQ(front.members[front.extremes[1]].values[1], 0.1);
  }
}

TEST(FrontBox, HasAnExtentInEveryObjective) {
  const FrontBox box = box_around({{0, 5}, {4, 5}, {1, nan}, {2, inf}});
  EXPECT_EQ(box.ideal, (std::vector<double>{0, 5}));
  EXPECT_EQ(box.nadir, (std::vector<double>{4, 6}));
  EXPECT_EQ(box.scaled({2, 5.5}), (std::vector<double>{0.5, 0.5}));
  EXPECT_TRUE(box_around({}).ideal.empty());
  const FrontBox of_nothing = box_around({{nan, inf}});
  EXPECT_EQ(of_nothing.ideal, (std::vector<double>{0, 0}));
  EXPECT_EQ(of_nothing.nadir, (std::vector<double>{1, 1}));
}

TEST(FrontBox, ReferencesComeBackInUnitsOfTheObjectives) {
  const FrontBox box{{10, -4}, {20, -2}, {1.5, 0.5}};
  EXPECT_EQ(box.reference_values(), (std::vector<double>{25, -3}));
  EXPECT_EQ(box.scaled(box.reference_values()), box.reference);
}

}  // namespace
}  // namespace kiln::vector_objective_test
