// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The rounding of formulas, against sums in long doubles and in other orders.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "kiln/problems/expression.hpp"
#include "kiln/problems/model_data.hpp"

namespace kiln::problems {
namespace {

using Kind = ExpressionVariable::Kind;

double rounding_of(const std::string& formula, std::vector<ExpressionVariable> variables,
                   const ModelData* data = nullptr) {
  return make_expression_problem({formula, std::move(variables), data}).units.rounding;
}

TEST(RoundingOfFormulas, IsThatOfTheirSums) {
  std::mt19937_64 random(3);
  for (const std::int64_t n : {10, 1000}) {
    ModelData data("w.csv");
    std::vector<double> w;
    for (std::int64_t i = 0; i < n; ++i) {
      w.push_back(static_cast<double>(random() % 2001) / 1000 - 1);
    }
    data.add({"w", {n}, w});
    const double bound =
        rounding_of("sum(i=1..length(w), w[i]*b[i])", {{"b", {n}, 0, 1, Kind::binary}}, &data);
    double worst = 0, size = 0;
    for (const double one : w) size += std::abs(one);
    for (int trial = 0; trial < 2000; ++trial) {
      std::vector<double> terms;
      for (const double one : w) terms.push_back(random() % 2 == 0 ? one : 0);
      std::ranges::shuffle(terms, random);
      long double exact = 0;  // in units of 1 / 1000, which are whole
      double sum = 0;
      for (const double one : terms) {
        exact += std::round(1000 * one);
        sum += one;
      }
      worst = std::max(worst, static_cast<double>(std::abs(sum - exact / 1000)));
    }
    EXPECT_GT(worst, 0);
    EXPECT_GE(bound, worst) << n;
    EXPECT_LE(bound, static_cast<double>(8 * n) * 0x1p-52 * size) << "plausible misses reach it";
  }
}

TEST(RoundingOfFormulas, IsNoneOfExactIntegers) {
  const std::vector<ExpressionVariable> k{{"k", {}, -1000, 1000, Kind::integer},
                                          {"b", {}, 0, 1, Kind::binary}};
  EXPECT_EQ(rounding_of("3*k^2*b - 7*k + max(b, 2)", k), 0);
  EXPECT_EQ(rounding_of("sum(i=1..9, i*k) + b", k), 0);
  EXPECT_EQ(rounding_of("-k*b + abs(k)", k), 0);
  // Above 2^53 integers are rounded: no bound that is small enough.
  EXPECT_EQ(rounding_of("k^6*b", k), 0);
  EXPECT_GT(rounding_of("0.1*k + b", k), 0);
  EXPECT_GT(rounding_of("k/3 + b", k), 0);
  EXPECT_GT(rounding_of("0.1*k^2 + b", k), 0);
  EXPECT_LT(rounding_of("0.1*k^2 + b", k), 1e-9);
}

// Far from the solution the terms are large; a bound of their rounding would be a wide target.
TEST(RoundingOfFormulas, IsNotBoundedWhereTermsOfRealsAreMultiplied) {
  const std::vector<ExpressionVariable> two{{"x", {}, -1e6, 1e6}, {"y", {}, -2, 2}};
  for (const char* const formula : {"(1-x)^2 + y", "x*y", "x*x + y", "exp(y) + x", "1/(y+3) + x",
                                    "sqrt(y+3) + x", "y^0.5 + x", "2^y + x", "sign(y) + x"}) {
    EXPECT_EQ(rounding_of(formula, two), 0) << formula;
  }
  for (const char* const formula :
       {"0.1*x + y", "x/3 - y", "abs(x - 0.1) + 2^0.5*y", "max(x, y, 0.1)", "-(x + y)*0.5"}) {
    EXPECT_GT(rounding_of(formula, two), 0) << formula;
    EXPECT_LT(rounding_of(formula, two), 1e-8) << formula;
  }
  EXPECT_EQ(rounding_of("0.1*x + y", {{"x", {}, 0, INFINITY}, {"y", {}, 0, 1}}), 0);
}

}  // namespace
}  // namespace kiln::problems
