// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Assignments against the enumeration of all permutations and of all states.
#include "kiln/problems/assignment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

namespace kiln::test::assignment_test {
namespace {

using Bits = std::vector<std::int8_t>;
using Numbers = std::vector<double>;

std::vector<std::string> numbered(std::int64_t n) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < n; ++i) names.push_back(std::to_string(i));
  return names;
}

// Whole numbers from -`most` to `most`, divided.
Numbers random_numbers(std::int64_t count, std::uint64_t seed, double divisor, std::uint64_t most) {
  std::mt19937_64 random(seed);
  Numbers numbers;
  for (std::int64_t k = 0; k < count; ++k) {
    numbers.push_back((static_cast<double>(random() % (2 * most + 1)) - static_cast<double>(most)) /
                      divisor);
  }
  return numbers;
}

Assignment random_assignment(std::int64_t n, std::int64_t m, std::uint64_t seed, double divisor) {
  return {numbered(n), numbered(m), random_numbers(n * m, seed, divisor, 20),
          seed % 2 == 0 ? Sense::maximize : Sense::minimize};
}

QuadraticAssignment random_quadratic(std::int64_t n, std::uint64_t seed, double divisor) {
  return {numbered(n), numbered(n), random_numbers(n * n, seed, divisor, 9),
          random_numbers(n * n, seed + 100, divisor, 9),
          seed % 2 == 0 ? Sense::maximize : Sense::minimize};
}

double value_of(const Qubo& qubo, const Bits& x) {
  double value = qubo.offset;
  for (std::size_t i = 0; i < x.size(); ++i) value += qubo.linear[i] * x[i];
  for (const QuboTerm& term : qubo.quadratic) {
    value += term.value * x[static_cast<std::size_t>(term.i)] * x[static_cast<std::size_t>(term.j)];
  }
  return value;
}

Bits bits_of(std::uint32_t number, std::size_t n) {
  Bits bits(n);
  for (std::size_t i = 0; i < n; ++i) bits[i] = static_cast<std::int8_t>((number >> i) & 1U);
  return bits;
}

bool is_assignment(const Bits& x, std::size_t n, std::size_t m) {
  std::vector<int> row(n), column(m);
  for (std::size_t k = 0; k < x.size(); ++k) {
    row[k / m] += x[k];
    column[k % m] += x[k];
  }
  return std::ranges::all_of(row, [](int sum) { return sum == 1; }) &&
         std::ranges::all_of(column, [](int sum) { return sum <= 1; });
}

struct Judged {
  std::int64_t infeasible_minima = 0;  ///< states that no single flip makes better
  double best = std::numeric_limits<double>::infinity();
  double worst_error = 0;  ///< of values of assignments
};

// All states, minimised by sign * f.
template <class Data>
Judged judge(const Qubo& qubo, const Data& data, std::size_t n, std::size_t m) {
  const double sign = data.sense == Sense::maximize ? -1 : 1;
  std::vector<double> values;
  for (std::uint32_t x = 0; x < (1U << (n * m)); ++x) {
    values.push_back(sign * value_of(qubo, bits_of(x, n * m)));
  }
  Judged judged;
  for (std::uint32_t x = 0; x < values.size(); ++x) {
    const Bits bits = bits_of(x, n * m);
    if (is_assignment(bits, n, m)) {
      const double cost = sign * problems::cost_of(data, bits);
      judged.best = std::min(judged.best, cost);
      judged.worst_error = std::max(judged.worst_error, std::abs(values[x] - cost));
      continue;
    }
    bool better = false;
    for (std::size_t i = 0; i < n * m; ++i) better = better || values[x ^ (1U << i)] < values[x];
    judged.infeasible_minima += better ? 0 : 1;
  }
  EXPECT_GE(*std::ranges::min_element(values), judged.best - judged.worst_error);
  return judged;
}

// The least cost over all permutations, from the definition.
template <class Cost>
double minimum_of(std::size_t n, Cost cost) {
  std::vector<std::size_t> p(n);
  std::iota(p.begin(), p.end(), 0U);
  double least = std::numeric_limits<double>::infinity();
  do least = std::min(least, cost(p));
  while (std::ranges::next_permutation(p).found);
  return least;
}

Result annealed(const Problem& problem, std::int64_t sweeps) {
  Engine engine({.device = "cpu", .threads = 1, .replicas = 32, .seed = 5});
  SimulatedAnnealing annealing;
  return engine.run(problem, annealing, {.sweeps = sweeps});
}

TEST(Assignment, PenaltiesMakeEveryMinimumAnAssignment) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    for (const double divisor : {1.0, 7.0}) {
      for (const auto& [n, m] : {std::pair{1, 1}, {1, 4}, {2, 4}, {3, 3}, {3, 4}, {2, 5}}) {
        const Assignment data = random_assignment(n, m, seed, divisor);
        const problems::AssignmentModel model = problems::assignment_model(data);
        const Judged judged =
            judge(model.qubo, data, static_cast<std::size_t>(n), static_cast<std::size_t>(m));
        EXPECT_EQ(judged.infeasible_minima, 0) << seed << " " << n << " " << m;
        EXPECT_LE(judged.worst_error, divisor == 1 ? 0 : model.rounding);
        EXPECT_LT(model.rounding, 1e-11);
      }
    }
  }
}

TEST(Assignment, QuadraticPenaltiesMakeEveryMinimumAnAssignment) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    for (const double divisor : {1.0, 7.0}) {
      for (const std::int64_t n : {1, 2, 3}) {
        const QuadraticAssignment data = random_quadratic(n, seed, divisor);
        const problems::AssignmentModel model = problems::assignment_model(data);
        const auto size = static_cast<std::size_t>(n);
        const Judged judged = judge(model.qubo, data, size, size);
        EXPECT_EQ(judged.infeasible_minima, 0) << seed << " " << n;
        EXPECT_LE(judged.worst_error, divisor == 1 ? 0 : model.rounding);
      }
    }
  }
  const QuadraticAssignment data = random_quadratic(4, 1, 1);
  EXPECT_EQ(judge(problems::assignment_model(data).qubo, data, 4, 4).infeasible_minima, 0);
}

// The most expensive task of a worker costs 6 more than the cheapest one: a penalty of 5 is too
// small.
TEST(Assignment, APenaltyBelowTheBoundIsNotExact) {
  const Assignment data{numbered(2), numbered(2), {0, 6, 0, 6}, Sense::minimize};
  problems::AssignmentModel model = problems::assignment_model(data);
  EXPECT_EQ(model.penalties, (Numbers{7, 7}));
  EXPECT_EQ(judge(model.qubo, data, 2, 2).infeasible_minima, 0);
  for (double& value : model.qubo.linear) value += 2;
  model.qubo.offset -= 4;
  for (QuboTerm& term : model.qubo.quadratic) {
    if (term.i / 2 == term.j / 2) term.value -= 4;
  }
  double best = std::numeric_limits<double>::infinity(), least = best;
  for (std::uint32_t x = 0; x < 16; ++x) {
    const Bits bits = bits_of(x, 4);
    const double value = value_of(model.qubo, bits);
    least = std::min(least, value);
    if (is_assignment(bits, 2, 2)) best = std::min(best, value);
  }
  EXPECT_EQ(best, 6);
  EXPECT_EQ(least, 5);
}

TEST(Assignment, AnnealingFindsTheBestPermutation) {
  for (const double divisor : {1.0, 7.0}) {
    const Assignment data{numbered(6), numbered(6), random_numbers(36, 9, divisor, 50),
                          Sense::minimize};
    const double least = minimum_of(6, [&](const std::vector<std::size_t>& p) {
      double cost = 0;
      for (std::size_t i = 0; i < 6; ++i) cost += data.costs[i * 6 + p[i]];
      return cost;
    });
    const Result result = annealed(make_assignment(data), 2000);
    EXPECT_TRUE(result.verified);
    EXPECT_NEAR(result.objective, least, divisor == 1 ? 0 : 1e-12);
    EXPECT_EQ(result.integral, divisor == 1);
    EXPECT_EQ(result.named_solution.size(), 6U);
  }
}

TEST(Assignment, AnnealingFindsTheBestPlaces) {
  QuadraticAssignment data{numbered(5), numbered(5), random_numbers(25, 3, 1, 9),
                           random_numbers(25, 4, 1, 9), Sense::minimize};
  for (const Sense sense : {Sense::minimize, Sense::maximize}) {
    data.sense = sense;
    const double sign = sense == Sense::maximize ? -1 : 1;
    const double least = minimum_of(5, [&](const std::vector<std::size_t>& p) {
      double cost = 0;
      for (std::size_t a = 0; a < 5; ++a) {
        for (std::size_t b = 0; b < 5; ++b) {
          cost += sign * data.flows[a * 5 + b] * data.distances[p[a] * 5 + p[b]];
        }
      }
      return cost;
    });
    const Result result = annealed(make_quadratic_assignment(data), 4000);
    EXPECT_TRUE(result.verified);
    EXPECT_EQ(result.objective, sign * least);
  }
}

TEST(Assignment, WhatCannotBeAssignedIsRefused) {
  const auto code_of = [](const auto& data) -> std::string {
    try {
      problems::assignment_model(data);
    } catch (const InvalidArgument& error) {
      return error.code();
    }
    return "accepted";
  };
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(code_of(Assignment{numbered(2), numbered(2), {0.3, 0.1, 1e9, 0.7}, {}}), "accepted");
  EXPECT_EQ(code_of(Assignment{numbered(2), numbered(2), {0.3, 0.1, 1e14, 0.7}, {}}),
            "problem.value");
  EXPECT_EQ(code_of(Assignment{numbered(3), numbered(2), Numbers(6), {}}), "problem.size");
  EXPECT_EQ(code_of(Assignment{numbered(2), numbered(2), {1, 2, 3, infinite}, {}}),
            "problem.value");
  EXPECT_EQ(code_of(Assignment{numbered(2), numbered(2), {1, 2, 3, 1e308}, {}}), "problem.value");
  EXPECT_EQ(code_of(Assignment{{}, {}, {}, {}}), "problem.size");
  EXPECT_EQ(code_of(Assignment{numbered(500), numbered(500), {}, {}}), "problem.size");
  EXPECT_EQ(code_of(QuadraticAssignment{numbered(2), numbered(3), Numbers(4), Numbers(9), {}}),
            "problem.size");
  EXPECT_EQ(code_of(QuadraticAssignment{
                numbered(2), numbered(2), {0, 1e200, 1, 0}, {0, 1e200, 1, 0}, {}}),
            "problem.value");
  EXPECT_EQ(code_of(QuadraticAssignment{numbered(120), numbered(120), {}, {}, {}}), "problem.size");
}

}  // namespace
}  // namespace kiln::test::assignment_test
