// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/rows/standardize.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "row_data.hpp"

// The moments of reduce_rows, a difference and a quotient.
KILN_CONFORMANCE_CASE(Standardize, exact)

namespace kiln::test::standardize_test {
namespace {

struct Standardized {
  std::vector<double> result, statistics;
  bool operator==(const Standardized& other) const {
    return bits_of(result) == bits_of(other.result) &&
           bits_of(statistics) == bits_of(other.statistics);
  }
};

struct Form {
  bool divides = true, single = false;
  std::vector<double> frozen = {};
};

Standardized standardize(Queue& queue, const Rows& rows, const Form& form = {}) {
  const std::int64_t n = rows.rows, columns = rows.columns;
  const DeviceArray<double> value(queue, rows.values);
  const std::vector<float> rounded(rows.values.begin(), rows.values.end());
  const DeviceArray<float> value_single(queue, rounded);
  DeviceArray<double> result(queue, n * columns);
  DeviceArray<double> statistics(
      queue, form.frozen.empty() ? std::vector<double>(idx(3 * n), 4711) : form.frozen);
  DeviceArray<std::byte> room(queue, Standardize::room_bytes(n, columns));
  Standardize kernel;
  kernel.value = View2<const double>{value.data(), n, columns, rows.stride()};
  if (form.single) {
    kernel.value = View2<const float>{value_single.data(), n, columns, rows.stride()};
  }
  kernel.result = {result.data(), n, columns, columns};
  kernel.statistics = {statistics.data(), n, 3, 3};
  kernel.frozen = !form.frozen.empty();
  kernel.divides = form.divides;
  kernel.room = room.view();
  queue.launch(kernel);
  return {result.download(), statistics.download()};
}

class StandardizeKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(StandardizeKernel);

TEST_P(StandardizeKernel, StandardizesByHand) {
  const Rows rows{2, 4, 0, {2, 4, 4, 6, 5, 5, 5, 5}};
  const double root = std::sqrt(2.0);
  const Standardized made = standardize(queue(), rows);
  EXPECT_EQ(made.statistics, (std::vector<double>{4, root, 4, 5, 0, 4}));
  EXPECT_EQ(made.result, (std::vector<double>{-2 / root, 0, 0, 2 / root, 0, 0, 0, 0}));
  EXPECT_EQ(standardize(queue(), rows, {false, false, {}}).result,
            (std::vector<double>{-2, 0, 0, 2, 0, 0, 0, 0}));
  EXPECT_EQ(standardize(queue(), rows, {true, false, {1, 2, 0, 0, 0, 0}}).result,
            (std::vector<double>{0.5, 1.5, 1.5, 2.5, 5, 5, 5, 5}));
}

// Squares of the values themselves would leave no digit of the variance.
TEST_P(StandardizeKernel, OffsetsDoNotMatter) {
  for (const std::int64_t columns : {100, 1024, 5000, 70000, 300001}) {
    for (const double offset : {0.0, 1e6, 1e12}) {
      Rows rows = normal_rows(2, columns, 1, 4);
      for (double& value : rows.values) value = offset + std::ldexp(std::rint(value * 1024), -10);
      const Standardized made = standardize(queue(), rows);
      for (std::int64_t r = 0; r < 2; ++r) {
        // Multiples of 2^-10 below 2^13 of them: sums of squares are exact in 64 bits.
        std::int64_t sum = 0, squares = 0;
        for (std::int64_t c = 0; c < columns; ++c) {
          const auto unit = static_cast<std::int64_t>((rows(r, c) - offset) * 1024);
          sum += unit;
          squares += unit * unit;
        }
        const auto n = static_cast<long double>(columns);
        const long double mean = static_cast<long double>(sum) / n;
        const long double variance = static_cast<long double>(squares) / n - mean * mean;
        const auto deviation = static_cast<double>(std::sqrt(variance) / 1024);
        const double rounding = 4e-16 * (offset + 1);
        EXPECT_NEAR(made.statistics[idx(3 * r)], offset + static_cast<double>(mean / 1024),
                    rounding);
        EXPECT_NEAR(made.statistics[idx(3 * r + 1)], deviation, 1e-14 + rounding * 1e-6) << offset;
        for (std::int64_t c = 0; c < columns; ++c) {
          const double expected =
              (rows(r, c) - offset - static_cast<double>(mean / 1024)) / deviation;
          ASSERT_NEAR(made.result[idx(r * columns + c)], expected, 1e-13 + 3 * rounding);
        }
      }
    }
  }
}

TEST_P(StandardizeKernel, MagnitudesDoNotMatter) {
  for (const double unit : {1e300, 1e-300, 0x1p-1060}) {
    const Rows rows{1, 4, 0, {2 * unit, 4 * unit, 4 * unit, 6 * unit}};
    const std::vector<double> result = standardize(queue(), rows).result;
    // Subnormal deviations have few digits.
    EXPECT_NEAR(result[0], -std::sqrt(2.0), unit < 1e-310 ? 1e-4 : 1e-15) << unit;
    // The product 6 unit was rounded, which moves the mean by a quarter of that.
    const double rounding = std::fma(-6, unit, rows.values[3]);
    EXPECT_NEAR(result[1], -rounding / 4 / (std::sqrt(2.0) * unit), 1e-20) << unit;
  }
}

TEST_P(StandardizeKernel, LeavesOutWhatIsMissing) {
  for (const std::int64_t columns : {6, 3000, 20000, 400000}) {
    Rows full = normal_rows(1, columns, 0, 12), part = full;
    std::vector<double> present;
    for (std::int64_t c = 0; c < columns; ++c) {
      if (c % 3 == 1) part.values[idx(c)] = c % 2 == 0 ? row_nan : row_infinity;
      if (c % 3 != 1) present.push_back(full(0, c));
    }
    const Standardized of_part = standardize(queue(), part);
    const Standardized of_present =
        standardize(queue(), {1, static_cast<std::int64_t>(present.size()), 0, present});
    EXPECT_EQ(of_part.statistics[2], static_cast<double>(present.size()));
    EXPECT_NEAR(of_part.statistics[0], of_present.statistics[0], 1e-15);
    EXPECT_NEAR(of_part.statistics[1], of_present.statistics[1], 1e-14);
    for (std::int64_t c = 0; c < columns; ++c) {
      if (c % 3 != 1) continue;
      ASSERT_EQ(of_part.result[idx(c)], 0) << c;
    }
  }
  const Standardized none = standardize(queue(), {1, 2, 0, {row_nan, row_nan}});
  EXPECT_EQ(none.result, (std::vector<double>{0, 0}));
  EXPECT_TRUE(std::isnan(none.statistics[0]) && std::isnan(none.statistics[1]));
  EXPECT_EQ(none.statistics[2], 0);
}

// Rows whose values lie apart: the columns of a table that is stored row by row.
TEST_P(StandardizeKernel, TakesColumnsOfATable) {
  const DeviceArray<double> table(queue(), std::vector<double>{1, 10, 3, 30, 5, 50});
  DeviceArray<double> result(queue(), 6), statistics(queue(), 6);
  Standardize kernel;
  kernel.value = {table.data(), ElementType::float64, 2, 3, 1, 2};
  kernel.result = {result.data(), 2, 3, 3};
  kernel.statistics = {statistics.data(), 2, 3, 3};
  queue().launch(kernel);
  const std::vector<double> moments = statistics.download();
  EXPECT_EQ(moments[0], 3);
  EXPECT_EQ(moments[3], 30);
  const std::vector<double> made = result.download();
  for (int c = 0; c < 3; ++c) EXPECT_NEAR(made[idx(c)], made[idx(3 + c)], 1e-15);
}

// Exact means and deviations, worked out by hand.
TEST_P(StandardizeKernel, KeepsDigitsFarFromZero) {
  const double half = std::sqrt(0.5), two = std::sqrt(2);
  // Deviations -2/3, -2/3, 4/3 about a mean that is no double, of which the standard one is
  // sqrt(8) / 3.
  for (const double offset : {1e16, -1e16}) {
    const Standardized far = standardize(queue(), {1, 3, 0, {offset, offset, offset + 2}});
    EXPECT_NEAR(far.result[0], -half, 1e-15);
    EXPECT_NEAR(far.result[1], -half, 1e-15);
    EXPECT_NEAR(far.result[2], two, 1e-15);
  }
  // The distance from the mean is beyond the largest double.
  const Standardized large = standardize(queue(), {1, 3, 0, {1.7e308, -1.7e308, -1.7e308}});
  EXPECT_NEAR(large.result[0], two, 1e-14);
  EXPECT_NEAR(large.result[1], -half, 1e-14);
}

// One number in 1000 is larger by 2^-52 of it: the deviation is sqrt(999) / 1000 of that.
TEST_P(StandardizeKernel, FindsTheDeviationOfSmallNumbersThatAreNearlyEqual) {
  for (const double unit : {0x1p-500, 0x1p-480, 0x1p-460, 0x1p-441, 0x1p-401, 0x1p-399}) {
    std::vector<double> values(1000, unit);
    values[17] = unit * (1 + 0x1p-52);
    const Standardized found = standardize(queue(), {1, 1000, 0, values});
    const double exact = unit * 0x1p-52 * (std::sqrt(999) / 1000);
    EXPECT_NEAR(found.statistics[1] / exact, 1, 1e-12) << unit;
    EXPECT_NEAR(found.result[17], std::sqrt(999), 1e-11) << unit;
    EXPECT_NEAR(found.result[0], -1 / std::sqrt(999), 1e-13) << unit;
  }
}

TEST_P(StandardizeKernel, MatchesCpu) {
  for (const std::int64_t columns : row_lengths) {
    Rows rows = normal_rows(2, columns, 1, 3);
    for (std::size_t i = 0; i < rows.values.size(); i += 11) rows.values[i] = row_nan;
    for (const bool single : {false, true}) {
      EXPECT_TRUE(standardize(queue(), rows, {true, single, {}}) ==
                  standardize(cpu_queue(), rows, {true, single, {}}))
          << columns;
    }
    const Form frozen{true, false, {0.25, 3, 1, -1, 0.3, 1}};
    EXPECT_TRUE(standardize(queue(), rows, frozen) == standardize(cpu_queue(), rows, frozen));
  }
}

}  // namespace
}  // namespace kiln::test::standardize_test
