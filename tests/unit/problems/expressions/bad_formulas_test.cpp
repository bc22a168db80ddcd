// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What is said of formulas and variables that are wrong, and where.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/problems/expression.hpp"

#include "backends/cpu_queue.hpp"

namespace kiln::problems {
namespace {

using test::complaint;

std::vector<ExpressionVariable> variables() {
  return {{"x", {}, -1, 1}, {"y", {}, -1, 1}, {"a", {10}, -1, 1}, {"m", {3, 4}, -1, 1}};
}

template <class Action>
std::string said_by(const Action& action) {
  try {
    action();
  } catch (const InvalidArgument& error) {
    return error.code() + "\t" + error.message();
  }
  return "accepted";
}

std::string said_of(const std::string& formula) {
  return said_by([&] { make_expression_problem({formula, variables()}); });
}

TEST(BadFormulas, AreRefusedAtTheirColumn) {
  std::ifstream file(std::string(KILN_SOURCE_DIR) +
                     "/tests/unit/problems/expressions/bad_formulas.txt");
  int formulas = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("# ")) continue;
    std::istringstream cells(line);
    std::string formula, code, column, message;
    std::getline(cells, formula, '\t');
    std::getline(cells, code, '\t');
    std::getline(cells, column, '\t');
    std::getline(cells, message);
    EXPECT_EQ(said_of(formula), code + "\tcolumn " + column + ": " + message) << formula;
    ++formulas;
  }
  EXPECT_GE(formulas, 250);
}

TEST(BadFormulas, AreRefusedForTheirLength) {
  EXPECT_EQ(said_of(std::string(100000, 'x')),
            "expr.size\tcolumn 65536: the formula has over 64 KiB");
  EXPECT_EQ(said_of(std::string(300, '(') + "x" + std::string(300, ')')),
            "expr.size\tcolumn 201: the formula has over 200 levels");
  EXPECT_EQ(said_of(std::string(60000, '-') + "x"),
            "expr.size\tcolumn 200: the formula has over 200 levels");
  std::string powers = "x";
  for (int k = 0; k < 5000; ++k) powers += "^x";
  EXPECT_EQ(said_of(powers), "expr.size\tcolumn 401: the formula has over 200 levels");
  std::string sums = "x";
  for (int k = 0; k < 20; ++k) sums = "sum(i=1..1, " + sums + ")";
  EXPECT_EQ(said_of(sums), "expr.size\tcolumn 197: over 16 indices stand in each other");
}

TEST(BadFormulas, HaveConstraintsThatAreRefusedAtTheirColumn) {
  const auto said = [](const std::string& constraint) {
    return said_by([&] {
      make_expression_problem(
          {"x + k",
           {{"x", {}, -1, 1}, {"k", {}, 0, 9, ExpressionVariable::Kind::integer}},
           nullptr,
           Sense::minimize,
           {"x <= 1", constraint}});
    });
  };
  const auto at = [](const std::string& constraint, const char* code, const char* rest) {
    return std::string(code) + "\t--subject-to '" + constraint + "': column " + rest;
  };
  EXPECT_EQ(said("x + k"), at("x + k", "expr.constraint", "6: there is no relation"));
  EXPECT_EQ(said(""), at("", "expr.constraint", "1: there is no relation"));
  EXPECT_EQ(said("x < k"), at("x < k", "expr.constraint", "3: '<' is no relation"));
  EXPECT_EQ(said("x => k"), at("x => k", "expr.constraint", "3: '=' is no relation"));
  EXPECT_EQ(said("0 <= x <= 1"), at("0 <= x <= 1", "expr.constraint", "8: a second relation"));
  EXPECT_EQ(said("x <= "), at("x <= ", "expr.syntax", "6: the formula ends too early"));
  EXPECT_EQ(said(" <= x"), at(" <= x", "expr.syntax", "2: the formula ends too early"));
  EXPECT_EQ(said("k >= 2*yy"), at("k >= 2*yy", "expr.name", "8: the name 'yy' is not known"));
  EXPECT_EQ(said("1 <= 2"), at("1 <= 2", "expr.constraint", "1: the constraint has no variable"));
  EXPECT_EQ(said("k == x*k"),
            at("k == x*k", "expr.constraint", "6: an equality has a real variable"));
  EXPECT_EQ(said("sum(i=1..2, k) == 3"), "accepted");
  EXPECT_EQ(said("sum(i=1..2, x == 3)"),
            at("sum(i=1..2, x == 3)", "expr.constraint", "20: there is no relation"));
}

// A formula is measured before its program is made, which would find that it is too long.
TEST(BadFormulas, HaveTooManyTermsWithConstraintsToo) {
  const auto said = [](const std::string& formula, const std::string& constraint) {
    return said_by([&] {
      make_expression_problem(
          {formula, {{"x", {}, -1, 1}}, nullptr, Sense::minimize, {constraint}});
    });
  };
  const std::string endless = "sum(i=1..1e9, j=1..1e9, x)";
  const std::string refusal = "the sums have over 2^22 terms, or take over 2^28 steps to read";
  EXPECT_EQ(said(endless, "x <= 1"), "expr.size\tcolumn 1: " + refusal);
  EXPECT_EQ(said("x", endless + " <= 1"), "expr.size\tcolumn 1: " + refusal);
}

TEST(BadFormulas, HaveSeveralObjectivesThatAreRefusedAtTheirColumn) {
  EXPECT_EQ(said_of("x;"), "expr.syntax\tcolumn 3: the formula ends too early");
  EXPECT_EQ(said_of("x; max: y; a[1] + "), "expr.syntax\tcolumn 19: the formula ends too early");
  EXPECT_EQ(said_of("x; max: sine(y)"), "expr.call\tcolumn 9: the function 'sine' is not known");
  EXPECT_EQ(said_of("max: x"),
            "expr.sense\tcolumn 1: 'max:' is for formulas of several objectives");
  std::string many = "x";
  for (int k = 0; k < 16; ++k) many += ";x";
  EXPECT_EQ(said_of(many), "expr.size\tcolumn 33: the formula has over 16 objectives");
}

TEST(BadFormulas, HaveNoIndexThatVaries) {
  ModelData data("t.csv");
  data.add({"t", {3}, {1, 2, 3}});
  const auto said = [&](const char* formula) {
    return said_by([&] {
      make_expression_problem({formula, {{"x", {}, 1, 3}, {"a", {3}, 0, 1}}, &data});
    });
  };
  EXPECT_EQ(said("a[1] + t[x]"), "expr.index\tcolumn 8: an index of 't' depends on a variable");
  EXPECT_EQ(said("x + t[a[2]]"), "expr.index\tcolumn 5: an index of 't' depends on a variable");
  EXPECT_EQ(said("x + a[t[x]]"), "expr.index\tcolumn 7: an index of 't' depends on a variable");
  EXPECT_EQ(said("x + a[t[2]]"), "accepted");
}

// Whatever the ranges and the length: what a formula takes to be read has a limit.
TEST(BadFormulas, AreRefusedBeforeTheyTakeLong) {
  const std::string message =
      "expr.size\tcolumn 1: the sums have over 2^22 terms, or take over 2^28 steps to read";
  EXPECT_EQ(said_of("sum(i=1..1e9, j=1..1e9, k=1..0, x)"), message);
  std::string body = "x*(i";
  for (int k = 0; k < 3000; ++k) body += "+i";
  const std::string said = said_of("sum(i=1..4000000, " + body + "))");
  EXPECT_NE(said.find("take over 2^28 steps"), std::string::npos) << said;
}

TEST(BadFormulas, MayNotBeInfiniteByTheirSums) {
  EXPECT_EQ(said_of("sum(i=1..0,x)/sum(i=1..0,x) + (x+5)^2 + 1*x"),
            "expr.value\tcolumn 1: this part is always infinite or not a number");
}

TEST(BadFormulas, HaveEveryVariableThatIsDeclared) {
  EXPECT_EQ(said_of("x+y+a[1]"), "expr.variable\tthe formula does not have the variable 'm'");
}

TEST(BadVariables, AreRefusedWithTheForm) {
  const auto said = [](const char* text) {
    return said_by([&] { parse_expression_variable(text); });
  };
  EXPECT_EQ(said("x"), "expr.variable\t--var x: there is no '='");
  EXPECT_EQ(said("=real:0:1"),
            "expr.variable\t--var =real:0:1: the name is not of letters, digits and '_'");
  EXPECT_EQ(said("1x=real:0:1"),
            "expr.variable\t--var 1x=real:0:1: the name is not of letters, digits and '_'");
  for (const char* const other : {"x=cat:a,b", "x=integer:0:1", "x=binary:0:1", "x=bool", "x="}) {
    EXPECT_EQ(said(other), std::string("expr.variable\t--var ") + other +
                               ": a variable of a formula is real, int or binary");
  }
  for (const char* const no_integers : {"x=int:0:1.5", "x=int:0:2e9", "x=int:-inf:3"}) {
    EXPECT_EQ(said(no_integers), std::string("expr.variable\t--var ") + no_integers +
                                     ": LOW or HIGH is not a whole number of -1e9 .. 1e9");
  }
  EXPECT_EQ(said("x=real:0"), "expr.variable\t--var x=real:0: LOW or HIGH is not a number");
  EXPECT_EQ(said("x=real:0:1:log"),
            "expr.variable\t--var x=real:0:1:log: LOW or HIGH is not a number");
  EXPECT_EQ(said("x=real:a:1"), "expr.variable\t--var x=real:a:1: LOW or HIGH is not a number");
  EXPECT_EQ(said("x=real:1:1"), "expr.variable\t--var x=real:1:1: LOW is not below HIGH");
  EXPECT_EQ(said("x=real:-1e308:1e308"),
            "expr.variable\t--var x=real:-1e308:1e308: HIGH - LOW is above 1.8e308, the largest "
            "number");
  for (const char* const wide : {"x=real:-8e307:8e307", "x=real:-inf:inf", "x=real:-1e308:inf"}) {
    EXPECT_EQ(said(wide), "accepted") << wide;
  }
  EXPECT_EQ(said("x=real:nan:1"), "expr.variable\t--var x=real:nan:1: LOW or HIGH is not a number");
  EXPECT_EQ(said("x[0]=real:0:1"),
            "expr.variable\t--var x[0]=real:0:1: between the brackets is no number of 1 .. "
            "1048576, or two with a ','");
  EXPECT_EQ(said("x[]=real:0:1"),
            "expr.variable\t--var x[]=real:0:1: between the brackets is no number of 1 .. 1048576, "
            "or two with a ','");
  EXPECT_EQ(said("x[2,2,2]=real:0:1"),
            "expr.variable\t--var x[2,2,2]=real:0:1: an array has one index or two");
  EXPECT_EQ(said("x[2=real:0:1"),
            "expr.variable\t--var x[2=real:0:1: a '[' is not closed before the '='");
  EXPECT_EQ(said("x=real"), "expr.variable\t--var x=real: LOW and HIGH are missing");
  EXPECT_EQ(said("x=cat:a,b"),
            "expr.variable\t--var x=cat:a,b: a variable of a formula is real, int or binary");
}

TEST(BadVariables, AreRefusedTogether) {
  const auto said = [](std::vector<ExpressionVariable> variables) {
    return complaint([&] { make_expression_problem({"x", std::move(variables)}); });
  };
  EXPECT_NE(said({}).find("the formula has no variables"), std::string::npos);
  EXPECT_NE(said({{"x", {}, 0, 1}, {"x", {}, 0, 1}}).find("declared twice"), std::string::npos);
  EXPECT_NE(said({{"sin", {}, 0, 1}}).find("'sin' cannot be the name"), std::string::npos);
  EXPECT_NE(said({{"x", {1 << 19, 4}, 0, 1}}).find("over 1048576 elements"), std::string::npos);
  EXPECT_NE(said({{"x", {}, -1e308, 1e308}}).find("too far from each other"), std::string::npos);
  EXPECT_NE(said({{"x", {0}, 0, 1}}).find("an array of none"), std::string::npos);
  EXPECT_NE(said({{"x", {-1, -1}, 0, 1}}).find("an array of none"), std::string::npos);
}

}  // namespace
}  // namespace kiln::problems
