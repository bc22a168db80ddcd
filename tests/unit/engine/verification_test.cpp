// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Right answers are verified and wrong ones are not, whatever the coefficients add up to. The exact
// values are sums in quadruple precision of the raw data.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/problems/pairwise_family.hpp"
#include "kiln/problems/potts.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "models/small_models.hpp"

namespace kiln::verification_test {
namespace {

__extension__ using Quad = __float128;

Result solve(const Problem& problem, std::int64_t sweeps = 20) {
  RunOptions options;
  options.device = "cpu";
  options.threads = 1;
  options.replicas = 32;
  options.seed = 3;
  SimulatedAnnealing schedule;
  return Engine(options).run(problem, schedule, {.sweeps = sweeps});
}

// The same problem, with a value that is wrong by a little.
bool verified_if_wrong_by(Problem problem, double difference) {
  problem.solution.verify = [right = problem.solution.verify, difference](StateSpan state) {
    return right(state) + difference;
  };
  return solve(problem).verified;
}

// Weights that have no binary fraction and nearly cancel.
Graph cancelling(std::int32_t n, double unit) {
  constexpr double weights[] = {-0.1, 0.1, 0.2, -0.3};
  Graph graph{n, {}};
  std::uint32_t pair = 0;
  for (std::int32_t u = 0; u < n; ++u) {
    for (std::int32_t v = u + 1; v < n; ++v) {
      const std::uint32_t word = philox4x32_10(Words4{{pair++, 0, 0, 0}}, 5)[0];
      graph.edges.push_back({u, v, unit * weights[word % 4]});
    }
  }
  return graph;
}

double exact_cut(const Graph& graph, const Result& result) {
  const std::vector<std::int8_t> side = result.spins();
  Quad cut = 0;
  for (const Edge& e : graph.edges) {
    if (side[static_cast<std::size_t>(e.u)] != side[static_cast<std::size_t>(e.v)]) cut += e.weight;
  }
  return static_cast<double>(cut);
}

std::int64_t cut_in_tenths(const Graph& graph, const Result& result) {
  const std::vector<std::int8_t> side = result.spins();
  std::int64_t cut = 0;
  for (const Edge& e : graph.edges) {
    const bool across = side[static_cast<std::size_t>(e.u)] != side[static_cast<std::size_t>(e.v)];
    if (across) cut += std::llround(10 * e.weight);
  }
  return cut;
}

TEST(Verification, SumsThatCancelAreVerifiedAndExact) {
  for (const double unit : {1.0, 1 / 3.0}) {
    const Graph graph = cancelling(1000, unit);
    const Problem problem = make_maxcut(graph, "cancelling");
    for (const std::int64_t sweeps : {1, 2, 30}) {
      const Result result = solve(problem, sweeps);
      EXPECT_TRUE(result.verified) << sweeps;
      if (unit == 1) {  // decimal fractions: the double nearest to their sum
        EXPECT_EQ(result.objective, static_cast<double>(cut_in_tenths(graph, result)) / 10);
      } else {
        const double exact = exact_cut(graph, result);
        EXPECT_NEAR(result.objective, exact, 0x1p-52 * std::abs(exact)) << "the recomputed value";
      }
    }
  }
}

struct Case {
  std::string name;
  Problem problem;
  double least = 0;  ///< change that one coefficient makes
};

std::vector<Case> cases(double unit) {
  const Graph graph = cancelling(40, unit);
  Ising ising{40, {}, graph.edges, 0.0};
  Qubo qubo;
  qubo.n = 40;
  for (const Edge& e : graph.edges) qubo.quadratic.push_back({e.u, e.v, e.weight});
  qubo.linear.assign(40, 0.7 * unit);
  Potts potts{40, 3, {{0, 1, 0.3 * unit}}, graph.edges};
  PairwiseFamily family;
  family.base = ising;
  family.term = ising;
  family.target = 0.3;
  std::vector<Case> all;
  all.push_back({"maxcut", make_maxcut(graph, "maxcut"), 0.1 * unit});
  all.push_back({"ising", make_ising(ising, "ising"), 0.2 * unit});
  all.push_back({"qubo", make_qubo(qubo, Sense::minimize, "qubo"), 0.1 * unit});
  all.push_back({"maximised qubo", make_qubo(qubo, Sense::maximize, "qubo"), 0.1 * unit});
  all.push_back({"potts", make_potts(potts, "potts"), 0.1 * unit});
  all.push_back({"family", make_pairwise_family(family, "family"), 0.06 * unit});
  return all;
}

TEST(Verification, EveryScaleIsJudgedByItsOwnCoefficients) {
  for (const double unit : {1e-200, 1e-9, 1.0, 1e12, 1e200}) {
    for (const Case& one : cases(unit)) {
      SCOPED_TRACE(one.name + " in units of " + std::to_string(std::log10(unit)));
      EXPECT_TRUE(solve(one.problem).verified);
      EXPECT_FALSE(verified_if_wrong_by(one.problem, one.least));
      EXPECT_FALSE(verified_if_wrong_by(one.problem, -1e-6 * one.least));
    }
  }
}

// The scale alone changes no path: betas are in units of the coefficients. Decimal fractions times
// a power of two are none, so their sums are those of the doubles.
TEST(Verification, ExtremeCoefficientsAreSolvedLikeOthers) {
  for (const double third : {1.0, 1 / 3.0}) {
    const Result one = solve(make_maxcut(cancelling(40, third), "one"));
    for (const int power : {-660, 660}) {
      const double unit = std::ldexp(1.0, power);
      const Result other = solve(make_maxcut(cancelling(40, unit * third), "other"));
      EXPECT_EQ(other.solution, one.solution) << power;
      if (third == 1) {
        EXPECT_DOUBLE_EQ(other.objective, unit * one.objective);
      } else {
        EXPECT_EQ(other.objective, unit * one.objective);
      }
    }
  }
}

TEST(Verification, SmallDifferencesFarFromZeroCount) {
  Ising ising{40, {}, cancelling(40, 1e-3).edges, 1e9};
  const Problem problem = make_ising(ising, "far");
  EXPECT_TRUE(solve(problem).verified);
  EXPECT_FALSE(verified_if_wrong_by(problem, 2e-4)) << "one coupling";
}

// Of a function only values are known: near its minimum the terms have gone, but their rounding has
// not.
TEST(Verification, FunctionsAreJudgedByTheSizeOfTheirValues) {
  for (const double unit : {1e-200, 1.0, 1e10}) {
    SCOPED_TRACE(std::log10(unit));
    const Problem problem = make_problem(make_host_objective(
        "bowl", Space::reals(2, -3, 3),
        std::function<double(std::span<const double>)>(
            [unit](std::span<const double> x) { return unit * (x[0] * x[0] + x[1] * x[1]); })));
    EXPECT_TRUE(verified_if_wrong_by(problem, 1e-15 * unit));
    EXPECT_FALSE(verified_if_wrong_by(problem, 1e-3 * unit));
  }
}

}  // namespace
}  // namespace kiln::verification_test
