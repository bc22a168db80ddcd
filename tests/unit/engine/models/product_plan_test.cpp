// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The plan of a product: its bounds against emulated paths, and what it chooses and refuses.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kiln/errors.hpp"
#include "kiln/kernels/linear_algebra/matrix_product.hpp"
#include "kiln/models/product.hpp"

namespace kiln::product_plan_test {
namespace {

constexpr DeviceShape cpu{.parallel_units = 2};
constexpr DeviceShape hopper{
    .gpu = true, .parallel_units = 132, .compute_capability = 90, .packed_products = true};
constexpr DeviceShape ada{.gpu = true, .parallel_units = 128, .compute_capability = 89};
constexpr ProductShape large{4096, 4096, 4096};

// --- Emulated paths -----------------------------------------------------------------------------

/// To the nearest number of so many bits.
double rounded(double x, int bits) {
  int exponent = 0;
  const double part = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(part, bits)), exponent - bits);
}
double truncated(double x, int bits) {
  int exponent = 0;
  const double part = std::frexp(x, &exponent);
  return std::ldexp(std::trunc(std::ldexp(part, bits)), exponent - bits);
}

struct Emulated {
  ProductPath path;
  int bits, step;  ///< of a part; terms that tensor cores add at a time
};
constexpr Emulated emulated_paths[] = {{ProductPath::bfloat16_x3, 8, 16},
                                       {ProductPath::float16_x3, 11, 16},
                                       {ProductPath::tf32_x3, 11, 8}};

/// A dot product of split factors: sums of `step` terms are added with truncation to 24 bits, and
/// those of 256 terms with rounding.
double split_dot(const Emulated& of, const std::vector<double>& a, const std::vector<double>& b) {
  double total = 0, chunk = 0;
  for (std::size_t k = 0; k < a.size(); k += static_cast<std::size_t>(of.step)) {
    double sums[3] = {};
    for (std::size_t i = k; i < std::min(a.size(), k + static_cast<std::size_t>(of.step)); ++i) {
      const double a1 = rounded(a[i], of.bits), a2 = rounded(a[i] - a1, of.bits);
      const double b1 = rounded(b[i], of.bits), b2 = rounded(b[i] - b1, of.bits);
      sums[0] += a1 * b1;
      sums[1] += a1 * b2;
      sums[2] += a2 * b1;
    }
    for (const double sum : sums) chunk = truncated(chunk + sum, 24);
    if ((k + static_cast<std::size_t>(of.step)) % 256 == 0) {
      total = rounded(total + chunk, 24);
      chunk = 0;
    }
  }
  return rounded(total + chunk, 24);
}

double single_dot(const std::vector<double>& a, const std::vector<double>& b) {
  float sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    sum = std::fma(static_cast<float>(a[k]), static_cast<float>(b[k]), sum);
  }
  return sum;
}

/// The error of 300 dot products, as that of a product of matrices.
template <class Dot>
double error_of(std::size_t inner, bool positive, const Dot& dot) {
  std::mt19937_64 random(inner);
  std::normal_distribution<double> normal;
  double wrong = 0, size = 0;
  for (int n = 0; n < 300; ++n) {
    std::vector<double> a(inner), b(inner);
    double exact = 0;
    for (std::size_t k = 0; k < inner; ++k) {
      a[k] = positive ? std::abs(normal(random)) : normal(random);
      b[k] = positive ? std::abs(normal(random)) : normal(random);
      exact += a[k] * b[k];
    }
    wrong += std::pow(dot(a, b) - exact, 2);
    size += exact * exact;
  }
  return std::sqrt(wrong / size);
}

TEST(ProductPlan, BoundsTheErrorsOfEmulatedPaths) {
  for (const std::size_t inner : {64u, 256u, 1024u, 4096u}) {
    for (const bool positive : {false, true}) {
      const auto bound = [&](ProductPath path) {
        return product_error_bound(path, static_cast<std::int64_t>(inner));
      };
      for (const Emulated& of : emulated_paths) {
        const double error = error_of(
            inner, positive, [&](const auto& a, const auto& b) { return split_dot(of, a, b); });
        EXPECT_LT(error, bound(of.path)) << name_of(of.path) << " " << inner;
        EXPECT_GT(error, bound(of.path) / 100) << "a bound that says little: " << inner;
      }
      const double error = error_of(inner, positive, single_dot);
      EXPECT_LT(error, bound(ProductPath::float32)) << inner;
      EXPECT_GT(error, bound(ProductPath::float32) / 10) << inner;
    }
  }
}

// --- Choices ------------------------------------------------------------------------------------

TEST(ProductPlan, ChoosesTheCheapestPathWithinTheContract) {
  const auto path = [](double tolerance, const DeviceShape& device) {
    return plan_product(large, {}, Accuracy::within(tolerance), device).path;
  };
  EXPECT_EQ(path(1e-4, hopper), ProductPath::bfloat16_x3);
  EXPECT_EQ(path(5e-6, hopper), ProductPath::float16_x3);
  EXPECT_EQ(path(1e-6, hopper), ProductPath::float64);
  EXPECT_EQ(path(1e-12, hopper), ProductPath::float64);
  EXPECT_EQ(path(1e-4, ada), ProductPath::float32);
  EXPECT_EQ(path(1e-12, ada), ProductPath::float64);
  EXPECT_EQ(path(1e-4, cpu), ProductPath::float64);
}

TEST(ProductPlan, NeverChoosesAPathThatMissesTheContract) {
  for (const DeviceShape& device : {cpu, hopper, ada}) {
    for (std::int64_t inner = 1; inner <= 1 << 20; inner *= 4) {
      for (double tolerance = 1e-2; tolerance > 1e-12; tolerance /= 1.7) {
        const ProductPlan plan =
            plan_product({2048, inner, 2048}, {}, Accuracy::within(tolerance), device);
        EXPECT_LE(product_error_bound(plan.path, inner), tolerance) << name_of(plan.path);
        EXPECT_EQ(plan.expected_error, product_error_bound(plan.path, inner));
        EXPECT_FALSE(plan.exact);
      }
    }
  }
}

TEST(ProductPlan, LeavesOutAPathThatMissedItsContract) {
  const std::uint32_t without = 1u << static_cast<unsigned>(ProductPath::bfloat16_x3);
  const ProductPlan plan = plan_product(large, {}, Accuracy::within(1e-4), hopper, without);
  EXPECT_EQ(plan.path, ProductPath::float16_x3);
}

TEST(ProductPlan, MultipliesSmallMatricesWithoutPacking) {
  for (const std::int64_t n : {1, 16, 128, 256}) {
    const ProductPlan plan = plan_product({n, n, n}, {}, Accuracy::within(1e-4), hopper);
    EXPECT_FALSE(is_packed(plan.path)) << n;
    EXPECT_EQ(plan.scratch_bytes, 0);
  }
  // Thin ones, of which a packed path would multiply mostly padding.
  EXPECT_FALSE(is_packed(plan_product({8, 4096, 8}, {}, Accuracy::within(1e-4), hopper).path));
}

TEST(ProductPlan, SaysHowMuchScratchAPathNeeds) {
  const ProductPlan plan = plan_product(large, {}, Accuracy::within(1e-4), hopper);
  // Two parts of 64 slices of 128 bytes, and an exponent, for each of 8192 rows and columns.
  EXPECT_EQ(plan.scratch_bytes, 2 * 64 * 128 * 8192 + 4 * 8192 + 1024);
  EXPECT_EQ(product_scratch_bytes(ProductPath::int8_exact, 1, 129, 257),
            2 * 128 * (256 + 512) + 4 * (256 + 512) + 1024);
  EXPECT_EQ(product_scratch_bytes(ProductPath::tf32_x3, 256, 32, 256),
            2 * 128 * 512 + 4 * 512 + 1024);
  EXPECT_EQ(product_scratch_bytes(ProductPath::float64, 4096, 4096, 4096), 0);
}

TEST(ProductPlan, TakesSinglePrecisionAsItIs) {
  const ProductOperands single{ProductElement::float32, ProductElement::float32};
  EXPECT_EQ(plan_product(large, single, Accuracy::within(1e-4), hopper).path,
            ProductPath::bfloat16_x3);
  EXPECT_EQ(plan_product(large, single, Accuracy::within(1e-5), cpu).path, ProductPath::float32);
  EXPECT_THROW(plan_product(large, single, Accuracy::within(1e-9), hopper), InvalidArgument);
}

// --- Exact products -----------------------------------------------------------------------------

ProductOperands integers_up_to(double largest) {
  ProductOperands operands;
  operands.integers = true;
  operands.within_int8 = largest <= 127;
  operands.largest_a = operands.largest_b = largest;
  return operands;
}

TEST(ProductPlan, MultipliesSmallIntegersExactly) {
  const ProductPlan plan =
      plan_product(large, integers_up_to(127), Accuracy::exact_integers(), hopper);
  EXPECT_EQ(plan.path, ProductPath::int8_exact);
  EXPECT_EQ(plan.element, ProductElement::int8);
  EXPECT_TRUE(plan.exact);
  EXPECT_EQ(plan.expected_error, 0);
  // Doubles are exact, too, and faster where no tensor cores multiply bytes.
  for (const DeviceShape& device : {cpu, ada}) {
    const ProductPlan without =
        plan_product(large, integers_up_to(127), Accuracy::exact_integers(), device);
    EXPECT_EQ(without.path, ProductPath::float64);
    EXPECT_TRUE(without.exact);
  }
  ProductOperands bytes = integers_up_to(127);
  bytes.element = ProductElement::int8;
  EXPECT_EQ(plan_product(large, bytes, Accuracy::exact_integers(), cpu).path,
            ProductPath::int8_exact);
}

TEST(ProductPlan, TakesTheNextExactPathForLargerIntegers) {
  const ProductPlan doubles =
      plan_product(large, integers_up_to(1000), Accuracy::automatic(1e-6), hopper);
  EXPECT_EQ(doubles.path, ProductPath::float64);
  EXPECT_TRUE(doubles.exact);
  EXPECT_NE(doubles.reason.find("beyond int8"), std::string::npos) << doubles.reason;
  // 4096 x 2^21 x 2^21 is beyond 2^53.
  EXPECT_FALSE(
      plan_product(large, integers_up_to(0x1p21), Accuracy::automatic(1e-6), hopper).exact);
  EXPECT_FALSE(plan_product(large, {}, Accuracy::automatic(1e-6), hopper).exact);
  const ProductShape deep{64, MatrixProduct::max_int8_inner + 1, 64};
  const ProductPlan far =
      plan_product(deep, integers_up_to(127), Accuracy::automatic(1e-6), hopper);
  EXPECT_EQ(far.path, ProductPath::float64);
  EXPECT_TRUE(far.exact);
}

template <class Call>
std::string refusal_of(const Call& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.code() + ": " + error.message() + "; " + error.expected();
  }
  return "accepted";
}

TEST(ProductPlan, NamesAToleranceThatItKeeps) {
  for (const std::int64_t inner : {1, 2, 3, 8, 40, 300, 4096}) {
    const ProductShape shape{64, inner, 64};
    const std::string refusal = refusal_of(
        [&] { static_cast<void>(plan_product(shape, {}, Accuracy::within(1e-18), cpu)); });
    const double named = std::stod(refusal.substr(refusal.find("at least ") + 9));
    EXPECT_EQ(plan_product(shape, {}, Accuracy::within(named), cpu).path, ProductPath::float64)
        << refusal;
  }
}

TEST(ProductPlan, RefusesWhatNoPathKeeps) {
  const auto refused = [](const ProductShape& shape, const ProductOperands& operands,
                          const Accuracy& accuracy) {
    return refusal_of([&] { static_cast<void>(plan_product(shape, operands, accuracy, hopper)); });
  };
  EXPECT_EQ(refused(large, {}, Accuracy::within(1e-16)),
            "product.accuracy: no path keeps an error of 1e-16 at an inner dimension of 4096; at "
            "least 4.2e-15, or exact for integers");
  EXPECT_EQ(refused(large, {}, Accuracy::within(0)),
            "product.accuracy: the tolerance of a product is 0; more than 0, or an exact product");
  EXPECT_EQ(refused(large, {}, Accuracy::within(std::nan(""))),
            "product.accuracy: the tolerance of a product is nan; more than 0, or an exact "
            "product");
  EXPECT_EQ(refused(large, integers_up_to(300), Accuracy::exact_integers()),
            "product.accuracy: exact product: the largest magnitude of the factors is 300; "
            "integers from -128 to 127");
  EXPECT_EQ(refused({64, 131072, 64}, integers_up_to(127), Accuracy::exact_integers()),
            "product.accuracy: exact product: the inner dimension is 131072; at most 131071 for "
            "sums in 32 bits");
  EXPECT_EQ(refused({-1, 2, 3}, {}, Accuracy::within(1e-4)),
            "product.shape: the shape of a product has a negative size; at least 0 rows, terms "
            "and columns");
}

}  // namespace
}  // namespace kiln::product_plan_test
