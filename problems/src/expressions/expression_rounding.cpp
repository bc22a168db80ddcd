// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "expressions/expression_rounding.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace kiln::problems {
namespace {

using Kind = ExpressionNode::Kind;
using Means = ExpressionNode::Means;

constexpr double infinity = std::numeric_limits<double>::infinity();
// Twice the unit roundoff: also of an operation on operands with errors.
constexpr double roundoff = 0x1p-52;
// Numbers that are computed of others when the formula is read.
constexpr double computed = 0x1p-50;
constexpr double largest_power = 64;
constexpr double largest_of_products = 1e-9;

/// What is known of a part of the formula in the bounds of its variables.
struct Part {
  double size = 0;      ///< largest absolute value
  double error = 0;     ///< largest error; infinite: no bound is known
  bool whole = true;    ///< an integer, computed exactly
  bool varies = false;  ///< with the variables
  bool real = false;    ///< with a real variable
  bool binary = true;   ///< with binary variables only
  bool curved = false;  ///< has a product of variables that are not binary
};

Part unknown() { return {.size = infinity, .error = infinity, .whole = false, .varies = true}; }

/// Of a result of both, without its size and its error.
Part joined(const Part& a, const Part& b) {
  return {.whole = a.whole && b.whole,
          .varies = a.varies || b.varies,
          .real = a.real || b.real,
          .binary = a.binary && b.binary,
          .curved = a.curved || b.curved};
}

/// Integers up to 2^53 stay exact; others are rounded so often.
Part rounded(Part part, double times) {
  part.whole = part.whole && part.size <= 0x1p53;
  if (!part.whole) part.error += times * roundoff * part.size;
  return part;
}

Part sum_of(const Part& a, const Part& b) {
  Part sum = joined(a, b);
  sum.size = a.size + b.size;
  sum.error = a.error + b.error;
  return sum;
}

Part product_of(const Part& a, const Part& b) {
  const bool both = a.varies && b.varies;
  if (both && (a.real || b.real)) return unknown();
  Part product = joined(a, b);
  product.curved = product.curved || (both && !(a.binary && b.binary));
  product.size = a.size * b.size;
  product.error = a.size * b.error + b.size * a.error + a.error * b.error;
  return rounded(product, 1);
}

Part quotient_of(const Part& a, const Part& b) {
  if (b.varies || b.size == 0) return unknown();
  Part quotient = joined(a, b);
  quotient.whole = false;
  quotient.size = a.size / b.size;
  quotient.error = (a.error + quotient.size * b.error) / b.size;
  return rounded(quotient, 1);
}

Part greater_of(const Part& a, const Part& b) {
  Part greater = joined(a, b);
  greater.size = std::max(a.size, b.size);
  greater.error = std::max(a.error, b.error);
  return greater;
}

/// Follows the evaluation of a formula.
class Rounding {
 public:
  explicit Rounding(const Formula& formula) : formula_(formula) {}

  Part part(const ExpressionNode& node) {
    if (!node.varies) return number(formula_.scope.value(node, indices_, {}));
    switch (node.kind) {
      case Kind::name:
      case Kind::item:
        return variable(formula_.variables[node.which]);
      case Kind::negative:
        return part(node.parts[0]);
      case Kind::power:
        return power(node);
      case Kind::chain:
        return chain(node);
      case Kind::fold:
        return fold(node);
      case Kind::call:
        return call(node);
      default:
        return unknown();
    }
  }

 private:
  static Part number(double value) {
    Part part{.size = std::abs(value), .whole = value == std::floor(value)};
    if (!part.whole) part.error = computed * part.size;
    return part;
  }

  static Part variable(const ExpressionVariable& one) {
    return {.size = std::max(std::abs(one.lower), std::abs(one.upper)),
            .whole = one.kind != ExpressionVariable::Kind::real,
            .varies = true,
            .real = one.kind == ExpressionVariable::Kind::real,
            .binary = one.kind == ExpressionVariable::Kind::binary};
  }

  Part power(const ExpressionNode& node) {
    if (node.parts[1].varies) return unknown();
    const double exponent = formula_.scope.value(node.parts[1], indices_, {});
    const bool counts = exponent == std::floor(exponent);
    if (!counts || exponent < 1 || exponent > largest_power) return unknown();
    const Part base = part(node.parts[0]);
    Part result = base;
    for (double k = 1; k < exponent; ++k) result = product_of(result, base);
    return result;
  }

  Part chain(const ExpressionNode& node) {
    Part result = part(node.parts[0]);
    for (std::size_t k = 1; k < node.parts.size(); ++k) {
      const Part next = part(node.parts[k]);
      const char op = node.operators[k];
      result = op == '*'   ? product_of(result, next)
               : op == '/' ? quotient_of(result, next)
                           : rounded(sum_of(result, next), 1);
    }
    return result;
  }

  Part call(const ExpressionNode& node) {
    if (node.op == ExpressionOp::power) return power(node);
    const bool keeps = node.op == ExpressionOp::abs || node.op == ExpressionOp::maximum ||
                       node.op == ExpressionOp::minimum;
    if (!keeps) return unknown();
    Part result = part(node.parts[0]);
    for (std::size_t k = 1; k < node.parts.size(); ++k) {
      result = greater_of(result, part(node.parts[k]));
    }
    return result;
  }

  // The terms may be added in any order.
  Part fold(const ExpressionNode& node) {
    const bool is_product = node.text == "prod";
    Part result = is_product ? number(1) : number(0);
    std::int64_t terms = 0;
    each_term(node, 0, [&] {
      const Part term = part(node.parts[0]);
      result = is_product ? product_of(result, term) : sum_of(result, term);
      ++terms;
      return std::isfinite(result.error);
    });
    return is_product ? result : rounded(result, static_cast<double>(terms));
  }

  /// Until one call returns false. @return whether none did
  template <class Take>
  bool each_term(const ExpressionNode& node, std::size_t range, const Take& take) {
    if (range == node.ranges.size()) return take();
    const auto ends = formula_.scope.bounds(node.ranges[range], indices_);
    if (!ends) return true;
    for (std::int32_t i = (*ends)[0]; i <= (*ends)[1]; ++i) {
      indices_[node.ranges[range].level] = i;
      if (!each_term(node, range + 1, take)) return false;
    }
    return true;
  }

  const Formula& formula_;
  ExpressionScope::Indices indices_{};
};

}  // namespace

std::optional<double> rounding_of(const Formula& formula, const ExpressionNode& node) {
  const Part whole = Rounding(formula).part(node);
  const double difference = 2 * whole.error;
  if (!std::isfinite(difference) || !std::isfinite(whole.size)) return {};
  if (whole.curved && difference > largest_of_products) return {};
  return difference;
}

}  // namespace kiln::problems
