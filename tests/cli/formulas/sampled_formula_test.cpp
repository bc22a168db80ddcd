// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Formulas as densities, against the moments of their distributions.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::test::sampled_formula_test {
namespace {

using Words = std::vector<std::string>;

class SampledFormula : public ProgramTest {
 protected:
  static Words words(const std::string& formula, const Words& more) {
    Words all{"sample", "expr:" + formula, "--device", "cpu",   "--chains", "16", "--draws",
              "2000",   "--warmup",        "500",      "--json"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  // Within five of its own errors, which are small.
  static void expect_moments(const nlohmann::json& quantity, const char* name, double mean,
                             double sd) {
    SCOPED_TRACE(name);
    EXPECT_EQ(quantity["name"], name);
    const double error = quantity["mcse_mean"];
    EXPECT_GT(error, 0);
    EXPECT_LT(error, 0.03 * sd);
    EXPECT_NEAR(quantity["mean"].get<double>(), mean, 5 * error);
    EXPECT_NEAR(quantity["sd"].get<double>(), sd, 0.05 * sd);
  }
};

TEST_F(SampledFormula, HasTheMomentsOfItsDistribution) {
  const nlohmann::json result = result_of(
      run(words("(x-3)^2/8 + abs(y)", {"--var", "x=real:-inf:inf", "--var", "y=real:-50:50"})));
  ASSERT_EQ(result["summary"].size(), 2u);
  expect_moments(result["summary"][0], "x", 3, 2);
  expect_moments(result["summary"][1], "y", 0, std::sqrt(2.0));
}

// Of exp(-2 x) on x >= 0, and of a uniform distribution in 1 .. 4.
TEST_F(SampledFormula, IsReflectedAtItsBounds) {
  const nlohmann::json result =
      result_of(run(words("2*x + 0*u", {"--var", "x=real:0:inf;u=real:1:4"})));
  expect_moments(result["summary"][0], "x", 0.5, 0.5);
  expect_moments(result["summary"][1], "u", 2.5, 3 / std::sqrt(12.0));
}

// The conjugate posterior of a normal mean: precision 1 + 4, mean 4 * 2.5 / 5.
TEST_F(SampledFormula, ReadsData) {
  write("points.csv", "y\n1\n2\n3\n4\n");
  const nlohmann::json result =
      result_of(run(words("mu^2/2 + sum(k=1..length(y), (y[k] - mu)^2/2)",
                          {"--data", "points.csv", "--var", "mu=real:-inf:inf"})));
  expect_moments(result["summary"][0], "mu", 2, 1 / std::sqrt(5.0));
}

TEST_F(SampledFormula, ContinuesAndRepeats) {
  const Words given{"--var", "x[2]=real:-inf:inf", "-o", "run"};
  ASSERT_EQ(run(words("sum(i=1..2, x[i]^2)", given)).exit_code, 0);
  const Outcome again = run({"sample", "--repeat", "run/run.json", "-o", "again", "-q"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read("again/summary.csv"), read("run/summary.csv"));
  EXPECT_NE(read("run/summary.csv").find("\nx[2],"), std::string::npos);
  const Outcome resumed = run({"resume", "run", "--draws", "2500", "-q"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
}

TEST_F(SampledFormula, IsRefusedIfItIsNoDensity) {
  for (const char* const variable : {"x=int:0:5", "x=binary"}) {
    const Outcome outcome = run(words("x", {"--var", variable}));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(first_line(outcome),
              "error[problem.no_density]: 'expr:x' is not the logarithm of a density");
  }
  const Outcome several = run(words("x; -x", {"--var", "x=real:0:5"}));
  EXPECT_EQ(several.exit_code, 2);
}

}  // namespace
}  // namespace kiln::test::sampled_formula_test
