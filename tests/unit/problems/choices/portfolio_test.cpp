// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Portfolios against the enumeration of all subsets, closed forms, and returns with a large common
// part.
#include "kiln/problems/portfolio.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>

#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/host_threads.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

namespace kiln::test::portfolio_test {
namespace {

using Bits = std::vector<std::int8_t>;

Bits bits_of(std::uint32_t number, std::size_t n) {
  Bits bits(n);
  for (std::size_t i = 0; i < n; ++i) bits[i] = static_cast<std::int8_t>((number >> i) & 1U);
  return bits;
}

double value_of(const Qubo& qubo, const Bits& x) {
  double value = qubo.offset;
  for (std::size_t i = 0; i < x.size(); ++i) value += qubo.linear[i] * x[i];
  for (const QuboTerm& term : qubo.quadratic) {
    value += term.value * x[static_cast<std::size_t>(term.i)] * x[static_cast<std::size_t>(term.j)];
  }
  return value;
}

// Multiples of 2^-20 between -1 and 1, with a common factor.
Portfolio random_portfolio(std::int64_t n, std::int64_t periods, std::int64_t pick, double risk,
                           std::uint64_t seed, double common = 0) {
  std::mt19937_64 random(seed);
  const auto draw = [&] { return static_cast<double>(random() % 2048) / 1024 - 1; };
  Portfolio portfolio{{}, periods, {}, pick, risk};
  for (std::int64_t i = 0; i < n; ++i) portfolio.assets.push_back("A" + std::to_string(i + 1));
  for (std::int64_t t = 0; t < periods; ++t) {
    const double market = std::round(512 * draw()) / 1024;
    for (std::int64_t i = 0; i < n; ++i) {
      portfolio.returns.push_back(common + market + draw() / 1024 * static_cast<double>(64 + i));
    }
  }
  return portfolio;
}

// All values of f, by the number whose bits are the state.
std::vector<double> all_values(const Qubo& qubo) {
  std::vector<double> values;
  const auto n = static_cast<std::size_t>(qubo.n);
  for (std::uint32_t x = 0; x < (1U << n); ++x) values.push_back(value_of(qubo, bits_of(x, n)));
  return values;
}

// States with another number of ones that no single flip makes better.
std::int64_t infeasible_minima(const std::vector<double>& values, std::int64_t n,
                               std::int64_t pick) {
  std::int64_t number = 0;
  for (std::uint32_t x = 0; x < values.size(); ++x) {
    if (__builtin_popcount(x) == pick) continue;
    bool better = false;
    for (std::int64_t i = 0; i < n; ++i) better = better || values[x ^ (1U << i)] < values[x];
    number += better ? 0 : 1;
  }
  return number;
}

/// f with another penalty.
Qubo with_penalty(const problems::PortfolioModel& model, const Portfolio& portfolio,
                  double penalty) {
  Qubo qubo = model.qubo;
  const double more = penalty - model.penalty;
  const auto pick = static_cast<double>(portfolio.pick);
  qubo.offset += more * pick * pick;
  for (double& value : qubo.linear) value += more * (1 - 2 * pick);
  for (QuboTerm& term : qubo.quadratic) term.value += 2 * more;
  return qubo;
}

std::string code_of(const Portfolio& portfolio) {
  try {
    problems::portfolio_model(portfolio);
  } catch (const InvalidArgument& error) {
    return error.code();
  }
  return "accepted";
}

TEST(Portfolio, EveryValueIsThatOfTheReturns) {
  for (const std::int64_t pick : {1, 3, 5, 10}) {
    const Portfolio portfolio = random_portfolio(10, 300, pick, 3.5, 7);
    const problems::PortfolioModel model = problems::portfolio_model(portfolio);
    const std::vector<double> values = all_values(model.qubo);
    for (std::uint32_t x = 0; x < values.size(); ++x) {
      if (__builtin_popcount(x) != pick) continue;
      const double value = problems::portfolio_value(portfolio, bits_of(x, 10)).value;
      EXPECT_NEAR(values[x], value, 1e-13);
    }
    EXPECT_LT(model.rounding, 1e-11);
    EXPECT_GT(model.rounding, 0);
  }
}

TEST(Portfolio, APenaltyMakesEveryMinimumFeasible) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    for (const std::int64_t pick : {1, 2, 4, 6, 7}) {
      for (const double risk : {0.0, 0.1, 2.0, 500.0}) {
        const Portfolio portfolio = random_portfolio(7, 12, pick, risk, seed);
        const Qubo qubo = problems::portfolio_model(portfolio).qubo;
        EXPECT_EQ(infeasible_minima(all_values(qubo), 7, pick), 0)
            << "seed " << seed << " pick " << pick << " risk " << risk;
      }
    }
  }
}

// Two assets that hedge each other have no risk together: the bound of the penalty is tight.
TEST(Portfolio, APenaltyBelowTheBoundIsNotExact) {
  const Portfolio portfolio{{"up", "down"}, 4, {1, -1, -1, 1, 1, -1, -1, 1}, 1, 3};
  const problems::PortfolioModel model = problems::portfolio_model(portfolio);
  const double variance = 4.0 / 3;
  EXPECT_GT(model.penalty, 3 * variance);
  EXPECT_LT(model.penalty, 1.01 * 3 * variance);
  const auto minimum_of = [&](double penalty) {
    const std::vector<double> values = all_values(with_penalty(model, portfolio, penalty));
    return std::ranges::min_element(values) - values.begin();
  };
  EXPECT_EQ(__builtin_popcount(static_cast<unsigned>(minimum_of(model.penalty))), 1);
  const std::vector<double> low = all_values(with_penalty(model, portfolio, 0.99 * 3 * variance));
  EXPECT_LT(std::min(low[0], low[3]), low[1]);

  // The same of minima by single flips in random cases.
  std::int64_t wrong = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Portfolio other = random_portfolio(7, 12, 3, 2, seed);
    const problems::PortfolioModel own = problems::portfolio_model(other);
    wrong += infeasible_minima(all_values(with_penalty(own, other, own.penalty / 4)), 7, 3);
  }
  EXPECT_GT(wrong, 0);
}

TEST(Portfolio, AnnealingFindsTheBestSubset) {
  constexpr std::size_t n = 16;
  const Portfolio portfolio = random_portfolio(n, 60, 5, 4, 3);
  double best = std::numeric_limits<double>::infinity();
  for (std::uint32_t x = 0; x < (1U << n); ++x) {
    if (__builtin_popcount(x) != 5) continue;
    best = std::min(best, problems::portfolio_value(portfolio, bits_of(x, n)).value);
  }
  Engine engine({.device = "cpu", .threads = 1, .replicas = 32, .seed = 5});
  SimulatedAnnealing annealing;
  const Result result = engine.run(make_portfolio(portfolio), annealing, {.sweeps = 20000});
  EXPECT_TRUE(result.verified);
  EXPECT_EQ(result.objective, best);
  EXPECT_EQ(result.constraints, std::vector<double>{0});
  EXPECT_EQ(result.named_solution.at(1).second, "5 of 16");
}

TEST(Portfolio, OnlyFeasibleSolutionsAreListed) {
  Engine engine({.device = "cpu", .threads = 1, .replicas = 64, .seed = 5, .top = 64});
  const Problem problem = make_portfolio(random_portfolio(12, 30, 4, 4, 3));
  SimulatedAnnealing annealing;
  const Result result = engine.run(problem, annealing, {.sweeps = 1});
  ASSERT_FALSE(result.top.empty());
  EXPECT_TRUE(result.verified);
  for (const Solution& one : result.top) {
    EXPECT_EQ(problem.solution.constraint_values(spans_of(one.state)), std::vector<double>{0});
  }
}

TEST(Portfolio, MeanAndVarianceAreThoseOfTheDefinition) {
  const Portfolio portfolio{{"a", "b", "c"}, 2, {1, 2, 9, 3, 2, 9}, 2, 2};
  const auto both = problems::portfolio_value(portfolio, Bits{1, 1, 0});
  EXPECT_DOUBLE_EQ(both.mean, 2);
  EXPECT_DOUBLE_EQ(both.variance, 0.5);
  EXPECT_DOUBLE_EQ(both.value, -1);
  EXPECT_DOUBLE_EQ(problems::portfolio_value(portfolio, Bits{0, 1, 1}).value, -5.5);
}

// Sums of squares would lose all digits of the variance: (1e9)^2 has more than a double.
TEST(Portfolio, ALargeCommonPartCostsNoDigits) {
  const Portfolio plain = random_portfolio(6, 1000, 3, 2, 11);
  const Portfolio shifted = random_portfolio(6, 1000, 3, 2, 11, 1e9);
  std::size_t best = 0, least = 0;
  const std::vector<double> values = all_values(problems::portfolio_model(plain).qubo);
  const std::vector<double> others = all_values(problems::portfolio_model(shifted).qubo);
  for (std::uint32_t x = 0; x < values.size(); ++x) {
    if (values[x] < values[best]) best = x;
    if (others[x] < others[least]) least = x;
    if (__builtin_popcount(x) != 3) continue;
    const auto a = problems::portfolio_value(plain, bits_of(x, 6));
    const auto b = problems::portfolio_value(shifted, bits_of(x, 6));
    EXPECT_NEAR(b.variance, a.variance, 1e-7 * a.variance);
    EXPECT_NEAR(values[x] - 1e9, others[x], 1e-6);
  }
  EXPECT_EQ(best, least);
}

TEST(Portfolio, CoefficientsDoNotDependOnTheThreads) {
  const Portfolio portfolio = random_portfolio(70, 700, 9, 2, 4);
  const auto model_on = [&](int threads) {
    const HostThreads limit(threads);
    return problems::portfolio_model(portfolio).qubo;
  };
  EXPECT_EQ(model_on(1), model_on(3));
}

TEST(Portfolio, ConstantReturnsHaveNoRisk) {
  Portfolio portfolio{{"a", "b", "c"}, 3, {1, 2, 3, 1, 2, 3, 1, 2, 3}, 2, 10};
  const Qubo qubo = problems::portfolio_model(portfolio).qubo;
  const std::vector<double> values = all_values(qubo);
  EXPECT_EQ(std::ranges::min_element(values) - values.begin(), 6);
  EXPECT_DOUBLE_EQ(values[6], -2.5);
  portfolio.returns.assign(9, 0.25);
  EXPECT_EQ(infeasible_minima(all_values(problems::portfolio_model(portfolio).qubo), 3, 2), 0);
}

TEST(Portfolio, WhatCannotBeChosenIsRefused) {
  const Portfolio good{{"a", "b"}, 2, {1, 2, 3, 4}, 1, 1};
  EXPECT_EQ(code_of(good), "accepted");
  const auto with = [&](auto change) {
    Portfolio portfolio = good;
    change(portfolio);
    return code_of(portfolio);
  };
  EXPECT_EQ(with([](Portfolio& p) { p.pick = 3; }), "problem.size");
  EXPECT_EQ(with([](Portfolio& p) { p.pick = 0; }), "problem.size");
  EXPECT_EQ(with([](Portfolio& p) { p.risk = -1; }), "problem.value");
  EXPECT_EQ(with([](Portfolio& p) { p.risk = std::nan(""); }), "problem.value");
  EXPECT_EQ(with([](Portfolio& p) { p.returns[1] = std::nan(""); }), "problem.value");
  EXPECT_EQ(with([](Portfolio& p) { p.returns[1] = 1e300; }), "problem.value");
  EXPECT_EQ(code_of({{"a"}, 4, {1, 2, 3, 4}, 1, 1}), "problem.size");
  EXPECT_EQ(code_of({{"a", "b"}, 1, {1, 2}, 1, 1}), "problem.size");
}

// The penalty would be as large as the greatest variance, and swallow all others.
TEST(Portfolio, AnAssetBeyondAllScalesIsRefused) {
  Portfolio portfolio{{"a", "b", "c", "volume"}, 4, {}, 2, 3};
  for (int t = 0; t < 4; ++t) {
    for (const double size : {0.01, 0.02, 0.015, 1.0}) {
      portfolio.returns.push_back(size * std::sin(1 + 7 * t + 100 * size));
    }
  }
  EXPECT_EQ(code_of(portfolio), "accepted");
  const auto scaled = [&](double factor) {
    Portfolio other = portfolio;
    for (std::size_t i = 3; i < other.returns.size(); i += 4) other.returns[i] *= factor;
    return other;
  };
  EXPECT_EQ(code_of(scaled(1e4)), "accepted");
  EXPECT_EQ(code_of(scaled(1e9)), "problem.value");
  Portfolio outlier = portfolio;
  outlier.returns[5] = -99999999;
  EXPECT_EQ(code_of(outlier), "problem.value");
}

TEST(Portfolio, ReadsATableWithDates) {
  std::istringstream in("date;A01;note;A02\n2020-01;0,5;x;1\n2020-02;1,5;y;-2\n");
  const Portfolio portfolio = problems::read_portfolio(in, "f", {"note"});
  EXPECT_EQ(portfolio.assets, (std::vector<std::string>{"A01", "A02"}));
  EXPECT_EQ(portfolio.periods, 2);
  EXPECT_EQ(portfolio.returns, (std::vector<double>{0.5, 1, 1.5, -2}));
}

}  // namespace
}  // namespace kiln::test::portfolio_test
