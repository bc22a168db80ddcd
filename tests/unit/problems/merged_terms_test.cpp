// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kiln/problems/unpacked.hpp"

#include "canonical.hpp"

namespace kiln::test::merged_terms_test {
namespace {

double sum_of(const std::vector<double>& terms) {
  problems::detail::TermSum sum(terms.front());
  for (std::size_t k = 1; k < terms.size(); ++k) sum.add(terms[k]);
  return sum.value();
}

// 2^53 + 1 is no double: sums in doubles are 0, in either order of the first two.
TEST(MergedTerms, OfIntegersAreExactInAnyOrder) {
  EXPECT_EQ(sum_of({0x1p53, 1, -0x1p53}), 1);
  EXPECT_EQ(sum_of({1, 0x1p53, -0x1p53}), 1);
  EXPECT_EQ(sum_of({0x1p53, -0x1p53, 1}), 1);
  EXPECT_EQ(sum_of({0x1p53, 1, 1, 1, -0x1p53}), 3);
  EXPECT_EQ(sum_of({7}), 7);
}

TEST(MergedTerms, OfOneVariableAreExact) {
  problems::detail::LinearSums sums(2);
  for (const double term : {0x1p53, 1.0, -0x1p53}) sums.add(1, term);
  EXPECT_EQ(sums.values(), (std::vector<double>{0, 1}));
}

TEST(MergedTerms, OfRealsAreRoundedInTheirOrder) {
  EXPECT_EQ(sum_of({0.1, 0.2, 0.3}), 0.1 + 0.2 + 0.3);
  EXPECT_EQ(sum_of({1e16, 0.5, -1e16}), 0);
}

TEST(MergedTerms, OfAZstdStreamMayFollowAFrameThatIsSkipped) {
  EXPECT_EQ(problems::packing_of("\x50\x2a\x4d\x18"), problems::Packing::zstd);
  EXPECT_EQ(problems::packing_of("\x5f\x2a\x4d\x18"), problems::Packing::zstd);
  EXPECT_EQ(problems::packing_of("\x60\x2a\x4d\x18"), problems::Packing::none);
  EXPECT_EQ(problems::packing_of("\x50\x2a\x4d"), problems::Packing::none);
}

}  // namespace
}  // namespace kiln::test::merged_terms_test
