// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <optional>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/kernels/linear_algebra/matrix_product.hpp"
#include "kiln/models/product.hpp"
#include "kiln/options.hpp"

#include "product_model.hpp"

namespace kiln {
namespace {

constexpr double max_exact_double = 0x1p53;
constexpr double float_rounding = 0x1p-24;  // of a result in single precision

std::string error_text(double error) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2g", error);
  return text.data();
}
// The same, not below the error: a user may give it as a contract.
std::string error_at_least(double error) {
  constexpr double digit = 1.05;  // more than half a unit of the second digit
  const std::string text = error_text(error);
  return std::stod(text) >= error ? text : error_text(digit * error);
}

bool is_real_element(ProductElement element) {
  return element == ProductElement::float64 || element == ProductElement::float32;
}

/// A choice among the paths of one product.
class ProductChoice {
 public:
  ProductChoice(const ProductShape& shape, const ProductOperands& operands,
                const DeviceShape& device, std::uint32_t excluded)
      : shape_(shape), operands_(operands), device_(device), excluded_(excluded) {}

  bool has(ProductPath path) const {
    return detail::has_path(device_, path) && (excluded_ >> static_cast<unsigned>(path) & 1) == 0;
  }

  /// Whether int8 holds the factors: by their type, or by their values.
  bool are_int8() const {
    return operands_.element == ProductElement::int8 || operands_.within_int8;
  }

  std::optional<ProductPlan> exact() const {
    const bool fits = are_int8() && shape_.inner <= MatrixProduct::max_int8_inner;
    const bool doubles = has_exact_doubles();
    if (fits && has(ProductPath::int8_exact) && !(doubles && is_cheaper_in_double())) {
      return planned(ProductPath::int8_exact, ProductElement::int8,
                     "all elements are integers within int8, and sums in 32 bits are exact");
    }
    if (!doubles) return {};
    std::string reason = "sums of these integers stay below 2^53, so doubles are exact";
    if (!are_int8()) reason = "elements are integers beyond int8; " + reason;
    if (!(shape_.inner <= MatrixProduct::max_int8_inner)) {
      reason = "the inner dimension is beyond that of int8; " + reason;
    }
    return planned(ProductPath::float64, ProductElement::float64, reason);
  }

  /// The cheapest path within a tolerance.
  std::optional<ProductPlan> within(double tolerance) const {
    std::optional<ProductPlan> best;
    double least = 0;
    int others = 0;
    for (const ProductPath path : product_paths) {
      if (path == ProductPath::int8_exact || !takes(path) || !has(path)) continue;
      if (!(bound(path) <= tolerance)) continue;
      const double seconds = detail::product_seconds(shape_, path, device_);
      ++others;
      if (best && !(seconds < least)) continue;
      least = seconds;
      best = planned(path, operands_.element, {});
    }
    if (!best) return {};
    best->expected_error = bound(best->path);
    best->reason = reason_for(best->path, tolerance, others);
    return best;
  }

  /// The plan, or an exact one that costs less.
  ProductPlan cheaper(ProductPlan plan) const {
    const auto seconds = [&](const ProductPlan& of) {
      return detail::product_seconds(shape_, of.path, device_);
    };
    std::optional<ProductPlan> other = exact();
    return other && seconds(*other) < seconds(plan) ? std::move(*other) : std::move(plan);
  }

  double bound(ProductPath path) const {
    const double rounding = operands_.result == ProductElement::float32 ? float_rounding : 0;
    return product_error_bound(path, shape_.inner) + rounding;
  }
  /// The smallest of all bounds of the paths that can be used.
  double smallest_bound() const {
    double least = std::numeric_limits<double>::infinity();
    for (const ProductPath path : product_paths) {
      if (path != ProductPath::int8_exact && takes(path) && has(path)) {
        least = std::min(least, bound(path));
      }
    }
    return least;
  }

 private:
  // MatrixProduct::valid() of real factors.
  bool takes(ProductPath path) const {
    if (!is_real_element(operands_.element) || !is_real_element(operands_.result)) return false;
    if (path == ProductPath::float64) {
      return operands_.element == ProductElement::float64 &&
             operands_.result == ProductElement::float64;
    }
    // The CPU computes all of these in double: those of single precision only if the factors are.
    if (!device_.gpu)
      return operands_.element == ProductElement::float32 ||
             operands_.result == ProductElement::float32;
    return true;
  }
  bool has_exact_doubles() const {
    if (operands_.element != ProductElement::float64 || !has(ProductPath::float64)) return false;
    if (operands_.result != ProductElement::float64 || !operands_.integers) return false;
    const double largest = operands_.largest_a * operands_.largest_b;
    return largest * static_cast<double>(shape_.inner) < max_exact_double;
  }
  bool is_cheaper_in_double() const {
    return detail::product_seconds(shape_, ProductPath::float64, device_) <
           detail::product_seconds(shape_, ProductPath::int8_exact, device_);
  }
  ProductPlan planned(ProductPath path, ProductElement element, std::string reason) const {
    ProductPlan plan;
    plan.path = path;
    plan.element = element;
    plan.exact = path == ProductPath::int8_exact || !reason.empty();
    plan.scratch_bytes =
        device_.gpu ? product_scratch_bytes(path, shape_.rows, shape_.inner, shape_.columns) : 0;
    plan.reason = std::move(reason);
    return plan;
  }
  std::string reason_for(ProductPath path, double tolerance, int others) const {
    const std::string within =
        " within " + error_text(tolerance) + " at K = " + std::to_string(shape_.inner);
    if (!device_.gpu) return "the CPU computes real products in double, which is" + within;
    if (others == 1) return std::string(name_of(path)) + " is the only path" + within;
    return std::string(name_of(path)) + " is the cheapest of " + std::to_string(others) + " paths" +
           within;
  }

  ProductShape shape_;
  ProductOperands operands_;
  DeviceShape device_;
  std::uint32_t excluded_;
};

void check_product_shape(const ProductShape& shape) {
  if (shape.rows >= 0 && shape.inner >= 0 && shape.columns >= 0) return;
  throw InvalidArgument("product.shape", "the shape of a product has a negative size",
                        "at least 0 rows, terms and columns");
}

[[noreturn]] void refuse_exact(const ProductShape& shape, const ProductOperands& operands,
                               const ProductChoice& choice) {
  if (!choice.are_int8()) {
    const double largest = std::max(operands.largest_a, operands.largest_b);
    const std::string what =
        operands.integers && largest == 0 ? "the magnitude of the factors is not known"
        : operands.integers
            ? "the largest magnitude of the factors is " + detail::show_real(largest)
            : "the factors are not known to be integers";
    throw InvalidArgument("product.accuracy", "exact product: " + what,
                          "integers from -128 to 127");
  }
  if (shape.inner > MatrixProduct::max_int8_inner) {
    throw InvalidArgument(
        "product.accuracy", "exact product: the inner dimension is " + std::to_string(shape.inner),
        "at most " + std::to_string(MatrixProduct::max_int8_inner) + " for sums in 32 bits");
  }
  throw InvalidArgument("product.accuracy", "exact product: the device has no path for int8",
                        "a GPU of compute capability 9.0, a CPU, or factors in double");
}

}  // namespace

ProductPlan plan_product(const ProductShape& shape, const ProductOperands& operands,
                         const Accuracy& accuracy, const DeviceShape& device,
                         std::uint32_t excluded) {
  check_product_shape(shape);
  const ProductChoice choice(shape, operands, device, excluded);
  if (accuracy.kind == Accuracy::Kind::exact) {
    if (choice.are_int8() && shape.inner <= MatrixProduct::max_int8_inner) {
      if (auto plan = choice.exact()) return *plan;
    }
    refuse_exact(shape, operands, choice);
  }
  if (!(accuracy.tolerance > 0)) {
    throw InvalidArgument("product.accuracy",
                          "the tolerance of a product is " + detail::show_real(accuracy.tolerance),
                          "more than 0, or an exact product");
  }
  if (accuracy.kind == Accuracy::Kind::automatic || operands.element == ProductElement::int8) {
    if (auto plan = choice.exact()) return *plan;
  }
  if (auto plan = choice.within(accuracy.tolerance)) return choice.cheaper(std::move(*plan));
  if (operands.element == ProductElement::int8) refuse_exact(shape, operands, choice);
  throw InvalidArgument(
      "product.accuracy",
      "no path keeps an error of " + error_text(accuracy.tolerance) + " at an inner dimension of " +
          std::to_string(shape.inner),
      "at least " + error_at_least(choice.smallest_bound()) + ", or exact for integers");
}

}  // namespace kiln
