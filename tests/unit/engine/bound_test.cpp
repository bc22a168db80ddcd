// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Only what programs that embed the engine see: Engine, and the members of a problem.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kiln/kiln.hpp"

#include "backends/cpu_options.hpp"
#include "backends/cpu_queue.hpp"
#include "models/coloring_graphs.hpp"
#include "models/small_models.hpp"

namespace kiln::bound_test {
namespace {

using test::complaint;

using Values = std::vector<double>;

// The values of all states, each once, the best first.
struct Case {
  Problem problem;
  Values values;
};

Case listed(Problem problem, const std::vector<State>& states) {
  Case made{std::move(problem), {}};
  for (const State& state : states)
    made.values.push_back(made.problem.solution.verify(spans_of(state)));
  std::ranges::sort(made.values, [&](double a, double b) { return made.problem.better(a, b); });
  made.values.erase(std::unique(made.values.begin(), made.values.end()), made.values.end());
  return made;
}

std::vector<State> all_numbers(std::int32_t n, std::int32_t lower, std::int32_t upper) {
  std::vector<State> states;
  std::vector<std::int32_t> values(static_cast<std::size_t>(n), lower);
  for (;;) {
    states.push_back({values});
    auto at = values.begin();
    for (; at != values.end() && *at == upper; ++at) *at = lower;
    if (at == values.end()) return states;
    ++*at;
  }
}

std::vector<State> all_orders(std::int32_t n) {
  std::vector<State> states;
  std::vector<std::int32_t> order;
  for (std::int32_t i = 0; i < n; ++i) order.push_back(i);
  do {
    states.push_back({order});
  } while (std::next_permutation(order.begin(), order.end()));
  return states;
}

// Whole numbers that depend on each value and its place, so that few states share one.
double of_numbers(std::span<const std::int32_t> x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double v = x[i], next = x[(i + 1) % x.size()];
    sum += static_cast<double>(i + 1) * v + (v - next) * (v - next);
  }
  return sum;
}

// Steps of reals: |x| within 1 counts 0, within 2 one more, ...; the box ends at 8.
double of_reals(std::span<const double> x) {
  double sum = 0;
  for (const double v : x) sum += std::floor(std::min(std::abs(v), 7.5));
  return sum;
}

Case of_real_numbers() {
  const Space space = Space::reals(3, -8, 8);
  Case made{make_problem(make_host_objective("steps", space, of_reals)), {}};
  for (int value = 0; value <= 21; ++value) made.values.push_back(value);
  return made;
}

Potts three_values() {
  Potts potts;
  potts.n = 6;
  potts.q = 3;
  potts.couplings = test::random_graph(6, 16, 5).edges;
  potts.fields = {{0, 1, 2}, {3, 2, -3}};
  return potts;
}

// The number of colours, where a colouring is proper, by colours of all vertices.
Case fewest_colors() {
  const Graph graph = test::cycle(7);
  Case made{make_coloring({graph, Coloring::fewest}, "ring"), {3}};
  made.problem.start.states = {State{std::vector<std::int32_t>(7, 0)}};  // nothing proper
  return made;
}

Case two_blocks() {
  const Space space({{BlockKind::binary, 3, 0, 1}, {BlockKind::integer, 3, 0, 4}});
  const auto value = [](StateSpan state) {
    double sum = of_numbers(std::get<std::span<const std::int32_t>>(state[1]));
    for (const std::int8_t bit : std::get<std::span<const std::int8_t>>(state[0])) sum += 7 * bit;
    return sum;
  };
  std::vector<State> states;
  for (const State& bits : test::all_states(3, false)) {
    for (const State& numbers : all_numbers(3, 0, 4)) {
      states.push_back({bits.front(), numbers.front()});
    }
  }
  return listed(make_problem(make_host_objective("mixed", space, value)), states);
}

Case of_host(const std::string& name, const Space& space, const std::vector<State>& states) {
  return listed(make_problem(make_host_objective(name, space, of_numbers)), states);
}

// One of each kind of space and of each family that has a sweep of its own, in its own sense.
std::vector<Case> own_senses() {
  const std::vector<State> spins = test::all_states(9, true), bits = test::all_states(9, false);
  Qubo qubo;
  qubo.n = 9;
  qubo.linear = {3, -5, 4, 2, -6, 4, 1, -1, 2};
  for (const Edge& e : test::random_graph(9, 10, 7).edges)
    qubo.quadratic.push_back({e.u, e.v, e.weight});
  std::vector<Case> cases;
  cases.push_back(listed(make_ising(test::random_ising(9, 16, 3), "spins"), spins));
  cases.push_back(listed(make_ising(test::random_ising(9, 16, 3, 0.25), "quarters"), spins));
  cases.push_back(listed(make_maxcut(test::random_graph(9, 16, 9), "cut"), spins));
  cases.push_back(listed(make_qubo(qubo, Sense::minimize, "bits"), bits));
  cases.push_back(listed(make_qubo(qubo, Sense::maximize, "most bits"), bits));
  cases.push_back(listed(make_potts(three_values(), "categories"), all_numbers(6, 0, 2)));
  cases.push_back(listed(make_coloring({test::complete_graph(6), 3}), all_numbers(6, 0, 2)));
  cases.push_back(fewest_colors());
  cases.push_back(of_host("integers", Space::integers(4, -2, 3), all_numbers(4, -2, 3)));
  cases.push_back(of_host("names", Space::categories(4, 5), all_numbers(4, 0, 4)));
  cases.push_back(of_host("order", Space::permutation(6), all_orders(6)));
  cases.push_back(of_real_numbers());
  cases.push_back(two_blocks());
  return cases;
}

// And in the other sense, where there is one: the same values, the worst of them first.
std::vector<Case> both_senses() {
  std::vector<Case> cases = own_senses();
  const std::size_t own = cases.size();
  for (std::size_t i = 0; i < own; ++i) {
    if (cases[i].values.size() == 1) continue;  // the fewest colours
    Case other{turned(cases[i].problem), cases[i].values};
    std::ranges::reverse(other.values);
    cases.push_back(std::move(other));
  }
  return cases;
}

std::string title(const Case& one) {
  return one.problem.identity.name + ' ' + one.problem.objective->name() +
         (one.problem.units.sense == Sense::maximize ? ", maximised" : ", minimised");
}

constexpr std::int64_t many = 20000;

SimulatedAnnealing annealing() {
  SimulatedAnnealingOptions options;
  options.anneal_sweeps = 500;
  return SimulatedAnnealing(options);
}

Result annealed(const Problem& problem, const Budget& budget, std::int64_t replicas = 2) {
  SimulatedAnnealing schedule = annealing();
  return Engine(test::options(replicas)).run(problem, schedule, budget);
}

double worse_by(const Problem& problem, double value, double amount) {
  return problem.units.sense == Sense::maximize ? value - amount : value + amount;
}

TEST(Bound, EndsARunOfAnySpaceAsConverged) {
  for (Case& one : both_senses()) {
    SCOPED_TRACE(title(one));
    one.problem.known.bound = one.values.front();
    const Result result = annealed(one.problem, {.sweeps = many});
    EXPECT_EQ(result.stop, Stop::converged);
    EXPECT_EQ(result.objective, one.values.front());
    EXPECT_LT(result.work.sweeps, many);
    EXPECT_EQ(result.target, std::nullopt) << "nobody asked for it";
  }
}

TEST(Bound, AWeakerTargetComesFirst) {
  for (Case& one : both_senses()) {
    SCOPED_TRACE(title(one));
    const double best = one.values.front();
    one.problem.known.bound = best;
    // Any value at all reaches it.
    const double weak = worse_by(one.problem, one.values.back(), one.values.size() == 1 ? 5 : 0);
    const Result result = annealed(one.problem, {.sweeps = many, .target = weak});
    EXPECT_EQ(result.stop, Stop::target_reached);
    EXPECT_FALSE(one.problem.better(weak, result.objective));
    EXPECT_EQ(result.target, weak);
    // Reached by a search that does not need to get to the bound.
    if (one.values.size() < 3) continue;
    const double next = one.values[1];
    const Result searched = annealed(one.problem, {.sweeps = many, .target = next});
    EXPECT_EQ(searched.stop, Stop::target_reached);
    EXPECT_FALSE(one.problem.better(next, searched.objective));
    const Result equal = annealed(one.problem, {.sweeps = many, .target = best});
    EXPECT_EQ(equal.stop, Stop::target_reached) << "it is the target, too";
    EXPECT_EQ(equal.objective, best);
  }
}

TEST(Bound, ComesBeforeATargetThatNoStateReaches) {
  for (Case& one : both_senses()) {
    SCOPED_TRACE(title(one));
    const double best = one.values.front(), beyond = worse_by(one.problem, best, -0.5);
    one.problem.known.bound = best;
    const Result result = annealed(one.problem, {.sweeps = many, .target = beyond});
    EXPECT_EQ(result.stop, Stop::converged);
    EXPECT_EQ(result.objective, best);
    EXPECT_LT(result.work.sweeps, many);
    EXPECT_EQ(result.target, beyond) << "what the user asked for, and did not get";
  }
}

TEST(Bound, ThatNoStateReachesChangesNothing) {
  const Budget budget{.sweeps = 203};
  for (Case& one : both_senses()) {
    SCOPED_TRACE(title(one));
    const Result without = annealed(
        [&] {
          Problem problem = one.problem;
          problem.known.bound.reset();
          return problem;
        }(),
        budget);
    ASSERT_EQ(without.stop, Stop::sweep_limit);
    for (const double beyond : {0.5, 1e6, std::numeric_limits<double>::infinity()}) {
      one.problem.known.bound = worse_by(one.problem, one.values.front(), -beyond);
      const Result result = annealed(one.problem, budget);
      EXPECT_EQ(result.stop, Stop::sweep_limit);
      EXPECT_EQ(result.work.sweeps, 203);
      EXPECT_EQ(result.work.accepted, without.work.accepted) << "the same path";
      EXPECT_EQ(result.solution, without.solution);
      const Result timed = annealed(one.problem, {.time_limit_s = 0.001});
      EXPECT_EQ(timed.stop, Stop::time_limit);
    }
  }
}

// A target beside it is reached all the same.
TEST(Bound, ThatNoStateReachesDoesNotHideATarget) {
  for (Case& one : both_senses()) {
    SCOPED_TRACE(title(one));
    one.problem.known.bound = worse_by(one.problem, one.values.front(), -0.5);
    const Result result = annealed(one.problem, {.sweeps = many, .target = one.values.front()});
    EXPECT_EQ(result.stop, Stop::target_reached);
    EXPECT_LT(result.work.sweeps, many);
  }
}

TEST(Bound, EndsRunsWithoutALimitAndRunsThatGoOn) {
  Case one = own_senses().front();
  one.problem.known.bound = one.values.front();
  EXPECT_LT(annealed(one.problem, {}).work.sweeps, 500) << "the anneal was cut short";
  SimulatedAnnealing schedule = annealing();
  kiln::Run run(one.problem, schedule, {.sweeps = many}, test::options(2), open_backend("cpu", 1));
  const Result first = run.advance_to({.sweeps = 8, .target = one.values.back()});
  EXPECT_EQ(first.stop, Stop::target_reached);
  EXPECT_EQ(run.advance().stop, Stop::converged);
  EXPECT_EQ(run.advance_to({.sweeps = many, .target = one.values.front()}).stop,
            Stop::target_reached);
}

TEST(Bound, EndsEveryScheduleThatSearches) {
  Case one = own_senses().front();
  one.problem.known.bound = one.values.front();
  for (const char* name :
       {"simulated-annealing", "parallel-tempering", "population-annealing", "replica-exchange"}) {
    const auto schedule = builtin_registry().schedule(name).make({});
    RunOptions options = test::options(0);
    const Result result = Engine(options).run(one.problem, *schedule, {.sweeps = many});
    EXPECT_EQ(result.stop, Stop::converged) << name;
    EXPECT_EQ(result.objective, one.values.front()) << name;
    EXPECT_LT(result.work.sweeps, many) << name;
  }
  Case steps = of_real_numbers();
  steps.problem.known.bound = 0;
  BayesianOptimization few({.evaluations = 200, .studies = 1});
  const Result result = Engine(test::options(0)).run(steps.problem, few, {});
  EXPECT_EQ(result.objective, 0);
  EXPECT_LT(result.work.sweeps, 200);
}

TEST(Bound, IsRefusedWhereItIsNoNumber) {
  Case one = own_senses().front();
  one.problem.known.bound = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(complaint([&] { annealed(one.problem, {.sweeps = 1}); }),
            "problem.bound: the bound of problem 'spins' is not a number");
}

TEST(Turned, ForgetsTheBoundAndTheKnownStates) {
  for (Case& one : own_senses()) {
    if (one.values.size() == 1) continue;
    SCOPED_TRACE(title(one));
    one.problem.known.bound = one.values.front();
    SimulatedAnnealing schedule = annealing();
    one.problem.start.states = {
        Engine(test::options(2)).run(one.problem, schedule, {.sweeps = many}).solution};
    const Problem other = turned(one.problem);
    EXPECT_EQ(other.known.bound, std::nullopt);
    EXPECT_TRUE(other.start.states.empty());
    const Result result = annealed(other, {.sweeps = 2000});
    EXPECT_EQ(result.stop, Stop::sweep_limit) << "its best was the worst of the other";
    EXPECT_EQ(result.objective, one.values.back());
  }
}

TEST(Bound, OfSeveralObjectivesIsOneOfTheirVolume) {
  Problem problem = problems::zdt(1, 4);
  for (const double bound : {0.4, 3.0}) {  // 1.21 - 1/3 is the most there is
    problem.known.bound = bound;
    Evolutionary search;
    const Result result = Engine(test::options(0)).run(problem, search, {.sweeps = 100});
    EXPECT_EQ(result.stop, bound < 1 ? Stop::converged : Stop::sweep_limit);
    EXPECT_EQ(result.objective >= bound, bound < 1);
  }
}

TEST(Scalarized, ForgetsTheBoundOfTheVolume) {
  Problem problem = problems::zdt(1, 4);
  problem.known.bound = 3;  // of what is maximised: any weighed value is smaller
  const Problem single = scalarized(problem);
  EXPECT_EQ(single.known.bound, std::nullopt);
  const Result result = annealed(single, {.sweeps = 16});
  EXPECT_EQ(result.stop, Stop::sweep_limit);
  EXPECT_EQ(result.work.sweeps, 16);
}

}  // namespace
}  // namespace kiln::bound_test
