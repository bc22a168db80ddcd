// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/models/similarity.hpp"

#include <gtest/gtest.h>

#include "kiln/errors.hpp"
#include "kiln/models/gaussian_process.hpp"

#include "backends/cpu_queue.hpp"

namespace kiln::test::similarity_test {
namespace {

TEST(Similarity, IsTheShareOfPiecesThatNamesHaveInCommon) {
  // ab: a b ab. abc: a b c ab bc abc. aab: a a b aa ab aab. x: x.
  const CategorySimilarity of = similarity_of_names({"ab", "abc", "aab", "x"});
  EXPECT_EQ(of.levels, 4);
  const auto at = [&](std::size_t a, std::size_t b) { return of.values[4 * a + b]; };
  for (std::size_t a = 0; a < 4; ++a) {
    EXPECT_EQ(at(a, a), 1);
    for (std::size_t b = 0; b < 4; ++b) EXPECT_EQ(at(a, b), at(b, a));
  }
  EXPECT_DOUBLE_EQ(at(0, 1), 0.95 * 3 / 6);
  EXPECT_DOUBLE_EQ(at(0, 2), 0.95 * 3 / 6);
  EXPECT_DOUBLE_EQ(at(1, 2), 0.95 * 3 / 9) << "a b ab of a a b c aa ab bc aab abc";
  EXPECT_EQ(at(0, 3), 0);
}

TEST(Similarity, KeepsNamesApartThatHaveTheSamePieces) {
  const CategorySimilarity of = similarity_of_names({"aaaa", "aaaa"});
  EXPECT_DOUBLE_EQ(of.values[1], 0.95);
}

TEST(Similarity, RefusesEmptyNames) {
  EXPECT_THROW(similarity_of_names({"a", ""}), InvalidArgument);
  EXPECT_EQ(similarity_of_names({}).levels, 0);
}

std::string refusal(std::vector<CategorySimilarity> similarity,
                    std::vector<std::uint8_t> categorical = {0, 1}) {
  const auto queue = cpu_queue();
  try {
    GaussianProcess(*queue, 2, GaussianProcessOptions::preset("weak", 2), std::move(categorical),
                    std::move(similarity));
  } catch (const InvalidArgument& error) {
    return error.message();
  }
  return "accepted";
}

TEST(Similarity, IsASemiDefiniteMatrix) {
  EXPECT_EQ(refusal({{}, similarity_of_names({"methanol", "ethanol", "water"})}), "accepted");
  EXPECT_EQ(refusal({{}, {2, {1, 1, 1, 1}}}), "accepted") << "two that are the same";
  const std::string matrix = "the similarity matrix of axis 2 ";
  EXPECT_EQ(refusal({{}, {2, {1, 2, 2, 1}}}), matrix + "is not positive semi-definite");
  EXPECT_EQ(refusal({{}, {3, {1, 1, 0, 1, 1, 1, 0, 1, 1}}}),
            matrix + "is not positive semi-definite");
  EXPECT_EQ(refusal({{}, {2, {1, 0.5, 0.4, 1}}}), matrix + "is not symmetric");
  EXPECT_EQ(refusal({{}, {2, {2, 0, 0, 1}}}), matrix + "has a diagonal value that is not 1");
  EXPECT_EQ(refusal({{}, {2, {1, 0, 0}}}), matrix + "is not square");
  EXPECT_EQ(
      refusal({{}}),
      "each of the lists categorical and similarity needs one entry for each coordinate, or none");
}

}  // namespace
}  // namespace kiln::test::similarity_test
