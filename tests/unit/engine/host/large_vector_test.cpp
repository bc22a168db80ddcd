// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/large_vector.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace kiln::large_vector_test {
namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21;

bool begins_a_huge_page(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % huge_page == 0;
}

TEST(LargeVector, BehavesAsAVector) {
  for (const std::size_t n : {std::size_t{3}, 3 * huge_page}) {
    LargeVector<std::int32_t> values(n, 7);
    values.push_back(9);
    const LargeVector<std::int32_t> copy = values;
    values.resize(n);
    values.back() = 5;
    EXPECT_EQ(copy.size(), n + 1);
    EXPECT_EQ(std::accumulate(copy.begin(), copy.end(), std::int64_t{0}),
              7 * static_cast<std::int64_t>(n) + 9);
    EXPECT_EQ(values.back(), 5);
  }
}

TEST(LargeVector, BeginsWithAHugePageIfItIsLarge) {
  const LargeVector<double> large(huge_page);
  EXPECT_TRUE(begins_a_huge_page(large.data()));
}

TEST(LargeVector, LeavesElementsWithoutAValue) {
  LargeVector<std::int32_t> values(100, 3);
  values.clear();
  values.resize(100);
  EXPECT_EQ(values, LargeVector<std::int32_t>(100, 3)) << "resize() writes nothing";
}

TEST(ReserveLarge, KeepsElementsAndReserves) {
  std::vector<double> values{1, 2, 3};
  reserve_large(values, huge_page);
  EXPECT_GE(values.capacity(), huge_page);
  EXPECT_EQ(values, (std::vector<double>{1, 2, 3}));
  const double* const place = values.data();
  values.resize(huge_page);
  EXPECT_EQ(values.data(), place);
  reserve_large(values, 10);
  EXPECT_EQ(values.size(), huge_page);
}

}  // namespace
}  // namespace kiln::large_vector_test
