// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "kiln/device/hd.hpp"
#include "kiln/device/math.hpp"

namespace kiln {

/// What an instruction of an Expression does with the values of earlier ones, a and b.
enum class ExpressionOp : std::int32_t {
  variable,     ///< coordinate a + b * iteration
  variable_at,  ///< coordinate ints[a + iteration]
  result,       ///< result a + b * iteration of earlier blocks
  result_at,    ///< result ints[a + iteration]
  table,        ///< reals[a + b * iteration]
  affine,       ///< reals[b] + reals[b + 1] * a
  add,
  subtract,
  multiply,
  divide,
  square,
  power,     ///< a to the power b
  power_of,  ///< a to the power reals[b]
  minimum,
  maximum,
  atan2,
  sqrt,
  exp,
  expm1,
  log,
  log1p,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  abs,
  sign,
};

// Calls on a GPU, so that an interpreter has few registers, and little code for what is rare.
#if defined(__CUDA_ARCH__)
#define KILN_RARE static __device__ __noinline__
#else
#define KILN_RARE inline
#endif

KILN_HD inline double expression_sign(double x) { return x > 0 ? 1.0 : (x < 0 ? -1.0 : x); }

/// A function of one argument.
KILN_HD inline double expression_function_value(ExpressionOp op, double x) {
  switch (op) {
    case ExpressionOp::sqrt:
      return math::sqrt(x);
    case ExpressionOp::exp:
      return math::exp(x);
    case ExpressionOp::expm1:
      return math::expm1(x);
    case ExpressionOp::log:
      return math::log(x);
    case ExpressionOp::log1p:
      return math::log1p(x);
    case ExpressionOp::sin:
      return math::sin(x);
    case ExpressionOp::cos:
      return math::cos(x);
    case ExpressionOp::tan:
      return ::tan(x);
    case ExpressionOp::asin:
      return ::asin(x);
    case ExpressionOp::acos:
      return ::acos(x);
    case ExpressionOp::atan:
      return math::atan(x);
    case ExpressionOp::sinh:
      return ::sinh(x);
    case ExpressionOp::cosh:
      return ::cosh(x);
    case ExpressionOp::tanh:
      return ::tanh(x);
    case ExpressionOp::abs:
      return math::abs(x);
    default:
      return expression_sign(x);
  }
}

/// The value of a function of one argument y, or of an operation of x and y.
KILN_RARE double expression_operation(ExpressionOp op, double x, double y, double exponent) {
  switch (op) {
    case ExpressionOp::power:
      return math::pow(x, y);
    case ExpressionOp::power_of:
      return math::pow(y, exponent);
    case ExpressionOp::minimum:
      return y < x ? y : x;
    case ExpressionOp::maximum:
      return y > x ? y : x;
    case ExpressionOp::atan2:
      return ::atan2(x, y);
    default:
      return expression_function_value(op, y);
  }
}

/// The derivative of a function at x, where its value is v.
KILN_RARE double expression_function_slope(ExpressionOp op, double x, double v) {
  switch (op) {
    case ExpressionOp::sqrt:
      return 0.5 / v;
    case ExpressionOp::exp:
      return v;
    case ExpressionOp::expm1:
      return v + 1;
    case ExpressionOp::log:
      return 1 / x;
    case ExpressionOp::log1p:
      return 1 / (1 + x);
    case ExpressionOp::sin:
      return math::cos(x);
    case ExpressionOp::cos:
      return -math::sin(x);
    case ExpressionOp::tan:
      return 1 + v * v;
    case ExpressionOp::asin:
      return 1 / math::sqrt((1 - x) * (1 + x));
    case ExpressionOp::acos:
      return -1 / math::sqrt((1 - x) * (1 + x));
    case ExpressionOp::atan:
      return 1 / (1 + x * x);
    case ExpressionOp::sinh:
      return ::cosh(x);
    case ExpressionOp::cosh:
      return ::sinh(x);
    case ExpressionOp::tanh:
      return (1 - v) * (1 + v);
    case ExpressionOp::abs:
      return expression_sign(x);
    default:
      return 0;
  }
}

}  // namespace kiln
