// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/rows/reduce_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "row_data.hpp"

// A tree that the length of a row alone decides.
KILN_CONFORMANCE_CASE(ReduceRows, exact)

namespace kiln::test::reduce_rows_test {
namespace {

struct Reduced {
  std::vector<double> result;
  std::vector<std::int32_t> status;
  bool operator==(const Reduced& other) const {
    return bits_of(result) == bits_of(other.result) && status == other.status;
  }
};

Reduced reduce(Queue& queue, RowReduction reduction, const Rows& rows, const Rows* other = nullptr,
               bool single = false) {
  const std::int64_t n = rows.rows, columns = rows.columns;
  const std::int64_t width = reduction == RowReduction::softmax   ? columns
                             : reduction == RowReduction::moments ? 2
                                                                  : 1;
  const DeviceArray<double> value(queue, rows.values);
  const std::vector<float> rounded(rows.values.begin(), rows.values.end());
  const DeviceArray<float> value_single(queue, rounded);
  const DeviceArray<double> factor(queue, other != nullptr ? other->values : std::vector<double>{});
  DeviceArray<double> result(queue, std::vector<double>(idx(n * width), 4711));
  DeviceArray<std::int32_t> status(queue, std::vector<std::int32_t>(idx(n), 4711));
  DeviceArray<std::byte> room(queue, ReduceRows::room_bytes(n, columns));
  ReduceRows kernel;
  kernel.reduction = reduction;
  kernel.value = View2<const double>{value.data(), n, columns, rows.stride()};
  if (single) kernel.value = View2<const float>{value_single.data(), n, columns, rows.stride()};
  if (other != nullptr) {
    const std::int64_t stride = other->rows == 1 ? 0 : other->stride();
    kernel.other = View2<const double>{factor.data(), n, columns, stride};
  }
  kernel.result = {result.data(), n, width, width};
  kernel.status = status.view();
  kernel.room = room.view();
  queue.launch(kernel);
  return {result.download(), status.download()};
}

double one(Queue& queue, RowReduction reduction, std::vector<double> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  return reduce(queue, reduction, {1, n, 0, std::move(values)}).result.front();
}

class ReduceRowsKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ReduceRowsKernel);

// Sums of whole numbers of up to 45 bits are exact in 64 bits; a plain sum loses the last ones.
TEST_P(ReduceRowsKernel, SumsAreTheNearestDoublesOfEachLength) {
  TestRandom random(1);
  bool last_chunk_counts = false, plain_differs = false;
  for (const std::int64_t columns : row_lengths) {
    for (const std::int64_t gap : {0, 1}) {
      constexpr std::int64_t largest = std::int64_t{1} << 45;
      const Rows rows = make_rows(
          3, columns, gap, [&] { return static_cast<double>(random.between(-largest, largest)); });
      const std::vector<double> sums = reduce(queue(), RowReduction::sum, rows).result;
      for (std::int64_t r = 0; r < 3; ++r) {
        std::int64_t exact = 0, without_last_chunk = 0;
        double plain = 0;
        for (std::int64_t c = 0; c < columns; ++c) {
          exact += static_cast<std::int64_t>(rows(r, c));
          plain += rows(r, c);
          if (c < columns / 1024 * 1024)
            without_last_chunk += static_cast<std::int64_t>(rows(r, c));
        }
        ASSERT_EQ(sums[idx(r)], static_cast<double>(exact)) << columns << " columns, gap " << gap;
        last_chunk_counts |= without_last_chunk != exact;
        plain_differs |= plain != static_cast<double>(exact);
      }
    }
  }
  EXPECT_TRUE(last_chunk_counts);
  EXPECT_TRUE(plain_differs);
}

TEST_P(ReduceRowsKernel, SumsWhatCancels) {
  for (const std::int64_t blocks : {1, 2, 85, 700, 40000, 200000}) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < blocks; ++i) values.insert(values.end(), {1e16, 1, -1e16});
    EXPECT_EQ(one(queue(), RowReduction::sum, values), static_cast<double>(blocks));
    const Rows rows{1, 3 * blocks, 0, values};
    const Rows ones{1, 3 * blocks, 0, std::vector<double>(values.size(), 1)};
    EXPECT_EQ(reduce(queue(), RowReduction::dot, rows, &ones).result.front(),
              static_cast<double>(blocks));
  }
}

// The error of a mean is one of the magnitudes, and that of a variance one of the variance.
TEST_P(ReduceRowsKernel, MomentsOfWhatCancelsAreRoundedLikeItsMagnitudes) {
  for (const std::int64_t blocks : {1, 2, 85, 700, 40000, 200000}) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < blocks; ++i) values.insert(values.end(), {1e16, 1, -1e16});
    const std::vector<double> moments =
        reduce(queue(), RowReduction::moments, {1, 3 * blocks, 0, values}).result;
    EXPECT_NEAR(moments[0], 1.0 / 3, 2 * 0x1p-53 * 1e16) << blocks;
    EXPECT_NEAR(moments[1], 2e32 / 3, 4e-16 * 2e32 / 3) << blocks;
  }
}

// 2^31 + 1 times the same number, which takes no memory: a step of 0.
TEST_P(ReduceRowsKernel, CountsBeyondThirtyTwoBits) {
  constexpr std::int64_t columns = (std::int64_t{1} << 31) + 1;
  const DeviceArray<double> value(queue(), std::vector<double>{0.5});
  DeviceArray<double> result(queue(), 1);
  DeviceArray<std::byte> room(queue(), queue().on_cpu() ? 0 : ReduceRows::room_bytes(1, columns));
  ReduceRows kernel;
  kernel.value = {value.data(), ElementType::float64, 1, columns, 0, 0};
  kernel.result = {result.data(), 1, 1, 1};
  kernel.room = room.view();
  queue().launch(kernel);
  EXPECT_EQ(result.download().front(), 0.5 * static_cast<double>(columns));
}

TEST_P(ReduceRowsKernel, MultipliesRowsWithRows) {
  TestRandom random(3);
  for (const std::int64_t columns : {1, 257, 1025, 9000, 300000}) {
    const auto draw = [&] { return static_cast<double>(random.between(-1 << 20, 1 << 20)); };
    const Rows a = make_rows(2, columns, 3, draw), b = make_rows(2, columns, 0, draw);
    const Rows shared = make_rows(1, columns, 0, draw);
    for (const Rows* other : {&b, &shared}) {
      const std::vector<double> dots = reduce(queue(), RowReduction::dot, a, other).result;
      for (std::int64_t r = 0; r < 2; ++r) {
        std::int64_t exact = 0;
        for (std::int64_t c = 0; c < columns; ++c) {
          exact += static_cast<std::int64_t>(a(r, c) * (*other)(other->rows == 1 ? 0 : r, c));
        }
        EXPECT_EQ(dots[idx(r)], static_cast<double>(exact)) << columns;
      }
    }
  }
}

TEST_P(ReduceRowsKernel, NormsNeitherOverflowNorVanish) {
  for (const double unit : {1.0, 0x1p1000, 0x1p-1030, 0x1p480, 0x1p-480, 0x1p-500}) {
    EXPECT_EQ(one(queue(), RowReduction::norm, {3 * unit, -4 * unit}), 5 * unit) << unit;
  }
  EXPECT_EQ(one(queue(), RowReduction::norm, {0x1p600, 1, 0x1p-600}), 0x1p600);
  EXPECT_EQ(one(queue(), RowReduction::squared_norm, {3, -4}), 25);
  EXPECT_EQ(one(queue(), RowReduction::norm, {}), 0);
  // n times the same number: its magnitude times the root of n.
  for (const std::int64_t root : {2, 37, 450}) {
    const std::vector<double> same(idx(root * root), -0x1.8p700);
    EXPECT_EQ(one(queue(), RowReduction::norm, same), 0x1.8p700 * static_cast<double>(root));
  }
}

// Of 0 .. n - 1 the mean is (n - 1) / 2 and the variance (n^2 - 1) / 12, wherever they lie.
TEST_P(ReduceRowsKernel, MomentsAreThoseOfAnArithmeticSequence) {
  for (const std::int64_t columns : row_lengths) {
    if (columns == 0) continue;
    for (const double offset : {0.0, 1e6, -1e12}) {
      for (const double unit : {1.0, 0x1p-700, 0x1p700}) {
        std::vector<double> values;
        for (std::int64_t i = 0; i < columns; ++i) {
          values.push_back(unit * (offset + static_cast<double>(i * 7 % columns)));
        }
        if (columns % 7 == 0) continue;
        const Rows rows{1, columns, 0, values};
        const std::vector<double> moments = reduce(queue(), RowReduction::moments, rows).result;
        const auto n = static_cast<double>(columns);
        const double mean = unit * (offset + (n - 1) / 2);
        EXPECT_NEAR(moments[0], mean, 4e-16 * std::abs(mean)) << columns;
        const double variance = (n * n - 1) / 12;
        if (unit == 1) {
          EXPECT_NEAR(moments[1], variance, 1e-13 * variance + 1e-30 * offset * offset) << columns;
        } else {
          EXPECT_EQ(moments[1], unit < 1 || variance == 0 ? 0 : row_infinity);
        }
      }
    }
  }
}

TEST_P(ReduceRowsKernel, EqualNumbersHaveNoVariance) {
  for (const double value : {0.1, 1e6 + 0.3, -1e300, 1e-300}) {
    for (const std::int64_t columns : {1, 1000, 3000, 70000}) {
      const Rows rows{1, columns, 0, std::vector<double>(idx(columns), value)};
      EXPECT_EQ(reduce(queue(), RowReduction::moments, rows).result,
                (std::vector<double>{value, 0}));
    }
  }
}

TEST_P(ReduceRowsKernel, SoftmaxOfEqualNumbersIsUniform) {
  for (const std::int64_t columns : {1, 2, 1024, 4096, 65536, 524288}) {
    for (const double value : {0.0, 1e300, -1e300}) {
      const Rows rows{2, columns, 1, std::vector<double>(idx(2 * (columns + 1)), value)};
      const Reduced softmax = reduce(queue(), RowReduction::softmax, rows);
      for (const double weight : softmax.result)
        ASSERT_EQ(weight, 1 / static_cast<double>(columns));
      EXPECT_EQ(softmax.status, (std::vector<std::int32_t>{0, 0}));
    }
  }
}

TEST_P(ReduceRowsKernel, SoftmaxIsTheShareOfExponentials) {
  for (const std::int64_t columns : {3, 1500, 9001, 280000}) {
    Rows rows = normal_rows(2, columns, 0, 8);
    for (double& value : rows.values) value = 700 + 3 * value;
    const std::vector<double> weights = reduce(queue(), RowReduction::softmax, rows).result;
    for (std::int64_t r = 0; r < 2; ++r) {
      long double sum = 0;
      for (std::int64_t c = 0; c < columns; ++c) {
        sum += std::exp(static_cast<long double>(rows(r, c)) - 700);
      }
      for (std::int64_t c = 0; c < columns; ++c) {
        const auto expected =
            static_cast<double>(std::exp(static_cast<long double>(rows(r, c)) - 700) / sum);
        ASSERT_NEAR(weights[idx(r * columns + c)] / expected, 1, 1e-14);
      }
    }
  }
}

TEST_P(ReduceRowsKernel, SaysWhichResultsAreNotFinite) {
  const Rows rows{6,
                  3,
                  0,
                  {1, 2, 3, row_infinity, 1, 1, -row_infinity, 1, 1, row_nan, 1, 1,  //
                   -row_infinity, -row_infinity, -row_infinity, 1e308, 1e308, 1e308}};
  const Reduced sums = reduce(queue(), RowReduction::sum, rows);
  EXPECT_EQ(bits_of(sums.result),
            bits_of({6, row_infinity, -row_infinity, row_nan, -row_infinity, row_infinity}));
  EXPECT_EQ(sums.status, (std::vector<std::int32_t>{0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(reduce(queue(), RowReduction::norm, rows).status,
            (std::vector<std::int32_t>{0, 1, 1, 1, 1, 0}));
  const Reduced softmax = reduce(queue(), RowReduction::softmax, rows);
  EXPECT_EQ(softmax.status, (std::vector<std::int32_t>{0, 1, 0, 1, 1, 0}));
  for (const int row : {1, 3, 4}) {
    for (int c = 0; c < 3; ++c) EXPECT_EQ(softmax.result[idx(3 * row + c)], 0);
  }
  EXPECT_EQ(softmax.result[6], 0);
  EXPECT_EQ(softmax.result[7], 0.5);
  const Rows empty{2, 0, 1, {1, 2}};
  EXPECT_EQ(reduce(queue(), RowReduction::moments, empty).status,
            (std::vector<std::int32_t>{1, 1}));
}

TEST_P(ReduceRowsKernel, MatchesCpu) {
  for (const std::int64_t columns : row_lengths) {
    const Rows rows = normal_rows(3, columns, columns % 2, 11),
               other = normal_rows(3, columns, 0, 12);
    for (const RowReduction reduction :
         {RowReduction::sum, RowReduction::dot, RowReduction::squared_norm, RowReduction::norm,
          RowReduction::moments, RowReduction::softmax}) {
      for (const bool single : {false, true}) {
        EXPECT_TRUE(reduce(queue(), reduction, rows, &other, single) ==
                    reduce(cpu_queue(), reduction, rows, &other, single))
            << columns << " columns, reduction " << static_cast<int>(reduction) << ", single "
            << single;
      }
    }
  }
}

TEST_P(ReduceRowsKernel, RefusesRowsOfHalves) {
  const DeviceArray<std::uint16_t> value(queue(), std::vector<std::uint16_t>(4, 0x3C00));
  DeviceArray<double> result(queue(), 1);
  ReduceRows kernel;
  kernel.value = {value.data(), ElementType::float16, 1, 4, 4};
  kernel.result = {result.data(), 1, 1, 1};
  EXPECT_ANY_THROW(queue().launch(kernel));
}

}  // namespace
}  // namespace kiln::test::reduce_rows_test
