// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Formulas as users type them.
#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::test::formula_test {
namespace {

class Formula : public ProgramTest {
 protected:
  static std::vector<std::string> search(const std::string& formula,
                                         const std::vector<std::string>& more) {
    std::vector<std::string> words{"--sweeps", "2000", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return solve("expr:" + formula, words);
  }
};

TEST_F(Formula, OfTwoVariablesIsMinimized) {
  const nlohmann::json result = result_of(
      run(search("100*(y-x^2)^2+(1-x)^2", {"--var", "x=real:-2:2", "--var", "y=real:-2:2"})));
  EXPECT_LT(result["objective"]["best"].get<double>(), 1e-10);
  EXPECT_EQ(result["objective"]["sense"], "minimize");
  EXPECT_TRUE(result["verified"].get<bool>());
}

TEST_F(Formula, IsMaximizedOnRequest) {
  const nlohmann::json result =
      result_of(run(search("2 - (x-1)^2", {"--var", "x=real:-2:2", "--maximize"})));
  EXPECT_NEAR(result["objective"]["best"].get<double>(), 2, 1e-10);
  EXPECT_EQ(result["objective"]["sense"], "maximize");
}

// Slope and intercept of least squares, by their closed form.
TEST_F(Formula, ReadsColumnsOfATable) {
  write("points.csv", "t,y\n0,1\n1,3\n2,5.5\n3,6.5\n");
  const Outcome outcome = run(solve("expr:sum(k=1..length(t), (a + b*t[k] - y[k])^2)",
                                    {"--data", "points.csv", "--var", "a=real:-9:9;b=real:-9:9",
                                     "--sweeps", "2000", "-o", "run"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  double a = 0, b = 0;
  ASSERT_EQ(std::sscanf(read("run/solution.txt").c_str(), "%lf # a %lf # b", &a, &b), 2);
  EXPECT_NEAR(a, 1.15, 1e-4);
  EXPECT_NEAR(b, 1.9, 1e-4);
}

TEST_F(Formula, ThatIsWrongIsRefusedAtItsColumn) {
  const Outcome outcome = run(solve("expr:2*x + sine(y)", {"--var", "x=real:-1:1;y=real:-1:1"}));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err,
            "error[expr.call]: column 7: the function 'sine' is not known\n"
            "  the nearest is 'sin'\n");
  EXPECT_EQ(outcome.out, "");
}

// Ten times 0.1 in doubles is 1 - 2^-53.
TEST_F(Formula, ReachesATargetButForItsRounding) {
  const auto ends = [this](const char* formula, const char* target) {
    return run(solve(formula, {"--var", "b[10]=binary", "--maximize", "--target", target,
                               "--sweeps", "300", "-q"}))
        .exit_code;
  };
  EXPECT_EQ(ends("expr:sum(i=1..10,0.1*b[i])", "1"), 0);
  EXPECT_EQ(ends("expr:sum(i=1..10,0.1*b[i])", "1.00000000001"), 10);
  EXPECT_EQ(ends("expr:sum(i=1..9,0.1*b[i]*b[i+1])", "0.9"), 0);
  EXPECT_EQ(ends("expr:sum(i=1..10,b[i])", "10"), 0);
}

TEST_F(Formula, NeedsItsVariables) {
  const Outcome outcome = run(solve("expr:x^2"));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(first_line(outcome), "error[expr.variable]: the formula has no variables");
}

// A formula of another problem is none of this run, whatever its number of variables.
TEST_F(Formula, ContinuesAndRepeats) {
  const std::vector<std::string> words{"--var", "x[4]=real:-2:2", "--sweeps", "400", "-o", "run"};
  ASSERT_EQ(run(solve("expr:sum(i=1..4, (x[i]-i/4)^2)", words)).exit_code, 0);
  const Outcome again = run({"solve", "--repeat", "run/run.json", "-o", "again", "-q"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read("again/solution.txt"), read("run/solution.txt"));
  const Outcome resumed = run({"resume", "run", "--sweeps", "800", "-q"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
}

// Bounds are no part of the name, and yet of the problem.
TEST_F(Formula, ContinuesAndRepeatsWithItsBoundsAlone) {
  ASSERT_EQ(
      run(solve("expr:x^2", {"--var", "x=real:-2:2", "--sweeps", "50", "-o", "run"})).exit_code, 0);
  std::string text = read("run/run.json");
  const std::string bounds = "x=real:-2:2";
  for (std::size_t at; (at = text.find(bounds)) != std::string::npos;) {
    text.replace(at, bounds.size(), "x=real:1:2");
  }
  write("run/run.json", text);
  EXPECT_EQ(run({"resume", "run", "--sweeps", "500"}).exit_code, 3);
  EXPECT_EQ(run({"solve", "--repeat", "run/run.json", "-o", "again"}).exit_code, 3);
}

}  // namespace
}  // namespace kiln::test::formula_test
