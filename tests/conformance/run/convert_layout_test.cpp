// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/convert_layout.hpp"

#include <gtest/gtest.h>

#include "backends/backends.hpp"
#include "backends/backends_blocks.hpp"
#include "backends/conformance_case.hpp"

// Copies; f64 to f32 rounds to nearest everywhere.
KILN_CONFORMANCE_CASE(ConvertLayout, exact)

namespace kiln::test::convert_layout_test {
namespace {

class ConvertLayoutKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ConvertLayoutKernel);

std::vector<std::byte> converted(Queue& queue, const BlockShape& from, Layout layout,
                                 const std::vector<double>& values) {
  BlockShape to = from;
  to.layout = layout;
  DeviceBlock source(queue, from, values);
  DeviceBlock target(queue, to, std::vector<double>(values.size(), 1.0));
  queue.launch(ConvertLayout{source.view(), target.view()});
  EXPECT_EQ(source.bytes(), encode(from, values)) << "the source was written";
  return target.bytes();
}

// Slot 0 is spin -1 in both variables, slot 33 in the second only.
TEST_P(ConvertLayoutKernel, PutsSlotsIntoTheBitsOfTheirWord) {
  const BlockShape shape{BlockKind::spin, Layout::i8, 2, 64};
  std::vector<double> values(128, 1.0);
  values[0] = values[64] = values[64 + 33] = -1.0;

  const std::vector<std::byte> bytes = converted(queue(), shape, Layout::packed32, values);

  std::vector<std::byte> expected(16, std::byte{0});
  expected[0] = std::byte{1};   // variable 0, word 0, bit 0
  expected[8] = std::byte{1};   // variable 1, word 0, bit 0
  expected[12] = std::byte{2};  // variable 1, word 1, bit 1
  EXPECT_EQ(bytes, expected);
}

struct KindCase {
  BlockKind kind;
  double lower;
  double upper;
};
constexpr KindCase kinds[] = {
    {BlockKind::spin, -1, 1},       {BlockKind::binary, 0, 1},      {BlockKind::category, 0, 127},
    {BlockKind::integer, -128, 90}, {BlockKind::permutation, 0, 0},
};

TEST_P(ConvertLayoutKernel, ConvertsEveryPairOfLayouts) {
  for (const KindCase& kind : kinds) {
    for (const std::int64_t slots : {32, 64, 96, 288}) {
      for (const std::int64_t variables : {1, 2, 31, 32, 33, 100}) {
        BlockShape from{kind.kind, Layout::i8, variables, slots, kind.lower, kind.upper};
        const std::vector<double> values = random_values(from, idx(slots + variables));
        for (const Layout a : layouts_of(kind.kind)) {
          from.layout = a;
          for (const Layout b : layouts_of(kind.kind)) {
            BlockShape to = from;
            to.layout = b;
            EXPECT_EQ(converted(queue(), from, b, values), encode(to, values))
                << to_string(kind.kind) << ", " << to_string(a) << " to " << to_string(b) << ", "
                << variables << " variables, " << slots << " slots";
          }
        }
      }
    }
  }
}

// Halfway cases go to the even neighbour; values below the smallest float go to 0 or to it.
TEST_P(ConvertLayoutKernel, RoundsDoublesToTheNearestFloat) {
  const BlockShape from{BlockKind::real, Layout::f64, 1, 32, -1e30, 1e30};
  std::vector<double> values(32, 0.0), expected(32, 0.0);
  values[1] = 1 + 0x1p-24, expected[1] = 1;
  values[2] = 1 + 0x3p-24, expected[2] = 1 + 0x1p-22;
  values[3] = 1 + 0x1.8p-24, expected[3] = 1 + 0x1p-23;
  values[4] = -0.1, expected[4] = -0.1f;
  values[5] = 0x1p-149, expected[5] = 0x1p-149;
  values[6] = 0x1.8p-150, expected[6] = 0x1p-149;
  values[7] = 0x1p-150, expected[7] = 0;
  values[8] = -0.0, expected[8] = -0.0;
  values[9] = 0x1.fffffep127, expected[9] = 0x1.fffffep127;
  BlockShape to = from;
  to.layout = Layout::f32;

  EXPECT_EQ(converted(queue(), from, Layout::f32, values), encode(to, expected));
}

TEST_P(ConvertLayoutKernel, KeepsRealsThatBothLayoutsHold) {
  const BlockShape wide{BlockKind::real, Layout::f64, 33, 64, -5, 5};
  const BlockShape narrow{BlockKind::real, Layout::f32, 33, 64, -5, 5};
  const std::vector<double> values = decode(narrow, encode(narrow, random_values(wide, 3)));

  EXPECT_EQ(converted(queue(), wide, Layout::f32, values), encode(narrow, values));
  EXPECT_EQ(converted(queue(), narrow, Layout::f64, values), encode(wide, values));
  EXPECT_EQ(converted(queue(), wide, Layout::f64, values), encode(wide, values));
}

TEST_P(ConvertLayoutKernel, KeepsLargeIntegers) {
  const BlockShape shape{BlockKind::integer, Layout::i32, 5, 32, -2147483648.0, 2147483647.0};
  BlockShape wide = shape;
  wide.layout = Layout::f64;
  std::vector<double> values = random_values(shape, 4);
  values[0] = shape.lower;
  values[1] = shape.upper;

  EXPECT_EQ(converted(queue(), shape, Layout::f64, values), encode(wide, values));
  EXPECT_EQ(converted(queue(), wide, Layout::i32, values), encode(shape, values));
}

}  // namespace
}  // namespace kiln::test::convert_layout_test
