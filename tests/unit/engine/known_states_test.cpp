// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Only what programs that embed the engine see: Engine, and the members of a problem.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kiln/kiln.hpp"

#include "backends/cpu_options.hpp"
#include "backends/cpu_queue.hpp"
#include "models/coloring_graphs.hpp"
#include "models/small_models.hpp"

namespace kiln::known_states_test {
namespace {

using test::complaint;

// Notes the states in which it begins, and moves nothing.
class Idle final : public Schedule {
 public:
  std::string name() const override { return "idle"; }
  std::map<std::string, std::string> parameters() const override { return {}; }
  Needs needs(const Problem&, const Budget&) override { return {}; }
  void allocate(AllocateContext& run) override {
    begins.clear();
    given = run.given_states();
    for (std::int64_t r = 0; !run.counts_only() && r < run.batch().replicas(); ++r) {
      begins.push_back(run.batch()[r].state());
    }
  }
  void enqueue(TickContext& run) override { run.track_best(); }

  std::vector<State> begins;
  std::size_t given = 0;
};

// A problem of each kind of space with two of its states, the second one with a better value.
// Random states are not near either of them.
struct Known {
  Problem problem;
  State worse, better;
};

template <class T>
State ramp(std::size_t n, T step) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<T>(static_cast<T>(i) * step);
  return {values};
}

template <class T>
State same(std::size_t n, T value) {
  return {std::vector<T>(n, value)};
}

// Steps between neighbours, and a little for the first one.
double roughness(std::span<const std::int32_t> x) {
  double sum = 0.25 * x.front();
  for (std::size_t i = 1; i < x.size(); ++i) sum += std::abs(x[i] - x[i - 1]);
  return sum;
}

Problem on_host(const std::string& name, const Space& space) {
  return make_problem(make_host_objective(name, space, roughness));
}

std::vector<Known> of_each_space() {
  std::vector<Known> all;
  Ising ferromagnet;
  ferromagnet.n = 40;
  Qubo ones;
  ones.n = 40;
  Potts alike;
  alike.n = 40;
  alike.q = 3;
  for (std::int32_t i = 0; i < 40; ++i) {
    if (i < 39) ferromagnet.couplings.push_back({i, i + 1, 1});
    if (i < 39) alike.couplings.push_back({i, i + 1, -2});
    alike.fields.push_back({i, 2, -1});
    ones.linear.push_back(1 + i);
  }
  const Problem ising = make_ising(ferromagnet, "spins");
  State alternating = same<std::int8_t>(40, 1);
  auto& spins = std::get<std::vector<std::int8_t>>(alternating.front());
  for (std::size_t i = 0; i < 40; i += 2) spins[i] = -1;
  const State up = same<std::int8_t>(40, 1);
  const bool aligns =
      ising.solution.verify(spans_of(up)) < ising.solution.verify(spans_of(alternating));
  all.push_back({ising, aligns ? alternating : up, aligns ? up : alternating});
  State nearly = same<std::int8_t>(40, 1);
  std::get<std::vector<std::int8_t>>(nearly.front())[0] = 0;
  all.push_back({make_qubo(ones, Sense::maximize, "bits"), nearly, same<std::int8_t>(40, 1)});
  all.push_back(
      {make_potts(alike, "categories"), same<std::int32_t>(40, 0), same<std::int32_t>(40, 2)});
  all.push_back({make_coloring({test::complete_graph(9), Coloring::fewest}, "all joined"),
                 same<std::int32_t>(9, 0), ramp<std::int32_t>(9, 1)});
  all.push_back({on_host("integers", Space::integers(30, -50, 50)), same<std::int32_t>(30, -49),
                 same<std::int32_t>(30, -50)});
  State shifted = ramp<std::int32_t>(30, 1);
  auto& order = std::get<std::vector<std::int32_t>>(shifted.front());
  std::swap(order[4], order[5]);
  all.push_back({on_host("order", Space::permutation(30)), shifted, ramp<std::int32_t>(30, 1)});
  const auto bowl = [](std::span<const double> x, std::span<double> gradient) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum += (x[i] - 1) * (x[i] - 1);
      if (!gradient.empty()) gradient[i] = 2 * (x[i] - 1);
    }
    return sum;
  };
  all.push_back({make_problem(make_density_objective("reals", 12, bowl)),
                 same<double>(12, 1 + 0x1p-20), same<double>(12, 1 - 0x1p-21)});
  return all;
}

double value_of(const Problem& problem, const State& state) {
  return problem.solution.verify(spans_of(state));
}

bool no_worse(const Problem& problem, double value, double than) {
  return !problem.better(than, value);
}

TEST(KnownStates, AreWhereReplicasBegin) {
  for (Known& one : of_each_space()) {
    SCOPED_TRACE(one.problem.identity.name);
    ASSERT_TRUE(
        one.problem.better(value_of(one.problem, one.better), value_of(one.problem, one.worse)));
    one.problem.start.states = {one.worse, one.better};
    Idle idle;
    const Result result = Engine(test::options(5)).run(one.problem, idle, {.sweeps = 1});
    EXPECT_EQ(idle.begins,
              (std::vector<State>{one.worse, one.better, one.worse, one.better, one.worse}))
        << "repeated as often as needed";
    EXPECT_EQ(idle.given, 2u);
    EXPECT_EQ(result.objective, value_of(one.problem, one.better)) << "nothing moved";
    EXPECT_TRUE(result.verified);
  }
}

TEST(KnownStates, AreForgottenWhereTheUserGivesStates) {
  for (Known& one : of_each_space()) {
    SCOPED_TRACE(one.problem.identity.name);
    one.problem.start.states = {one.better, one.better};
    RunOptions options = test::options(4);
    options.initial_states = {one.worse};
    Idle idle;
    const Result result = Engine(options).run(one.problem, idle, {.sweeps = 1});
    EXPECT_EQ(idle.begins, std::vector<State>(4, one.worse));
    EXPECT_EQ(idle.given, 1u);
    EXPECT_EQ(result.objective, value_of(one.problem, one.worse));
  }
}

TEST(KnownStates, WithoutThemReplicasBeginAnywhere) {
  for (const Known& one : of_each_space()) {
    Problem problem = one.problem;
    problem.start.states.clear();  // the greedy colouring, too
    Idle idle;
    Engine(test::options(4)).run(problem, idle, {.sweeps = 1});
    EXPECT_EQ(idle.given, 0u) << problem.identity.name;
    EXPECT_NE(idle.begins[0], idle.begins[1]) << problem.identity.name;
  }
}

// At a cold temperature, where a random start needs longer than one sweep.
TEST(KnownStates, NoScheduleEndsWorseThanTheyAre) {
  const std::vector<std::pair<const char*, std::map<std::string, std::string>>> schedules{
      {"simulated-annealing", {{"beta_min", "1000"}, {"beta_max", "1000"}}},
      {"parallel-tempering", {{"beta_min", "900"}, {"beta_max", "1000"}}},
      {"replica-exchange", {{"beta_min", "900"}, {"beta_max", "1000"}}},
      {"population-annealing", {{"beta_min", "0"}, {"beta_max", "1000"}}},
  };
  for (Known& one : of_each_space()) {
    const double known = value_of(one.problem, one.better);
    one.problem.start.states = {one.better};
    one.problem.known.bound.reset();
    for (const auto& [name, parameters] : schedules) {
      const auto schedule = builtin_registry().schedule(name).make(parameters);
      const Result result = Engine(test::options(0)).run(one.problem, *schedule, {.sweeps = 1});
      EXPECT_TRUE(no_worse(one.problem, result.objective, known))
          << name << " on " << one.problem.identity.name << ": " << result.objective << ", known "
          << known;
      EXPECT_EQ(result.work.sweeps, 1);
    }
  }
}

TEST(KnownStates, HmcBeginsThere) {
  Known one = of_each_space().back();
  one.problem.start.states = {one.better};
  Hmc hmc({.mode = "anneal", .anneal_sweeps = 1});
  const Result result = Engine(test::options(4)).run(one.problem, hmc, {.sweeps = 1});
  EXPECT_LE(result.objective, value_of(one.problem, one.better));
}

TEST(KnownStates, ThatAreNoneOfTheSpaceAreRefused) {
  for (Known& one : of_each_space()) {
    SCOPED_TRACE(one.problem.identity.name);
    one.problem.start.states = {one.better, State{}};
    Idle idle;
    const std::string why =
        complaint([&] { Engine(test::options(4)).run(one.problem, idle, {.sweeps = 1}); });
    EXPECT_TRUE(why.starts_with("state.")) << why;
  }
}

// The optimum is known, and proven: there is nothing left to search for.
TEST(KnownStates, OneThatMeetsTheBoundEndsTheRunAtOnce) {
  for (Known& one : of_each_space()) {
    SCOPED_TRACE(one.problem.identity.name);
    one.problem.start.states = {one.better};
    one.problem.known.bound = value_of(one.problem, one.better);
    SimulatedAnnealing schedule;
    const Result result = Engine(test::options(4)).run(one.problem, schedule, {.sweeps = 10000});
    EXPECT_EQ(result.stop, Stop::converged);
    EXPECT_LE(result.work.ticks, 1);
    EXPECT_TRUE(no_worse(one.problem, result.objective, *one.problem.known.bound));
  }
}

}  // namespace
}  // namespace kiln::known_states_test
