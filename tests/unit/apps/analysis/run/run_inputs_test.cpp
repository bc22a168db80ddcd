// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Which inputs of an objective matter.
#include "analysis/run/run_inputs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <set>

#include "kiln/backend.hpp"

namespace kiln::cli::run_inputs_test {
namespace {

double branin(double a, double b) {
  constexpr double pi = std::numbers::pi;
  const double x = 15 * a - 5, y = 15 * b;
  const double bow = y - 5.1 / (4 * pi * pi) * x * x + 5 / pi * x - 6;
  return bow * bow + 10 * (1 - 1 / (8 * pi)) * std::cos(x) + 10;
}

template <class Value>
EvaluationRows random_search(std::uint64_t seed, std::size_t rows, std::size_t inputs,
                             const Value& value) {
  std::mt19937_64 words(seed);
  EvaluationRows all;
  all.variables.resize(inputs);
  for (std::size_t i = 0; i < inputs; ++i) all.names.push_back("x" + std::to_string(i));
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<double> point;
    for (std::size_t i = 0; i < inputs; ++i) {
      point.push_back(static_cast<double>(words() >> 11) * 0x1p-53);
      all.variables[i].push_back(point[i]);
    }
    all.value.push_back(value(point));
  }
  all.study.assign(rows, 0);
  return all;
}

InputRanking rank(const EvaluationRows& rows, std::int64_t surrogates) {
  RunAnalysisOptions options;
  options.surrogates = surrogates;
  return rank_inputs(rows, options, *open_backend("cpu", 2).backend);
}

TEST(RunInputs, TheInputsOfBraninComeFirstOfThirty) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const InputRanking ranking =
        rank(random_search(seed, 100, 30, [](const auto& x) { return branin(x[4], x[17]); }), 20);
    if (ranking.matter.size() < 2) continue;
    const std::set<std::string> first{ranking.matter[0].name, ranking.matter[1].name};
    found += first == std::set<std::string>{"x4", "x17"} ? 1 : 0;
  }
  EXPECT_GE(found, 9);
}

// The level is that of all inputs together: 5 % of 40 runs, not 5 % of their 400 inputs.
TEST(RunInputs, NoiseIsNoInput) {
  int runs = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::mt19937_64 noise(1000 + seed);
    const InputRanking ranking = rank(
        random_search(seed, 50, 10, [&](const auto&) { return static_cast<double>(noise()); }), 39);
    runs += ranking.matter.empty() ? 0 : 1;
    EXPECT_FALSE(ranking.matter.empty() && ranking.next.name.empty());
  }
  EXPECT_LE(runs, 6) << "more than 6 of 40 at 5 % has a probability of 0.3 %";
}

TEST(RunInputs, ConstantsWordsAndFailuresAreLeftOutAndNamed) {
  EvaluationRows rows = random_search(1, 60, 4, [](const auto& x) { return x[2] * x[2] + x[0]; });
  const double none = std::numeric_limits<double>::quiet_NaN();
  rows.variables[1].assign(60, 3);
  rows.variables[3].assign(60, none);
  rows.value[5] = none;
  rows.value[7] = std::numeric_limits<double>::infinity();
  const InputRanking ranking = rank(rows, 39);
  EXPECT_EQ(ranking.constant, std::vector<std::string>{"x1"});
  EXPECT_EQ(ranking.not_numbers, std::vector<std::string>{"x3"});
  EXPECT_EQ(ranking.failed, 2);
  EXPECT_EQ(ranking.used, 58);
  EXPECT_EQ(ranking.inputs, 2);
  EXPECT_EQ(ranking.matter.size(), 2u);
}

TEST(RunInputs, LongSearchesAreThinnedEvenly) {
  const EvaluationRows rows = random_search(2, 2000, 3, [](const auto& x) { return x[1]; });
  const InputRanking ranking = rank(rows, 20);
  EXPECT_EQ(ranking.rows, 2000);
  EXPECT_EQ(ranking.used, 500);
  ASSERT_FALSE(ranking.matter.empty());
  EXPECT_EQ(ranking.matter[0].name, "x1");
}

TEST(RunInputs, FewOrEqualValuesSayNothing) {
  const InputRanking few = rank(random_search(1, 19, 3, [](const auto& x) { return x[0]; }), 20);
  EXPECT_TRUE(few.matter.empty());
  EXPECT_EQ(few.used, 19);
  const InputRanking equal = rank(random_search(1, 50, 3, [](const auto&) { return 1.0; }), 20);
  EXPECT_TRUE(equal.value_is_constant);
  EXPECT_TRUE(equal.matter.empty());
}

}  // namespace
}  // namespace kiln::cli::run_inputs_test
