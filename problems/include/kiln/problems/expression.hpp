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
  std::string name;
  std::vector<std::int64_t> shape;  ///< none for a number
  double lower = 0, upper = 1;      ///< of each element

  std::int64_t elements() const {
    std::int64_t n = 1;
    for (const std::int64_t size : shape) n *= size;
    return n;
  }
};

/// Reads `NAME=real:LOW:HIGH`, `NAME[N]=real:LOW:HIGH` or `NAME[N,M]=real:LOW:HIGH`.
/// @throws InvalidArgument `expr.variable` with the expected form.
KILN_API ExpressionVariable parse_expression_variable(std::string_view text);

/// A formula, and what its names stand for.
struct ExpressionOptions {
  std::string formula;  ///< docs/problems/formulas.md has the language
  std::vector<ExpressionVariable> variables;
  const ModelData* data = nullptr;  ///< arrays by name; may be null
  Sense sense = Sense::minimize;
};

/// Makes a problem of a formula. It is compiled into a short program that a kernel executes for all
/// replicas, on each backend, with exact derivatives by reverse mode; every schedule for real
/// variables can use it. The coordinates are the variables in their order, arrays row after row.
/// @throws InvalidArgument `expr.*` with the column of what is wrong.
KILN_API Problem make_expression_problem(const ExpressionOptions& options);

/// Makes the problem `expr:FORMULA` with its options by name: var (several separated by
/// semicolons), sense.
KILN_API Problem expression_by_name(const std::string& formula, const ProblemSettings& settings,
                                    const ModelData* data);

}  // namespace kiln::problems
