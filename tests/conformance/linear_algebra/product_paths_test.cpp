// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Every path of MatrixProduct against sums in double, or in integers.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kiln/errors.hpp"
#include "kiln/kernels/linear_algebra/matrix_product.hpp"
#include "kiln/models/product.hpp"

#include "backends/conformance_case.hpp"
#include "densities/batched_chains.hpp"

namespace kiln::test::product_paths_test {
namespace {

constexpr ProductPath real_paths[] = {ProductPath::float64, ProductPath::float32,
                                      ProductPath::bfloat16_x3, ProductPath::float16_x3,
                                      ProductPath::tf32_x3};

bool has_path(Queue& queue, ProductPath path) {
  const DeviceShape& device = queue.device_shape();
  return !is_packed(path) || !device.gpu || device.packed_products;
}

/// A matrix with `gap` values between its rows.
template <class T>
struct Matrix {
  std::int64_t rows = 0, columns = 0, gap = 0;
  std::vector<T> values;

  std::int64_t stride() const { return columns + gap; }
  double at(std::int64_t r, std::int64_t c) const {
    return static_cast<double>(values[idx(r * stride() + c)]);
  }
};

template <class T>
Matrix<T> make_matrix(std::int64_t rows, std::int64_t columns, std::uint64_t seed,
                      std::int64_t gap = 0) {
  Matrix<T> m{rows, columns, gap, {}};
  for (const double x : BatchedChains::numbers(rows * (columns + gap), seed)) {
    // Of int8 all values, -128 and 127 among them.
    m.values.push_back(std::is_integral_v<T> ? static_cast<T>(std::floor(x * 1e4) -
                                                              256 * std::floor(x * 1e4 / 256) - 128)
                                             : static_cast<T>(x));
  }
  return m;
}

template <class Out, class In>
Matrix<Out> multiply(Queue& queue, ProductPath path, const Matrix<In>& a, const Matrix<In>& b,
                     const Epilogue& epilogue = {}, std::int64_t gap = 0) {
  Matrix<Out> c{a.rows, b.columns, gap, {}};
  const DeviceArray<In> on_a(queue, a.values), on_b(queue, b.values);
  DeviceArray<Out> on_c(queue, std::vector<Out>(idx(c.rows * c.stride()), Out{47}));
  MatrixProduct kernel;
  kernel.path = path;
  kernel.a = {on_a.data(), a.rows, a.columns, a.stride()};
  kernel.b = {on_b.data(), b.rows, b.columns, b.stride()};
  kernel.c = {on_c.data(), c.rows, c.columns, c.stride()};
  kernel.epilogue = epilogue;
  DeviceArray<std::byte> scratch(queue, kernel.scratch_bytes());
  kernel.scratch = scratch.view();
  queue.launch(kernel);
  c.values = on_c.download();
  return c;
}

/// ||C - A B|| over the larger of ||A B|| and ||A|| ||B|| / sqrt(K), as Accuracy says.
template <class Out, class In>
double error_of(const Matrix<In>& a, const Matrix<In>& b, const Matrix<Out>& c) {
  double wrong = 0, size = 0, norm_a = 0, norm_b = 0;
  for (std::int64_t r = 0; r < c.rows; ++r) {
    for (std::int64_t n = 0; n < c.columns; ++n) {
      double sum = 0;
      for (std::int64_t k = 0; k < a.columns; ++k) sum += a.at(r, k) * b.at(k, n);
      wrong += std::pow(c.at(r, n) - sum, 2);
      size += sum * sum;
    }
  }
  for (std::int64_t r = 0; r < a.rows; ++r) {
    for (std::int64_t k = 0; k < a.columns; ++k) norm_a += std::pow(a.at(r, k), 2);
  }
  for (std::int64_t k = 0; k < b.rows; ++k) {
    for (std::int64_t n = 0; n < b.columns; ++n) norm_b += std::pow(b.at(k, n), 2);
  }
  return std::sqrt(wrong / std::max(size, norm_a * norm_b / static_cast<double>(a.columns)));
}

struct Size {
  std::int64_t rows, inner, columns;
};
// One element, less and more than a tile and a slice of each kind, and not a multiple of any.
constexpr Size sizes[] = {{1, 1, 1},      {5, 64, 7},      {64, 128, 256}, {129, 257, 255},
                          {257, 33, 300}, {300, 1000, 70}, {3, 2100, 5}};

class ProductPaths : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ProductPaths);

template <class In, class Out>
void expect_within_bound(Queue& queue, ProductPath path, const Size& size, std::int64_t gap) {
  SCOPED_TRACE(std::string(name_of(path)) + ", " + std::to_string(size.rows) + " x " +
               std::to_string(size.inner) + " x " + std::to_string(size.columns));
  const auto a = make_matrix<In>(size.rows, size.inner, 1, gap);
  const auto b = make_matrix<In>(size.inner, size.columns, 2, gap);
  const auto c = multiply<Out>(queue, path, a, b, {}, gap);
  const double rounding = std::is_same_v<Out, float> ? 0x1p-24 : 0;
  // A sum of few terms can have three times the mean error.
  EXPECT_LE(error_of(a, b, c), 3 * product_error_bound(path, size.inner) + rounding);
  for (std::int64_t r = 0; r < c.rows; ++r) {
    for (std::int64_t n = c.columns; n < c.stride(); ++n) EXPECT_EQ(c.at(r, n), 47);
  }
}

TEST_P(ProductPaths, StayWithinTheirBounds) {
  for (const ProductPath path : real_paths) {
    if (!has_path(queue(), path)) continue;
    for (const Size& size : sizes) {
      for (const std::int64_t gap : {0, 3}) {
        expect_within_bound<double, double>(queue(), path, size, gap);
        if (path == ProductPath::float64) continue;
        expect_within_bound<float, float>(queue(), path, size, gap);
        expect_within_bound<float, double>(queue(), path, size, gap);
        expect_within_bound<double, float>(queue(), path, size, gap);
      }
    }
  }
}

// Rows of A and columns of B that differ by powers of ten, up to beyond the range of a half.
TEST_P(ProductPaths, AreNotMisledByScales) {
  auto a = make_matrix<double>(130, 300, 1);
  auto b = make_matrix<double>(300, 140, 2);
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    a.values[i] *= std::pow(10.0, static_cast<double>(i / 300 % 13) - 6);
  }
  for (std::size_t i = 0; i < b.values.size(); ++i) {
    b.values[i] *= std::pow(10.0, static_cast<double>(i % 140 % 13) - 6);
  }
  for (const ProductPath path : real_paths) {
    if (!has_path(queue(), path)) continue;
    const auto c = multiply<double>(queue(), path, a, b);
    for (std::int64_t r = 0; r < 13; ++r) {  // each row alone, whose size differs
      const Matrix<double> row{1, 300, 0, {&a.values[idx(r * 300)], &a.values[idx(r * 300)] + 300}};
      const Matrix<double> of{1, 140, 0, {&c.values[idx(r * 140)], &c.values[idx(r * 140)] + 140}};
      EXPECT_LE(error_of(row, b, of), 4 * product_error_bound(path, 300)) << name_of(path);
    }
  }
}

TEST_P(ProductPaths, AreExactForInt8) {
  if (!has_path(queue(), ProductPath::int8_exact)) GTEST_SKIP();
  for (const Size& size : sizes) {
    for (const std::int64_t gap : {0, 3}) {
      const auto a = make_matrix<std::int8_t>(size.rows, size.inner, 1, gap);
      const auto b = make_matrix<std::int8_t>(size.inner, size.columns, 2, gap);
      EXPECT_EQ(error_of(a, b, multiply<std::int32_t>(queue(), ProductPath::int8_exact, a, b)), 0);
      EXPECT_EQ(error_of(a, b, multiply<double>(queue(), ProductPath::int8_exact, a, b, {}, gap)),
                0);
      EXPECT_LE(error_of(a, b, multiply<float>(queue(), ProductPath::int8_exact, a, b)), 0x1p-24);
    }
  }
}

TEST_P(ProductPaths, HoldTheLargestSumOfInt8) {
  if (!has_path(queue(), ProductPath::int8_exact)) GTEST_SKIP();
  const std::int64_t inner = MatrixProduct::max_int8_inner;
  const Matrix<std::int8_t> a{1, inner, 0, std::vector<std::int8_t>(idx(inner), -128)};
  const Matrix<std::int8_t> b{inner, 1, 0, a.values};
  EXPECT_EQ(multiply<std::int32_t>(queue(), ProductPath::int8_exact, a, b).values,
            (std::vector<std::int32_t>{2147467264}));
}

TEST_P(ProductPaths, ApplyTheEpilogueToEachElement) {
  const auto a = make_matrix<double>(70, 40, 1), b = make_matrix<double>(40, 90, 2);
  const std::vector<double> scale = BatchedChains::numbers(90, 3);
  const std::vector<double> bias = BatchedChains::numbers(90, 4);
  const DeviceArray<double> on_scale(queue(), scale), on_bias(queue(), bias);
  for (const ProductPath path : real_paths) {
    if (!has_path(queue(), path)) continue;
    SCOPED_TRACE(name_of(path));
    std::vector<double> momentum(70 * 90, 5.0);
    DeviceArray<double> on_momentum(queue(), momentum);
    const Epilogue there{
        on_scale.view(), on_bias.view(), -1.5, 1, {on_momentum.data(), 70, 90, 90}};
    const Epilogue here{
        {scale.data(), 90}, {bias.data(), 90}, -1.5, 1, {momentum.data(), 70, 90, 90}};
    std::vector<double> expected = multiply<double>(queue(), path, a, b).values;
    for (std::int64_t i = 0; i < std::ssize(expected); ++i) {
      expected[idx(i)] = here(expected[idx(i)], i / 90, i % 90);
    }
    EXPECT_EQ(multiply<double>(queue(), path, a, b, there).values, expected);
    EXPECT_EQ(on_momentum.download(), momentum);
    EXPECT_GT(std::ranges::count(momentum, 0.0), 100);
    EXPECT_GT(std::ranges::count(momentum, 5.0), 100);
  }
}

TEST_P(ProductPaths, KeepWhatIsNotFiniteInItsRowAndColumn) {
  auto a = make_matrix<double>(20, 300, 1), b = make_matrix<double>(300, 40, 2);
  b.values[5 * 40 + 7] = std::numeric_limits<double>::infinity();
  a.values[3 * 300 + 2] = std::numeric_limits<double>::quiet_NaN();
  for (const ProductPath path : real_paths) {
    if (!has_path(queue(), path)) continue;
    const std::vector<double> c = multiply<double>(queue(), path, a, b).values;
    for (std::size_t i = 0; i < c.size(); ++i) {
      EXPECT_EQ(std::isfinite(c[i]), i / 40 != 3 && i % 40 != 7) << name_of(path) << " " << i;
    }
  }
}

TEST_P(ProductPaths, RepeatTheirBits) {
  const auto a = make_matrix<double>(150, 700, 1), b = make_matrix<double>(700, 130, 2);
  for (const ProductPath path : real_paths) {
    if (!has_path(queue(), path)) continue;
    EXPECT_EQ(bits_of(multiply<double>(queue(), path, a, b).values),
              bits_of(multiply<double>(queue(), path, a, b).values))
        << name_of(path);
  }
}

TEST_P(ProductPaths, TakeASumOfNothingAsZero) {
  const Matrix<double> a{2, 0, 0, {}}, b{0, 3, 0, {}};
  const std::vector<double> bias{1, 2, 3};
  const DeviceArray<double> on_bias(queue(), bias);
  Epilogue epilogue;
  epilogue.bias = on_bias.view();
  for (const ProductPath path : real_paths) {
    if (!has_path(queue(), path)) continue;
    EXPECT_EQ(multiply<double>(queue(), path, a, b, epilogue).values,
              (std::vector<double>{1, 2, 3, 1, 2, 3}))
        << name_of(path);
    EXPECT_TRUE(
        multiply<double>(queue(), path, Matrix<double>{0, 4, 0, {}}, make_matrix<double>(4, 3, 1))
            .values.empty());
  }
}

TEST_P(ProductPaths, RefuseWhatDoesNotFit) {
  std::int8_t small[4] = {};
  double real[4] = {};
  float single[4] = {};
  std::int32_t whole[4] = {};
  const auto refused = [&](const MatrixProduct& kernel) {
    EXPECT_THROW(queue().launch(kernel), InvalidArgument);
  };
  MatrixProduct kernel;
  kernel.a = {real, 2, 2, 2};
  kernel.b = {real, 1, 2, 2};
  kernel.c = {real, 2, 2, 2};
  refused(kernel);  // inner dimensions
  kernel.b = {single, 2, 2, 2};
  refused(kernel);  // two types
  kernel.a = {single, 2, 2, 2};
  refused(kernel);  // of a path in double
  kernel.path = ProductPath::float32;
  kernel.c = {whole, 2, 2, 2};
  refused(kernel);
  kernel.path = ProductPath::int8_exact;
  refused(kernel);
  kernel.a = {small, 2, 2, 2};
  kernel.b = {small, 2, 2, 2};
  kernel.epilogue.high = 3;
  refused(kernel);  // an epilogue of integers
  kernel.epilogue = {};
  kernel.a = {small, 0, MatrixProduct::max_int8_inner + 1, 1};
  kernel.b = {small, MatrixProduct::max_int8_inner + 1, 0, 1};
  kernel.c = {whole, 0, 0, 0};
  refused(kernel);  // sums beyond 32 bits
}

}  // namespace
}  // namespace kiln::test::product_paths_test
