// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/linear_algebra/matrix_product.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/conformance_case.hpp"
#include "densities/batched_chains.hpp"

// Sums in an order of the backend's own.
KILN_CONFORMANCE_CASE(MatrixProduct, reordered)

namespace kiln::test::matrix_product_test {
namespace {

struct Product {
  std::int64_t rows = 1, inner = 1, columns = 1, gap = 0;  ///< gap: values between rows
  std::vector<double> a, b, scale;
};

Product make_product(std::int64_t rows, std::int64_t inner, std::int64_t columns,
                     std::int64_t gap = 0) {
  Product p{rows, inner, columns, gap, {}, {}, {}};
  p.a = BatchedChains::numbers(rows * (inner + gap), 1);
  p.b = BatchedChains::numbers(inner * (columns + gap), 2);
  return p;
}

std::vector<double> multiply(Queue& queue, const Product& p, const RunControl& state = {}) {
  const DeviceArray<double> a(queue, p.a), b(queue, p.b), scale(queue, p.scale);
  DeviceArray<double> c(queue, std::vector<double>(idx(p.rows * p.columns), 4711));
  const auto control = upload_control(queue, state);
  MatrixProduct kernel;
  kernel.a = {a.data(), p.rows, p.inner, p.inner + p.gap};
  kernel.b = {b.data(), p.inner, p.columns, p.columns + p.gap};
  kernel.c = {c.data(), p.rows, p.columns, p.columns};
  kernel.epilogue.scale = scale.view();
  kernel.control = control.data();
  queue.launch(kernel);
  return c.download();
}

void expect_product(const Product& p, const std::vector<double>& c) {
  for (std::int64_t r = 0; r < p.rows; ++r) {
    for (std::int64_t n = 0; n < p.columns; ++n) {
      double sum = 0, size = 0;
      for (std::int64_t k = 0; k < p.inner; ++k) {
        const double t =
            p.a[idx(r * (p.inner + p.gap) + k)] * p.b[idx(k * (p.columns + p.gap) + n)];
        sum += t;
        size += std::abs(t);
      }
      const double scale = p.scale.empty() ? 1.0 : p.scale[idx(n)];
      ASSERT_NEAR(c[idx(r * p.columns + n)], scale * sum, double_tolerance * (1 + size))
          << r << ", " << n;
    }
  }
}

class MatrixProductKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(MatrixProductKernel);

TEST_P(MatrixProductKernel, MultipliesByHand) {
  Product p{2, 3, 2, 0, {1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12}, {}};
  EXPECT_EQ(multiply(queue(), p), (std::vector<double>{58, 64, 139, 154}));
  p.scale = {2, 0};
  EXPECT_EQ(multiply(queue(), p), (std::vector<double>{116, 0, 278, 0}));
}

TEST_P(MatrixProductKernel, MultipliesEverySize) {
  for (const std::int64_t rows : {1, 5, 127, 128, 129}) {
    for (const std::int64_t inner : {1, 15, 16, 17, 70}) {
      for (const std::int64_t columns : {1, 32, 63, 64, 65, 96}) {
        SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(inner) + " x " +
                     std::to_string(columns));
        const Product p = make_product(rows, inner, columns);
        expect_product(p, multiply(queue(), p));
      }
    }
  }
}

TEST_P(MatrixProductKernel, KnowsRowsThatAreFartherApart) {
  for (const std::int64_t gap : {1, 2}) {
    Product p = make_product(40, 50, 64, gap);
    p.scale = BatchedChains::numbers(64, 3);
    expect_product(p, multiply(queue(), p));
  }
}

TEST_P(MatrixProductKernel, KeepsWhatIsNotFiniteInItsRowAndColumn) {
  Product p = make_product(20, 30, 40);
  p.b[5 * 40 + 7] = std::numeric_limits<double>::infinity();
  p.a[3 * 30 + 2] = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> c = multiply(queue(), p);
  for (std::size_t i = 0; i < c.size(); ++i) {
    EXPECT_EQ(std::isfinite(c[i]), i / 40 != 3 && i % 40 != 7) << i;
  }
}

TEST_P(MatrixProductKernel, RepeatsItsBits) {
  const Product p = make_product(200, 300, 96);
  EXPECT_EQ(bits_of(multiply(queue(), p)), bits_of(multiply(queue(), p)));
}

TEST_P(MatrixProductKernel, DoesNothingOnceStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  EXPECT_EQ(multiply(queue(), make_product(3, 3, 3), stopped), std::vector<double>(9, 4711));
}

}  // namespace
}  // namespace kiln::test::matrix_product_test
