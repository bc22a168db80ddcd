// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kiln/objectives/catalog_density.hpp"
#include "kiln/problems/densities/expression.hpp"

#include "expressions/expression_scope.hpp"

namespace kiln::problems {

/// An Expression and the arrays that its pointers refer to.
struct ExpressionProgram {
  Expression functor;  ///< with null pointers
  std::vector<std::int32_t> layout, code, steps, ints, parts_begin, parts;
  std::vector<double> reals;
};

/// Compiles a formula whose names are resolved.
/// @param negated  the value of the program is that of the formula with the other sign
/// @throws InvalidArgument `expr.size` for over 2^22 terms, `expr.index` for an index that is
/// outside its array in any iteration
KILN_API ExpressionProgram compile_expression(const ExpressionScope& scope, ExpressionNode formula,
                                              bool negated);

/// The density of a program. Exported for the tests only.
KILN_API std::shared_ptr<const CatalogDensitySource<Expression>> source_of(
    ExpressionProgram program);

}  // namespace kiln::problems
