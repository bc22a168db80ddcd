// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/rows/axpby.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "row_data.hpp"

// The sums of reduce_rows, and three roundings.
KILN_CONFORMANCE_CASE(Axpby, exact)

namespace kiln::test::axpby_test {
namespace {

struct Factors {
  double alpha = 1, beta = 0;
};

std::vector<double> update(Queue& queue, const Rows* a, const std::vector<double>& x,
                           const std::vector<double>& y, Factors by, bool single = false) {
  const DeviceArray<double> of_a(queue, a != nullptr ? a->values : std::vector<double>{});
  std::vector<float> rounded;
  if (a != nullptr) rounded.assign(a->values.begin(), a->values.end());
  const DeviceArray<float> single_a(queue, rounded);
  const DeviceArray<double> of_x(queue, x);
  DeviceArray<double> of_y(queue, y);
  DeviceArray<std::byte> room(queue, a != nullptr ? Axpby::room_bytes(a->rows, a->columns) : 0);
  Axpby kernel;
  if (a != nullptr) kernel.a = View2<const double>{of_a.data(), a->rows, a->columns, a->stride()};
  if (single) kernel.a = View2<const float>{single_a.data(), a->rows, a->columns, a->stride()};
  kernel.x = of_x.view();
  kernel.y = of_y.view();
  kernel.alpha = by.alpha;
  kernel.beta = by.beta;
  kernel.room = room.view();
  queue.launch(kernel);
  return of_y.download();
}

class AxpbyKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(AxpbyKernel);

TEST_P(AxpbyKernel, MultipliesByHand) {
  const Rows a{2, 3, 0, {1, 2, 3, 4, 5, 6}};
  EXPECT_EQ(update(queue(), &a, {1, 10, 100}, {7, 8}, {2, -1}), (std::vector<double>{635, 1300}));
  EXPECT_EQ(update(queue(), nullptr, {1, 2}, {10, 20}, {3, 0.5}), (std::vector<double>{8, 16}));
}

TEST_P(AxpbyKernel, DoesNotReadYWithoutBeta) {
  const Rows a{1, 2, 0, {1, 2}};
  EXPECT_EQ(update(queue(), &a, {3, 4}, {row_nan}, {1, 0}), (std::vector<double>{11}));
  const std::vector<double> y(5000, row_nan), x(5000, 2);
  EXPECT_EQ(update(queue(), nullptr, x, y, {2, 0}), std::vector<double>(5000, 4));
  for (const double value : update(queue(), nullptr, x, y, {2, 1})) EXPECT_TRUE(std::isnan(value));
}

// Whole numbers: every sum is exact.
TEST_P(AxpbyKernel, MultipliesEverySize) {
  TestRandom random(2);
  const auto draw = [&] { return static_cast<double>(random.between(-1 << 20, 1 << 20)); };
  for (const std::int64_t rows : {1, 2, 7, 130}) {
    for (const std::int64_t columns : {0, 1, 31, 257, 1024, 3001, 8200, 70000}) {
      if (rows * columns > 2000000) continue;
      const Rows a = make_rows(rows, columns, columns % 3, draw);
      const std::vector<double> x = make_rows(1, columns, 0, draw).values;
      const std::vector<double> y = make_rows(1, rows, 0, draw).values;
      for (const bool single : {false, true}) {
        const std::vector<double> z = update(queue(), &a, x, y, {-2, 4}, single);
        for (std::int64_t r = 0; r < rows; ++r) {
          std::int64_t sum = 0;
          for (std::int64_t c = 0; c < columns; ++c) {
            sum += static_cast<std::int64_t>(a(r, c) * x[idx(c)]);
          }
          ASSERT_EQ(z[idx(r)], -2 * static_cast<double>(sum) + 4 * y[idx(r)])
              << rows << " x " << columns << ", row " << r;
        }
      }
    }
  }
}

TEST_P(AxpbyKernel, MatchesCpu) {
  for (const std::int64_t columns : {5, 1000, 4097, 20000, 300000}) {
    const Rows a = normal_rows(5, columns, 1, 3);
    const std::vector<double> x = normal_rows(1, columns, 0, 4).values, y{1, 2, 3, 4, 5};
    for (const bool single : {false, true}) {
      EXPECT_EQ(bits_of(update(queue(), &a, x, y, {0.3, 0.7}, single)),
                bits_of(update(cpu_queue(), &a, x, y, {0.3, 0.7}, single)));
    }
    EXPECT_EQ(bits_of(update(queue(), nullptr, x, x, {0.3, 0.7})),
              bits_of(update(cpu_queue(), nullptr, x, x, {0.3, 0.7})));
  }
}

TEST_P(AxpbyKernel, RefusesSizesThatDoNotFit) {
  const Rows a{2, 3, 0, {1, 2, 3, 4, 5, 6}};
  EXPECT_ANY_THROW(update(queue(), &a, {1, 2}, {1, 2}, {}));
  EXPECT_ANY_THROW(update(queue(), &a, {1, 2, 3}, {1}, {}));
  EXPECT_ANY_THROW(update(queue(), nullptr, {1, 2, 3}, {1}, {}));
}

}  // namespace
}  // namespace kiln::test::axpby_test
