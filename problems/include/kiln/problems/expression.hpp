// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"
#include "kiln/problems/model_data.hpp"
#include "kiln/registry.hpp"

namespace kiln::problems {

/// A variable of a formula: a number, or an array with one or two indices, which count from 1.
struct ExpressionVariable {
  enum class Kind : std::uint8_t { real, integer, binary };

  std::string name;
  std::vector<std::int64_t> shape;  ///< none for a number
  double lower = 0, upper = 1;      ///< of each element; 0 and 1 for binary
  Kind kind = Kind::real;

  std::int64_t elements() const {
    std::int64_t n = 1;
    for (const std::int64_t size : shape) n *= size;
    return n;
  }
};

/// Reads `NAME=real:LOW:HIGH`, `NAME=int:LOW:HIGH` or `NAME=binary`; NAME may be an array, `x[N]`
/// or `x[N,M]`.
/// @throws InvalidArgument `expr.variable` with the expected form.
KILN_API ExpressionVariable parse_expression_variable(std::string_view text);

/// A formula, and what its names stand for.
struct ExpressionOptions {
  /// docs/problems/formulas.md has the language. Several objectives are separated by semicolons;
  /// `max:` before one of them maximises it.
  std::string formula;
  std::vector<ExpressionVariable> variables;
  const ModelData* data = nullptr;  ///< arrays by name; may be null
  Sense sense = Sense::minimize;    ///< of one objective
  /// Such as `x + y <= 1` or `x >= 0`. `==` stands between integers only; numbers are equal that
  /// differ by 1e-6 at most.
  std::vector<std::string> constraints = {};
};

/// Makes a problem of a formula. If all variables are real, a formula with one objective is
/// compiled into a short program that a kernel executes for all replicas, on each backend, with
/// exact derivatives by reverse mode; every schedule for real variables can use it. Other formulas
/// are evaluated on the host.
///
/// The constraints of one objective become penalties
/// (docs/adr/0068-constraints-of-formulas-are-penalties.md), so that every schedule takes them;
/// SolutionFunctions::constraint_values has their values. Those of several objectives become
/// constraints of the objective.
///
/// Solutions are written in the order of the variables, arrays row after row. This is also the
/// order of the coordinates of states if all are real. Otherwise a state has a block of all reals,
/// one of all binary variables, and one for all integers of the same bounds, in the order of their
/// first variables.
/// @throws InvalidArgument `expr.*` with the column of what is wrong.
KILN_API Problem make_expression_problem(const ExpressionOptions& options);

/// Makes a posterior of the problem of a formula that is the negative logarithm of a density.
/// Quantities are the variables.
/// @throws InvalidArgument `problem.no_density` if the formula has integers, constraints or several
/// objectives, or is maximised.
KILN_API Problem posterior_of_expression(Problem problem);

/// Makes the problem `expr:FORMULA` with its options by name: var (several separated by
/// semicolons), subject-to (likewise), sense.
KILN_API Problem expression_by_name(const std::string& formula, const ProblemSettings& settings,
                                    const ModelData* data);

}  // namespace kiln::problems
