// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "kiln/problems/densities/expression_op.hpp"

namespace kiln::problems {

/// A function that formulas may call.
struct ExpressionFunction {
  std::string_view name;
  ExpressionOp op;
  std::size_t least = 1, most = 1;  ///< arguments
};

/// By name; null if there is none.
const ExpressionFunction* expression_function(std::string_view name);

std::span<const ExpressionFunction> expression_functions();

/// A power with the bits of the products that small exponents become.
double power(double base, double exponent);

/// The value of a function. @param y  the second argument, if there is one
double expression_function_of(ExpressionOp op, double x, double y);

}  // namespace kiln::problems
