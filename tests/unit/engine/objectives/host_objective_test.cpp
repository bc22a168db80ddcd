// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/objective.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "backends/cpu_queue.hpp"

namespace kiln::host_objective_test {
namespace {

using test::complaint;
using Reals = std::span<const double>;
using Ints = std::span<const std::int32_t>;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

RunOptions options(int threads = 2) {
  RunOptions options;
  options.device = "cpu";
  options.threads = threads;
  options.replicas = 32;
  return options;
}

Problem on_reals(std::int64_t n, double low, double high, std::function<double(Reals)> function,
                 bool thread_safe = true) {
  return make_problem(
      make_host_objective("f", Space::reals(n, low, high), std::move(function), thread_safe));
}

Result anneal(const Problem& problem, std::int64_t sweeps, const RunOptions& chosen = options()) {
  SimulatedAnnealing schedule;
  return Engine(chosen).run(problem, schedule, {.sweeps = sweeps});
}

double sphere(Reals x) {
  double sum = 0;
  for (const double v : x) sum += (v - 0.3) * (v - 0.3);
  return sum;
}

double rastrigin(Reals x) {
  double sum = 0;
  for (const double v : x) sum += v * v + 10 - 10 * std::cos(2 * std::numbers::pi * v);
  return sum;
}

TEST(HostObjective, AnnealsASphereToItsMinimum) {
  const Result result = anneal(on_reals(4, -5, 5, sphere), 600);
  EXPECT_LT(result.objective, 1e-3);
  EXPECT_TRUE(result.verified);
  EXPECT_EQ(result.objective, sphere(result.reals()));
  for (const double x : result.reals()) EXPECT_NEAR(x, 0.3, 0.05);
}

TEST(HostObjective, AnnealsOutOfTheLocalMinimaOfRastrigin) {
  EXPECT_LT(anneal(on_reals(4, -5.12, 5.12, rastrigin), 2000).objective, 1e-3);
}

TEST(HostObjective, AnnealsATourAroundACircle) {
  // Ten points on a circle, numbered so that neighbours are far apart in number.
  constexpr int n = 10;
  const auto length = [](Ints tour) {
    double sum = 0;
    for (std::size_t i = 0; i < tour.size(); ++i) {
      const int a = 3 * tour[i] % n, b = 3 * tour[(i + 1) % tour.size()] % n;
      sum += 2 * std::abs(std::sin(std::numbers::pi * (a - b) / n));
    }
    return sum;
  };
  const Problem problem = make_problem(
      make_host_objective("tour", Space::permutation(n), std::function<double(Ints)>(length)));

  const Result result = anneal(problem, 200);

  EXPECT_NEAR(result.objective, 2 * n * std::sin(std::numbers::pi / n), 1e-9);
  std::vector<std::int32_t> sorted = result.permutation();
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::int32_t> all(n);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(sorted, all) << "still a permutation";
  EXPECT_TRUE(result.verified);
}

TEST(HostObjective, AnnealsBitsCategoriesAndIntegers) {
  const auto far = [](StateSpan state) {
    double sum = 0;
    for (const std::int8_t s : std::get<std::span<const std::int8_t>>(state[0])) sum += s;
    for (const std::int8_t b : std::get<std::span<const std::int8_t>>(state[1])) sum += b;
    for (const std::int32_t c : std::get<Ints>(state[2])) sum += c == 2 ? 0 : 1;
    for (const std::int32_t i : std::get<Ints>(state[3])) sum += std::abs(i + 7);
    return sum;
  };
  const Space space({{BlockKind::spin, 4, -1, 1},
                     {BlockKind::binary, 4, 0, 1},
                     {BlockKind::category, 4, 0, 3},
                     {BlockKind::integer, 4, -20, 20}});
  const Result result = anneal(make_problem(make_host_objective("mixed", space, far)), 200);
  EXPECT_EQ(result.objective, -4);
  EXPECT_EQ(std::get<std::vector<std::int8_t>>(result.solution[0]),
            (std::vector<std::int8_t>{-1, -1, -1, -1}));
  EXPECT_EQ(std::get<std::vector<std::int32_t>>(result.solution[3]),
            (std::vector<std::int32_t>{-7, -7, -7, -7}));
}

TEST(HostObjective, NeverLeavesItsBounds) {
  std::atomic<int> outside = 0;
  const auto watch = [&](double low, double high, double target) {
    return on_reals(2, low, high, [&outside, low, high, target](Reals x) {
      double sum = 0;
      for (const double v : x) {
        if (!(v >= low && v <= high)) ++outside;
        sum += std::abs(v - target);
      }
      return sum;
    });
  };
  EXPECT_LT(anneal(watch(2, 3, 0), 300).objective, 4.01);
  EXPECT_LT(anneal(watch(5, inf, 0), 300).objective, 10.01);
  EXPECT_LT(anneal(watch(-inf, -5, 0), 300).objective, 10.01);
  EXPECT_LT(anneal(watch(-inf, inf, 7), 500).objective, 0.01);
  EXPECT_EQ(anneal(watch(4, 4, 0), 10).objective, 8);
  EXPECT_EQ(outside, 0);
}

TEST(HostObjective, ThreadsDoNotChangeThePath) {
  const Result one = anneal(on_reals(3, -5, 5, rastrigin), 50, options(1));
  const Result two = anneal(on_reals(3, -5, 5, rastrigin), 50, options(2));
  const Result alone = anneal(on_reals(3, -5, 5, rastrigin, false), 50, options(2));
  EXPECT_EQ(one.solution, two.solution);
  EXPECT_EQ(one.solution, alone.solution);
  EXPECT_EQ(one.work.accepted, two.work.accepted);
}

TEST(HostObjective, IsCalledByOneThreadUnlessItIsThreadSafe) {
  std::atomic<int> inside = 0, overlaps = 0;
  const auto watched = [&](Reals x) {
    if (++inside > 1) ++overlaps;
    const double value = sphere(x);
    --inside;
    return value;
  };
  anneal(on_reals(2, -5, 5, watched, false), 20, options(4));
  EXPECT_EQ(overlaps, 0);
}

TEST(HostObjective, CountsNaNAndNeverTakesIt) {
  // Nothing right of 0.5 has a value.
  const auto half = [](Reals x) { return x[0] > 0.5 ? nan : sphere(x); };
  const Result result = anneal(on_reals(2, -5, 5, half), 200);
  EXPECT_GT(result.work.not_finite, 0u);
  EXPECT_LT(result.objective, 1e-2);
  EXPECT_LE(result.reals()[0], 0.5);
  EXPECT_TRUE(result.verified);
}

TEST(HostObjective, InfinitiesOfEitherSignAreNeverBest) {
  for (const double bad : {inf, -inf}) {
    const auto broken = [bad](Reals x) { return x[0] > 0 ? bad : sphere(x); };
    const Result result = anneal(on_reals(2, -5, 5, broken), 200);
    EXPECT_GT(result.work.not_finite, 0u) << bad;
    EXPECT_TRUE(std::isfinite(result.objective)) << bad;
    EXPECT_LE(result.reals()[0], 0) << bad;
    EXPECT_NEAR(result.objective, 0.09, 1e-2) << bad;
    EXPECT_TRUE(result.verified) << bad;
  }
}

TEST(HostObjective, MinusInfinityDoesNotReachATarget) {
  SimulatedAnnealing schedule;
  const auto broken = [](Reals x) { return x[0] > 0 ? -inf : 1 + sphere(x); };
  const Result result =
      Engine(options()).run(on_reals(2, -5, 5, broken), schedule, {.sweeps = 20, .target = 0.5});
  EXPECT_EQ(result.stop, Stop::sweep_limit);
}

TEST(HostObjective, WithoutAnyFiniteValueThereIsNoAnswer) {
  EXPECT_THROW(anneal(on_reals(2, -5, 5, [](Reals) { return nan; }), 5), ObjectiveError);
}

TEST(HostObjective, AnExceptionEndsTheRunAsObjectiveError) {
  const auto throwing = [](Reals x) -> double {
    if (x[0] > 2) throw std::runtime_error("no value right of 2");
    return sphere(x);
  };
  try {
    anneal(on_reals(2, -5, 5, throwing), 50);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const ObjectiveError& error) {
    EXPECT_EQ(error.code(), "objective.threw");
    EXPECT_EQ(error.message(), "objective 'f' threw an exception: no value right of 2");
  }
}

TEST(HostObjective, AnythingThrownEndsTheRunAsObjectiveError) {
  EXPECT_THROW(anneal(on_reals(2, -5, 5, [](Reals) -> double { throw 42; }), 5), ObjectiveError);
}

TEST(HostObjective, RefusesASpaceThatTheFunctionCannotTake) {
  const std::function<double(Reals)> reals = sphere;
  const std::function<double(Ints)> ints = [](Ints) { return 0.0; };
  EXPECT_EQ(complaint([&] { make_host_objective("f", Space::spins(3), reals); }),
            "objective.space: objective 'f' takes reals, but its space is not a single block of "
            "this kind");
  EXPECT_EQ(complaint([&] { make_host_objective("f", Space::reals(3, 0, 1), ints); }),
            "objective.space: objective 'f' takes a permutation, integers or categories, but its "
            "space is not a single block of this kind");
  EXPECT_EQ(complaint([&] {
              make_host_objective(
                  "f", Space({{BlockKind::real, 1, 0, 1}, {BlockKind::real, 1, 0, 1}}), reals);
            }).substr(0, 16),
            "objective.space:");
  EXPECT_EQ(complaint([&] { make_host_objective("f", Space::integers(3, 0, 5), ints); }),
            "accepted");
  EXPECT_EQ(complaint([&] { make_host_objective("f", Space::spins(3), HostFunction{}); }),
            "objective.empty: objective 'f' is empty");
}

TEST(MakeProblem, TakesTheEnergyAsTheValue) {
  const Problem problem = on_reals(4, -5, 5, sphere);
  EXPECT_EQ(problem.identity.name, "f");
  EXPECT_EQ(problem.identity.family, "function");
  EXPECT_EQ(problem.units.sense, Sense::minimize);
  EXPECT_FALSE(problem.units.integral);
  EXPECT_EQ(problem.units.objective_of_stored(1.5), 1.5);
  EXPECT_EQ(problem.stored_target(1.5), 1.5);
  const State state{std::vector<double>{0.3, 0.3, 0.3, 1.3}};
  EXPECT_DOUBLE_EQ(problem.solution.verify(spans_of(state)), 1.0);
  EXPECT_EQ(problem.solution.format(spans_of(state)), "0.3\n0.3\n0.3\n1.3\n");
  EXPECT_EQ(complaint([] { make_problem(nullptr); }),
            "problem.empty: a problem needs an objective");
}

TEST(HostObjective, RunsBesideACudaDeviceWhereThatIsAskedFor) {
  std::string reason;
  const std::vector<DeviceInfo> devices = list_devices(&reason);
  if (devices.size() < 2) GTEST_SKIP() << "no CUDA device: " << reason;
  RunOptions on_cuda = options();
  on_cuda.device = "cuda";
  for (const bool thread_safe : {true, false}) {
    const Problem problem = on_reals(2, -5, 5, sphere, thread_safe);
    const Result there = anneal(problem, 20, on_cuda);
    EXPECT_EQ(there.device.substr(0, 4), "cuda");
    EXPECT_EQ(there.executor.executor, Executor::stream);
    EXPECT_TRUE(there.verified);
    EXPECT_EQ(there.objective, anneal(problem, 20).objective) << "the same path on both";
  }
  on_cuda.device = "auto";
  const Result result = anneal(on_reals(2, -5, 5, sphere), 5, on_cuda);
  EXPECT_EQ(result.device, "cpu");
  EXPECT_EQ(result.fallback_reason,
            "objective 'f' runs on the host, and schedule 'simulated-annealing' gives a GPU "
            "little work");
}

}  // namespace
}  // namespace kiln::host_objective_test
