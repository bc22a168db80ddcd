// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/rows/elementwise.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "row_data.hpp"

// One rounding for each stage, and one to the type of the result.
KILN_CONFORMANCE_CASE(Elementwise, exact)

namespace kiln::test::elementwise_test {
namespace {

using Bits = std::vector<std::uint16_t>;

// A format of 16 bits by its definition: the value of each pattern, by powers of two.
struct Format {
  ElementType type;
  int fraction_bits, bias;

  int sign_place() const { return 15; }
  std::uint16_t infinite() const {
    return static_cast<std::uint16_t>(0x7FFF >> fraction_bits << fraction_bits);
  }
  double value_of(std::uint16_t bits) const {
    const int field = (bits & 0x7FFF) >> fraction_bits;
    const int fraction = bits & ((1 << fraction_bits) - 1);
    const double sign = (bits >> 15) != 0 ? -1 : 1;
    if ((bits & 0x7FFF) > infinite()) return row_nan;
    if ((bits & 0x7FFF) == infinite()) return sign * row_infinity;
    const int whole = field == 0 ? fraction : fraction + (1 << fraction_bits);
    return sign * std::ldexp(whole, std::max(field, 1) - bias - fraction_bits);
  }
  // Where the next number would lie if the exponent had no end.
  double beyond() const { return std::ldexp(1.0, bias + 1); }
};

constexpr Format half{ElementType::float16, 10, 15};
constexpr Format bfloat16{ElementType::bfloat16, 7, 127};

template <class To, class From>
std::vector<To> convert(Queue& queue, const std::vector<From>& values, ElementType from,
                        ElementType to, bool by_stage = false) {
  const auto n = static_cast<std::int64_t>(values.size());
  const DeviceArray<From> value(queue, values);
  DeviceArray<To> result(queue, std::vector<To>(values.size(), To{77}));
  Elementwise kernel({value.data(), from, 1, n, n}, {result.data(), to, 1, n, n});
  if (by_stage) kernel.multiply(1);
  queue.launch(kernel);
  return result.download();
}

Bits all_patterns() {
  Bits all;
  for (int bits = 0; bits < 65536; ++bits) all.push_back(static_cast<std::uint16_t>(bits));
  return all;
}

class ElementwiseKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ElementwiseKernel);

TEST_P(ElementwiseKernel, WidensAllValuesOfEachFormat) {
  for (const Format& format : {half, bfloat16}) {
    for (const bool by_stage : {false, true}) {
      const auto wide =
          convert<double>(queue(), all_patterns(), format.type, ElementType::float64, by_stage);
      const auto single =
          convert<float>(queue(), all_patterns(), format.type, ElementType::float32, by_stage);
      const Bits back = convert<std::uint16_t>(queue(), wide, ElementType::float64, format.type);
      const Bits of_single =
          convert<std::uint16_t>(queue(), single, ElementType::float32, format.type, by_stage);
      const Bits same =
          convert<std::uint16_t>(queue(), all_patterns(), format.type, format.type, by_stage);
      for (std::size_t i = 0; i < 65536; ++i) {
        const double expected = format.value_of(static_cast<std::uint16_t>(i));
        if (std::isnan(expected)) {
          ASSERT_TRUE(std::isnan(wide[i]) && std::isnan(single[i])) << i;
          for (const Bits* of : {&back, &of_single, &same}) {
            ASSERT_TRUE(std::isnan(format.value_of((*of)[i]))) << i;
          }
          continue;
        }
        ASSERT_EQ(bits_of({wide[i]}), bits_of({expected})) << i;
        ASSERT_EQ(static_cast<double>(single[i]), expected) << i;
        for (const Bits* of : {&back, &of_single, &same}) ASSERT_EQ((*of)[i], i);
      }
    }
  }
}

// Between each two neighbours: the middle goes to the even one, and what is next to the middle to
// the nearer one. Truncation, and halves rounded away from 0, fail for half of them.
TEST_P(ElementwiseKernel, RoundsToTheNearestAndOfTwoToTheEven) {
  for (const Format& format : {half, bfloat16}) {
    std::vector<double> values;
    Bits expected;
    for (std::uint16_t bits = 0; bits < format.infinite(); ++bits) {
      const auto next = static_cast<std::uint16_t>(bits + 1);
      const double low = format.value_of(bits);
      const double high = next == format.infinite() ? format.beyond() : format.value_of(next);
      const double middle = low + (high - low) / 2;
      const std::uint16_t even = bits % 2 == 0 ? bits : next;
      for (const double sign : {1.0, -1.0}) {
        const auto with_sign = [&](std::uint16_t of) {
          return static_cast<std::uint16_t>(sign < 0 ? of | 0x8000 : of);
        };
        values.insert(values.end(),
                      {sign * middle, sign * std::nextafter(middle, 0.0),
                       sign * std::nextafter(middle, row_infinity), sign * (low + 3 * middle) / 4});
        expected.insert(expected.end(), {with_sign(even), with_sign(bits), with_sign(next),
                                         with_sign((low + 3 * middle) / 4 > middle ? next : bits)});
      }
    }
    for (const bool by_stage : {false, true}) {
      const Bits rounded =
          convert<std::uint16_t>(queue(), values, ElementType::float64, format.type, by_stage);
      for (std::size_t i = 0; i < values.size(); ++i) {
        ASSERT_EQ(rounded[i], expected[i]) << values[i] << ", place " << i;
      }
    }
    // As a stage the number stays wide.
    const DeviceArray<double> value(queue(), values);
    DeviceArray<double> result(queue(), value.size());
    Elementwise kernel(value.view(), result.view());
    kernel.then({format.type == ElementType::float16 ? ElementStageKind::round_half
                                                     : ElementStageKind::round_bfloat16});
    queue().launch(kernel);
    const std::vector<double> wide = result.download();
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(wide[i], format.value_of(expected[i])) << values[i];
    }
  }
}

TEST_P(ElementwiseKernel, RoundsWhatIsBeyondTheFormats) {
  const std::vector<double> values{65519.999, 65520, -65520,   1e300,     row_infinity, row_nan,
                                   0x1p-25,   -0.0,  0x1p-300, 0x1.8p-24, 5e-324};
  const Bits halves =
      convert<std::uint16_t>(queue(), values, ElementType::float64, ElementType::float16);
  EXPECT_EQ(halves, (Bits{0x7BFF, 0x7C00, 0xFC00, 0x7C00, 0x7C00, 0x7E00, 0, 0x8000, 0, 2, 0}));
  const Bits brief =
      convert<std::uint16_t>(queue(), std::vector<double>{0x1.FEFFp127, 0x1.FFp127, 1e300, row_nan},
                             ElementType::float64, ElementType::bfloat16);
  EXPECT_EQ(brief, (Bits{0x7F7F, 0x7F80, 0x7F80, 0x7FC0}));
  const auto single =
      convert<float>(queue(), std::vector<double>{1e300, 0x1.000001p0, 0x1.000003p0},
                     ElementType::float64, ElementType::float32);
  EXPECT_EQ(single, (std::vector<float>{static_cast<float>(row_infinity), 1.0F, 0x1.000004p0F}));
}

TEST_P(ElementwiseKernel, ChainsStagesInTheirOrder) {
  for (const std::int64_t columns : {1, 5, 1000, 4096, 20000}) {
    for (const std::int64_t gap : {0, 3}) {
      const Rows rows = normal_rows(3, columns, gap, 5);
      const std::vector<double> of_row{2, -1, 0.5},
          of_column = normal_rows(1, columns, 0, 6).values;
      const DeviceArray<double> value(queue(), rows.values), by_row(queue(), of_row),
          by_column(queue(), of_column);
      DeviceArray<double> result(queue(), 3 * columns);
      Elementwise kernel(View2<const double>{value.data(), 3, columns, rows.stride()},
                         View2<double>{result.data(), 3, columns, columns});
      kernel.add(Elements{by_row.data(), ElementType::float64, 3, columns, 1, 0})
          .multiply(Elements{by_column.data(), ElementType::float64, 3, columns, 0})
          .multiply(0.25)
          .then({ElementStageKind::exponential})
          .add(-1)
          .multiply(View2<const double>{value.data(), 3, columns, rows.stride()});
      queue().launch(kernel);
      const std::vector<double> out = result.download();
      for (std::int64_t r = 0; r < 3; ++r) {
        for (std::int64_t c = 0; c < columns; ++c) {
          const double x = rows(r, c);
          const double expected =
              (std::exp((x + of_row[idx(r)]) * of_column[idx(c)] * 0.25) - 1) * x;
          ASSERT_NEAR(out[idx(r * columns + c)], expected, 1e-13 * (1 + std::abs(x)))
              << columns << " columns, row " << r;
        }
      }
    }
  }
}

TEST_P(ElementwiseKernel, WorksInPlace) {
  DeviceArray<double> value(queue(), std::vector<double>{1, 2, 3});
  Elementwise kernel(value.view(), value.view());
  queue().launch(kernel.multiply(2).add(1));
  EXPECT_EQ(value.download(), (std::vector<double>{3, 5, 7}));
}

TEST_P(ElementwiseKernel, MatchesCpu) {
  const auto run = [](Queue& queue, std::int64_t columns) {
    Rows rows = normal_rows(2, columns, 1, 9);
    for (double& value : rows.values) value *= 300;
    rows.values.front() = row_nan;
    const DeviceArray<double> value(queue, rows.values);
    DeviceArray<double> result(queue, 2 * columns);
    Elementwise kernel(View2<const double>{value.data(), 2, columns, rows.stride()},
                       View2<double>{result.data(), 2, columns, columns});
    kernel.multiply(0.1)
        .then({ElementStageKind::exponential})
        .then({ElementStageKind::round_bfloat16})
        .add(0.3);
    queue.launch(kernel);
    return bits_of(result.download());
  };
  for (const std::int64_t columns : {3, 4096, 100000}) {
    EXPECT_EQ(run(queue(), columns), run(cpu_queue(), columns));
  }
}

TEST_P(ElementwiseKernel, RefusesMoreStagesThanItHas) {
  DeviceArray<double> value(queue(), std::vector<double>{1});
  Elementwise kernel(value.view(), value.view());
  for (int s = 0; s < Elementwise::max_stages; ++s) kernel.add(1);
  queue().launch(kernel);
  EXPECT_EQ(value.download().front(), 9);
  EXPECT_ANY_THROW(queue().launch(kernel.add(1)));
  DeviceArray<double> two(queue(), std::vector<double>{1, 2});
  Elementwise other(two.view(), two.view());
  EXPECT_ANY_THROW(queue().launch(other.add(value.view())));
}

}  // namespace
}  // namespace kiln::test::elementwise_test
