// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "expressions/expression_functions.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace kiln::problems {
namespace {

constexpr ExpressionFunction functions[] = {
    {"abs", ExpressionOp::abs},
    {"acos", ExpressionOp::acos},
    {"asin", ExpressionOp::asin},
    {"atan", ExpressionOp::atan},
    {"atan2", ExpressionOp::atan2, 2, 2},
    {"cos", ExpressionOp::cos},
    {"cosh", ExpressionOp::cosh},
    {"exp", ExpressionOp::exp},
    {"expm1", ExpressionOp::expm1},
    {"log", ExpressionOp::log},
    {"log1p", ExpressionOp::log1p},
    {"max", ExpressionOp::maximum, 2, 12},
    {"min", ExpressionOp::minimum, 2, 12},
    {"pow", ExpressionOp::power, 2, 2},
    {"sign", ExpressionOp::sign},
    {"sin", ExpressionOp::sin},
    {"sinh", ExpressionOp::sinh},
    {"sqrt", ExpressionOp::sqrt},
    {"tan", ExpressionOp::tan},
    {"tanh", ExpressionOp::tanh},
};

}  // namespace

const ExpressionFunction* expression_function(std::string_view name) {
  const auto* const found = std::ranges::find(functions, name, &ExpressionFunction::name);
  return found == std::end(functions) ? nullptr : found;
}

double power(double base, double exponent) {
  if (exponent == 2) return base * base;
  if (exponent == 3) return base * base * base;
  if (exponent == 4) return (base * base) * (base * base);
  return exponent == 0.5 ? std::sqrt(base) : std::pow(base, exponent);
}

std::span<const ExpressionFunction> expression_functions() { return functions; }

double expression_function_of(ExpressionOp op, double x, double y) {
  switch (op) {
    case ExpressionOp::atan2:
      return std::atan2(x, y);
    case ExpressionOp::maximum:
      return y > x ? y : x;
    case ExpressionOp::minimum:
      return y < x ? y : x;
    case ExpressionOp::power:
      return power(x, y);
    default:
      return expression_function_value(op, x);
  }
}

}  // namespace kiln::problems
