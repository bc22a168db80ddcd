// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What `kiln check` says of gradients, right and wrong.
#include "run/problem_check.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/objectives/density_objective.hpp"
#include "kiln/registry.hpp"

#include "errors.hpp"

namespace kiln::cli::problem_check_test {
namespace {

// Half the squares of two coordinates, one of which has its slope multiplied.
Problem bowl(double factor) {
  return make_problem(make_density_objective(
      "bowl", 2,
      [factor](std::span<const double> x, std::span<double> gradient) {
        if (!gradient.empty()) gradient[0] = x[0], gradient[1] = factor * x[1];
        return 0.5 * (x[0] * x[0] + x[1] * x[1]);
      },
      Bounds{1, 3}));
}

TEST(ProblemCheck, SaysThatAGradientAgrees) {
  const ProblemFindings findings = examine_problem(bowl(1), 3, 1);

  EXPECT_TRUE(findings.ok());
  EXPECT_NO_THROW(refuse_unless_ok(findings));
  EXPECT_NE(
      text_of(findings).find("gradient      agrees with finite differences of the energy at 3 "
                             "random\n                starts: "),
      std::string::npos)
      << text_of(findings);
  const nlohmann::ordered_json json = json_of(findings);
  EXPECT_EQ(json["ok"], true);
  EXPECT_EQ(json["gradient"]["starts"], 3);
}

TEST(ProblemCheck, RefusesAGradientThatIsWrong) {
  const ProblemFindings findings = examine_problem(bowl(1.5), 3, 7);

  EXPECT_FALSE(findings.ok());
  EXPECT_EQ(json_of(findings)["gradient"]["ok"], false);
  EXPECT_EQ(json_of(findings)["gradient"]["coordinate"], 2);
  try {
    refuse_unless_ok(findings);
    FAIL() << "a wrong gradient passed";
  } catch (const SelfCheckError& error) {
    EXPECT_EQ(error.code(), "gradient.wrong");
    EXPECT_EQ(error.message().rfind("bowl: the gradient does not match the energy: at coordinate 2 "
                                    "of 2, the gradient is ",
                                    0),
              0u)
        << error.message();
    EXPECT_NE(error.expected().find("the relative error is 3.3e-01 "), std::string::npos)
        << error.expected();
    EXPECT_NE(error.expected().find("--seed 7"), std::string::npos) << error.expected();
  }
}

// A family that somebody registered, with the mistakes that are made by hand.
TEST(ProblemCheck, FindsWrongGradientsOfRegisteredFamilies) {
  Registry registry = builtin_registry();
  registry.add(ProblemEntry{
      .name = "bowl",
      .parameters = "FACTOR",
      .sentence = "a bowl whose slope is multiplied",
      .examples = {"bowl:1"},
      .make = [](const ProblemRequest& request) { return bowl(std::stod(request.parameters)); }});
  for (const char* factor : {"-1", "0", "0.5", "0.9999", "1.0001", "2"}) {
    const ProblemFindings findings = examine_problem(registry.problem("bowl").make(factor), 3, 1);
    EXPECT_THROW(refuse_unless_ok(findings), SelfCheckError) << factor;
  }
  EXPECT_NO_THROW(refuse_unless_ok(examine_problem(registry.problem("bowl").make("1"), 3, 1)));
  for (const char* density : {"gaussian-5", "banana-2", "funnel-5", "two-modes-3"}) {
    const Problem problem = registry.problem("density").make(density);
    EXPECT_NO_THROW(refuse_unless_ok(examine_problem(problem, 3, 1))) << density;
  }
}

TEST(ProblemCheck, TellsOfProblemsWithoutAGradientWhatTheyAre) {
  const Problem problem = make_problem(make_host_objective(
      "plain", Space::reals(2, -1, 1), [](std::span<const double> x) { return x[0]; }));

  const ProblemFindings findings = examine_problem(problem, 3, 1);

  EXPECT_TRUE(findings.ok());
  EXPECT_TRUE(json_of(findings)["gradient"].is_null());
  EXPECT_EQ(text_of(findings).find("gradient"), std::string::npos);
}

}  // namespace
}  // namespace kiln::cli::problem_check_test
