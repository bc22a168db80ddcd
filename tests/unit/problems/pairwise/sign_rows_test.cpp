// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "pairwise/sign_rows.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "kiln/kernels/sweeps/sign_rows.hpp"

#include "models/models.hpp"

namespace kiln::test {
namespace {

std::int32_t planes_of(const Ising& model) {
  return problems::sign_planes(problems::plan_pairwise(model));
}

// The sign of each pair, read back from the rows, their complements and the blocks.
TEST(SignRows, HaveTheSignsOfAllPairs) {
  constexpr std::int32_t n = 1156;  // two groups, ten stretches
  std::vector<std::int8_t> matrix(std::size_t{n} * n);
  TestRandom random(1);
  for (std::size_t u = 0; u < n; ++u) {
    for (std::size_t v = u + 1; v < n; ++v) {
      matrix[u * n + v] = matrix[v * n + u] = random.between(0, 1) == 0 ? -1 : 1;
    }
  }
  const SignRows rows{n};
  ASSERT_EQ(rows.groups(), 2);
  const std::vector<std::int8_t> weights = matrix;
  matrix.resize(matrix.size() + static_cast<std::size_t>(rows.bytes()));

  problems::write_sign_rows(matrix.data(), n);

  const auto word_at = [&](std::int64_t at) {
    std::uint32_t word = 0;
    std::memcpy(&word, matrix.data() + rows.matrix_bytes() + 4 * at, sizeof word);
    return word;
  };
  std::vector<int> seen(n, 0);
  for (std::int32_t w = 0; w < rows.row_words(); ++w) {
    for (std::int32_t bit = 0; bit < 32; ++bit) {
      const std::int32_t other = rows.site_at(w, bit);
      if (other < n) ++seen[static_cast<std::size_t>(other)];
      for (std::int64_t site = 0; site < n; site += 77) {
        const bool negative =
            other < n && weights[static_cast<std::size_t>(site * n + other)] == -1;
        const std::int64_t row = 2 * site * rows.row_words() + w;
        ASSERT_EQ(word_at(row) >> bit & 1u, negative ? 1u : 0u) << site << " " << other;
        ASSERT_EQ(word_at(row + rows.row_words()) >> bit & 1u, negative ? 0u : 1u);
      }
    }
  }
  EXPECT_EQ(seen, std::vector<int>(n, 1));  // each site has one place
  for (std::int64_t site = 0; site < n; site += 11) {
    for (std::int64_t b = 0; b < SignRows::stretch; ++b) {
      const std::int64_t other = site / SignRows::stretch * SignRows::stretch + b;
      const bool negative = other < n && weights[static_cast<std::size_t>(site * n + other)] == -1;
      const std::int64_t lane = b / 4;
      const std::uint32_t word =
          word_at(rows.blocks_at() + SignRows::block_words * site + lane / 8);
      ASSERT_EQ(word >> (8 * (b % 4) + lane % 8) & 1u, negative ? 1u : 0u) << site << " " << other;
    }
  }
}

TEST(SignRows, AreForCouplingsOfOneAndMinusOneBetweenAllSpins) {
  const WeightSource signs = one_of({-1, 1}, 2);
  EXPECT_EQ(planes_of(dense(600, signs, constant(0))), 12);
  EXPECT_EQ(planes_of(dense(600, signs, constant(3495))), 12);  // 4094 + 1
  EXPECT_EQ(planes_of(dense(600, signs, constant(3496))), 15);
  EXPECT_EQ(planes_of(dense(600, signs, constant(15784))), 15);  // 16383
  EXPECT_EQ(planes_of(dense(600, signs, constant(15785))), 0);
  EXPECT_EQ(planes_of(dense(600, one_of({-2, 1}, 3), constant(0))), 0);
  EXPECT_EQ(planes_of(dense(600, signs, constant(0.5))), 0);
  Ising one_missing = dense(600, signs, constant(0));
  one_missing.couplings.pop_back();
  EXPECT_EQ(planes_of(one_missing), 0);
  one_missing.couplings.push_back({598, 599, 0});
  EXPECT_EQ(planes_of(one_missing), 0);
}

// The planes of a replica take the memory of its fields.
TEST(SignRows, NeedEnoughSites) {
  const WeightSource signs = one_of({-1, 1}, 4);
  EXPECT_EQ(planes_of(dense(444, signs, constant(0))), 0);
  EXPECT_EQ(planes_of(dense(448, signs, constant(0))), 12);
  EXPECT_EQ(planes_of(dense(540, signs, constant(9000))), 0);
  EXPECT_EQ(planes_of(dense(544, signs, constant(9000))), 15);
}

}  // namespace
}  // namespace kiln::test
