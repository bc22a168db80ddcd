// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/problem.hpp"
#include "kiln/problems/expression.hpp"

#include "fuzz.hpp"

namespace kiln::test {

inline void check_constraint(const std::string& text,
                             const std::vector<problems::ExpressionVariable>& variables,
                             const ModelData& data) {
  Problem problem;
  try {
    problem = problems::make_expression_problem(
        {"x+y+a[1]+m[1,1]", variables, &data, Sense::minimize, {text}});
  } catch (const InvalidArgument& error) {
    require(error.code().starts_with("expr."), "a constraint is refused by a code of formulas");
    return;
  }
  const State state{std::vector<double>{0.75, -1.5, 0.25, 1.25, -0.5, 2, -2, 0.125, 1}};
  require(problem.solution.constraint_values(spans_of(state)).size() == 1,
          "a constraint has a value");
}

/// Compiles a formula of x, y, a[3] and m[2,2], with a column t: it is refused with a column, or
/// has a value. Arithmetic alone has the bits of the formula, in the program as in the formula that
/// the result is verified by. As a constraint the text is refused with a column, or has a value.
inline void check_expression(const std::string& text) {
  using problems::ExpressionVariable;
  static const std::vector<ExpressionVariable> variables{
      {"x", {}, -2, 2}, {"y", {}, -2, 2}, {"a", {3}, -2, 2}, {"m", {2, 2}, -2, 2}};
  static const ModelData data = [] {
    ModelData table("t.csv");
    table.add({"t", {4}, {0.5, 1, 2, 3}});
    return table;
  }();
  check_constraint(text, variables, data);
  // All variables occur, whatever the text.
  const std::string formula = "(" + text + ") + 0*(x+y+a[1]+m[1,1])";
  Problem problem;
  try {
    problem = problems::make_expression_problem({formula, variables, &data});
  } catch (const InvalidArgument& error) {
    require(error.code().starts_with("expr."), "a formula is refused by a code of formulas");
    require(error.message().starts_with("column "), "a refusal has the column");
    return;
  }
  if (problem.objectives) return;  // "x);(y"
  const std::vector<double> x{0.75, -1.5, 0.25, 1.25, -0.5, 2, -2, 0.125, 1};
  const State state{x};
  const double value = problem.objective->reference()(spans_of(state));
  const double by_formula = problem.solution.verify(spans_of(state));
  std::string rest = text;
  for (std::size_t at; (at = rest.find("sum(")) != std::string::npos;) rest.erase(at, 4);
  const bool is_arithmetic = rest.find_first_of("^([") == std::string::npos;
  if (!is_arithmetic || !std::isfinite(by_formula)) return;
  require(value == by_formula, "the program has the value of the formula");
}

}  // namespace kiln::test
