// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/models/sobol_directions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kiln/errors.hpp"

namespace kiln::sobol_directions_test {
namespace {

std::uint32_t direction(const std::vector<std::uint32_t>& all, int row, int bit) {
  return all[static_cast<std::size_t>(32 * row + bit)];
}

TEST(SobolDirections, BeginsWithTheRadicalInverseAndPascalsTriangle) {
  // Row 1 has the polynomial x + 1, which leaves nothing to choose: v_b = v_(b-1) ^ v_(b-1) / 2.
  const std::vector<std::uint32_t> all = sobol_directions(2);
  for (int bit = 0; bit < 32; ++bit) {
    EXPECT_EQ(direction(all, 0, bit), 0x80000000u >> bit);
    const std::uint32_t before = bit == 0 ? 0 : direction(all, 1, bit - 1);
    EXPECT_EQ(direction(all, 1, bit), bit == 0 ? 0x80000000u : before ^ before >> 1);
  }
}

TEST(SobolDirections, ObeysTheRecurrenceOfTheFirstPolynomials) {
  const std::vector<std::uint32_t> all = sobol_directions(5);
  const auto v = [&](int row, int bit) { return direction(all, row, bit); };
  for (int bit = 3; bit < 32; ++bit) {
    EXPECT_EQ(v(2, bit), v(2, bit - 1) ^ v(2, bit - 2) ^ v(2, bit - 2) >> 2);  // x^2 + x + 1
    EXPECT_EQ(v(3, bit), v(3, bit - 2) ^ v(3, bit - 3) ^ v(3, bit - 3) >> 3);  // x^3 + x + 1
    EXPECT_EQ(v(4, bit), v(4, bit - 1) ^ v(4, bit - 3) ^ v(4, bit - 3) >> 3);  // x^3 + x^2 + 1
  }
}

TEST(SobolDirections, HasANumberOfItsOwnLeadingDigitForEveryBit) {
  const std::vector<std::uint32_t> all = sobol_directions(1100);
  std::set<std::vector<std::uint32_t>> rows;
  for (int row = 0; row < 1100; ++row) {
    for (int bit = 0; bit < 32; ++bit) {
      const std::uint32_t last = 0x80000000u >> bit;
      ASSERT_EQ(direction(all, row, bit) & (2 * last - 1), last) << row << ", " << bit;
    }
    rows.insert({all.begin() + 32 * row, all.begin() + 32 * (row + 1)});
  }
  EXPECT_EQ(rows.size(), 1100u);
}

TEST(SobolDirections, HasPropertyA) {
  // The first 2^d points have one in each of the 2^d boxes that halves of d axes make.
  for (const int d : {2, 5, 10, 16}) {
    const std::vector<std::uint32_t> all = sobol_directions(d);
    std::vector<bool> met(std::size_t{1} << d);
    for (std::uint32_t point = 0; point < met.size(); ++point) {
      std::size_t box = 0;
      for (int row = 0; row < d; ++row) {
        std::uint32_t word = 0;
        for (int bit = 0; bit < d; ++bit) {
          if ((point >> bit & 1) != 0) word ^= direction(all, row, bit);
        }
        box = 2 * box + (word >> 31);
      }
      met[box] = true;
    }
    EXPECT_EQ(std::count(met.begin(), met.end(), true), std::int64_t{1} << d) << d;
  }
}

TEST(SobolDirections, DoNotDependOnHowManyAreAskedFor) {
  const std::vector<std::uint32_t> many = sobol_directions(70), few = sobol_directions(7);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
}

TEST(SobolDirections, RefusesWhatItDoesNotHave) {
  EXPECT_THROW(sobol_directions(0), InvalidArgument);
  EXPECT_THROW(sobol_directions(max_sobol_dimension + 1), InvalidArgument);
}

}  // namespace
}  // namespace kiln::sobol_directions_test
