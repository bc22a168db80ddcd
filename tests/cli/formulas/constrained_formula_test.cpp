// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Formulas with integers, constraints and several objectives as users type them.
#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::test::constrained_formula_test {
namespace {

using Words = std::vector<std::string>;

class ConstrainedFormula : public ProgramTest {
 protected:
  static Words knapsack(const Words& more) {
    Words words{"--data",       "items.csv",
                "--var",        "b[4]=binary",
                "--subject-to", "sum(i=1..4, weight[i]*b[i]) <= 12",
                "--subject-to", "b[1] + b[2] <= 1",
                "--maximize",   "--sweeps",
                "500"};
    words.insert(words.end(), more.begin(), more.end());
    return solve("expr:sum(i=1..4, value[i]*b[i])", words);
  }
  void SetUp() override { write("items.csv", "value,weight\n10,5\n13,6\n7,3\n8,4\n"); }
};

// Of all 16 packings 1, 3 and 4 is the most valuable one that weighs at most 12, also
// without 1 and 2 together.
TEST_F(ConstrainedFormula, PacksAKnapsack) {
  const nlohmann::json result = result_of(run(knapsack({"--json"})));
  EXPECT_EQ(result["objective"]["best"], 25);
  EXPECT_EQ(result["objective"]["sense"], "maximize");
  EXPECT_TRUE(result["verified"].get<bool>());
  EXPECT_EQ(result["constraints"]["values"], nlohmann::json::array({0, 0}));
  EXPECT_TRUE(result["constraints"]["feasible"].get<bool>());
  const Outcome text = run(knapsack({}));
  EXPECT_NE(text.out.find("value 25 (maximised)   feasible   "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("with   b[1] = 1, b[2] = 0, b[3] = 1, b[4] = 1\n"), std::string::npos)
      << text.out;
  EXPECT_NE(text.err.find("n 4  constraints 2\n"), std::string::npos) << text.err;
}

TEST_F(ConstrainedFormula, ContinuesRepeatsAndStartsFromItsSolution) {
  ASSERT_EQ(run(knapsack({"-o", "run"})).exit_code, 0);
  EXPECT_EQ(read("run/solution.txt"), "1  # b[1]\n0  # b[2]\n1  # b[3]\n1  # b[4]\n");
  const Outcome again = run({"solve", "--repeat", "run/run.json", "-o", "again", "-q"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read("again/solution.txt"), read("run/solution.txt"));
  const Outcome resumed = run({"resume", "run", "--sweeps", "600", "-q"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  const Outcome started = run(knapsack({"--initial", "run/solution.txt", "-q"}));
  EXPECT_EQ(started.exit_code, 0) << started.err;
}

TEST_F(ConstrainedFormula, ShowsWholeNumbersWhole) {
  const Outcome outcome =
      run(solve("expr:(k-1234567)^2", {"--var", "k=int:1234560:1234570", "--sweeps", "200"}));
  EXPECT_NE(outcome.out.find("with   k = 1234567\n"), std::string::npos) << outcome.out;
}

TEST_F(ConstrainedFormula, SaysByHowMuchConstraintsAreViolated) {
  const Outcome outcome = run(
      solve("expr:k", {"--var", "k=int:0:3", "--subject-to", "k >= 5", "--sweeps", "100", "-q"}));
  EXPECT_EQ(outcome.exit_code, 9);
  EXPECT_EQ(first_line(outcome),
            "error[result.infeasible]: expr:k: the run found no feasible state; the best state "
            "exceeds the constraints by 2");
  EXPECT_EQ(outcome.out, "");
}

TEST_F(ConstrainedFormula, IsRefusedAtTheColumnOfItsConstraint) {
  const Outcome outcome = run(solve(
      "expr:x", {"--var", "x=real:0:1", "--subject-to", "x <= 1", "--subject-to", "2*x => z"}));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(first_line(outcome),
            "error[expr.constraint]: --subject-to '2*x => z': column 5: '=' is no relation");
}

TEST_F(ConstrainedFormula, IsRefusedWithoutAConstraint) {
  for (const char* const empty : {"", ";", " ; "}) {
    const Outcome outcome = run(solve("expr:x", {"--var", "x=real:0:1", "--subject-to", "x >= 0.5",
                                                 "--subject-to", empty, "-q"}));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(first_line(outcome), "error[expr.constraint]: --subject-to '" + std::string(empty) +
                                       "' has no constraint");
  }
  EXPECT_EQ(run(solve("expr:x",
                      {"--var", "x=real:0:1", "--subject-to", "x >= 0.5;", "--sweeps", "50", "-q"}))
                .exit_code,
            0);
}

TEST_F(ConstrainedFormula, ReachesATargetAtItsConstraint) {
  const auto ends = [this](const char* target) {
    return run(solve("expr:x", {"--var", "x=real:0:1", "--subject-to", "0.3 <= x", "--target",
                                target, "--sweeps", "2000", "-q"}))
        .exit_code;
  };
  EXPECT_EQ(ends("0.3"), 0);
  EXPECT_EQ(ends("0.2999999999"), 10);
}

TEST_F(ConstrainedFormula, IsAnOptionOfFormulasOnly) {
  const Outcome outcome = run(solve("function:branin", {"--subject-to", "x <= 1"}));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(first_line(outcome),
            "error[cli.conflict]: --subject-to is an option of expr:, and not of function:branin");
}

TEST_F(ConstrainedFormula, HasAFrontOfSeveralObjectives) {
  const Outcome outcome =
      run(solve("expr:x^2 + y^2; max: x + y", {"--var", "x=real:0:2;y=real:0:2", "--subject-to",
                                               "x <= 1", "--generations", "200", "-o", "run"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json result = nlohmann::json::parse(read("run/result.json"));
  EXPECT_TRUE(result["verified"].get<bool>());
  // The front ends where both are 0, and at x = 1 and y = 2.
  std::istringstream rows(read("run/front.csv"));
  std::string row, last;
  std::getline(rows, row);
  EXPECT_EQ(row, "f1,f2,x,y");
  while (std::getline(rows, row)) {
    double f1 = 0, f2 = 0, x = 0, y = 0;
    ASSERT_EQ(std::sscanf(row.c_str(), "%lf,%lf,%lf,%lf", &f1, &f2, &x, &y), 4) << row;
    EXPECT_LE(x, 1);
    EXPECT_NEAR(f1, x * x + y * y, 1e-12);
    EXPECT_NEAR(f2, x + y, 1e-12);
    EXPECT_LE(f1 + f2, last.empty() ? 0.05 : 8);
    last = row;
  }
  double f1 = 0, f2 = 0;
  ASSERT_EQ(std::sscanf(last.c_str(), "%lf,%lf", &f1, &f2), 2);
  EXPECT_NEAR(f1, 5, 0.05);
  EXPECT_NEAR(f2, 3, 0.05);
  const Outcome turned =
      run(solve("expr:x; -x", {"--var", "x=real:0:2", "--maximize", "--generations", "2"}));
  EXPECT_EQ(turned.exit_code, 2);
  EXPECT_EQ(first_line(turned),
            "error[expr.sense]: a formula of several objectives is not maximised as a whole");
}

}  // namespace
}  // namespace kiln::test::constrained_formula_test
