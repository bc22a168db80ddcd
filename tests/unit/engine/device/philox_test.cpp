// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/device/philox.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>

#include "kiln/device/rng_domains.hpp"

namespace kiln::philox_test {
namespace {

using Words = std::array<std::uint32_t, 4>;

Words philox(const Words& counter, std::uint32_t key0, std::uint32_t key1) {
  const Words4 words = philox4x32_10(Words4{{counter[0], counter[1], counter[2], counter[3]}},
                                     (static_cast<std::uint64_t>(key1) << 32) | key0);
  return {words[0], words[1], words[2], words[3]};
}

Words as_array(const Words4& words) { return {words[0], words[1], words[2], words[3]}; }

// The known answers that are published with Random123.
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, ~0u, ~0u),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(DrawName, FillsTheCounterByTheNamingTable) {
  const DrawName name{0x0123456789abcdefull, 0x56789abcdef0ull, 12, RngDomain::metropolis, 3};

  const Words drawn = as_array(draw_quad(name, 7));

  // c0 quad, c1 replica, c2 low step, c3 domain | block | high step
  EXPECT_EQ(drawn, philox({7, 12, 0x9abcdef0, 0x02035678}, 0x89abcdef, 0x01234567));
  // From another implementation of the generator.
  EXPECT_EQ(drawn, (Words{0xf8bc9cac, 0xae085324, 0xea0ac914, 0x767af082}));
}

TEST(DrawName, UsesFortyEightBitsOfTheStep) {
  const DrawName low{1, 5, 0, RngDomain::swap, 0};
  const DrawName high{1, 5 + (1ull << 47), 0, RngDomain::swap, 0};
  const DrawName beyond{1, 5 + (1ull << 48), 0, RngDomain::swap, 0};

  EXPECT_NE(as_array(draw_quad(low, 0)), as_array(draw_quad(high, 0)));
  EXPECT_EQ(as_array(draw_quad(low, 0)), as_array(draw_quad(beyond, 0)));
}

TEST(DrawName, WordIsTheIndexModuloFourOfItsQuad) {
  const DrawName name{99, 1234, 5, RngDomain::accept, 0};
  for (std::uint32_t index = 0; index < 64; ++index) {
    ASSERT_EQ(draw_word(name, index), draw_quad(name, index / 4)[index % 4]) << index;
  }
}

TEST(DrawName, EveryPartOfTheNameCounts) {
  const DrawName base{1, 2, 3, RngDomain::metropolis, 4};
  std::set<Words> seen{as_array(draw_quad(base, 5)), as_array(draw_quad(base, 6))};
  for (int part = 0; part < 4; ++part) {
    DrawName other = base;
    if (part == 0) other.key = 9;
    if (part == 1) other.step = 9;
    if (part == 2) other.replica = 9;
    if (part == 3) other.block = 9;
    seen.insert(as_array(draw_quad(other, 5)));
  }
  EXPECT_EQ(seen.size(), 6u);
}

TEST(RngDomain, NumbersAreFixedAndDistinct) {
  const std::array<std::pair<RngDomain, int>, 10> table{{{RngDomain::initial_state, 1},
                                                         {RngDomain::metropolis, 2},
                                                         {RngDomain::propose, 3},
                                                         {RngDomain::accept, 4},
                                                         {RngDomain::group_key, 5},
                                                         {RngDomain::swap, 6},
                                                         {RngDomain::resample, 7},
                                                         {RngDomain::momentum, 8},
                                                         {RngDomain::choose, 9},
                                                         {RngDomain::user, 200}}};
  std::set<Words> seen;
  for (const auto& [domain, number] : table) {
    EXPECT_EQ(static_cast<int>(domain), number);
    seen.insert(as_array(draw_quad(DrawName{1, 0, 0, domain, 0}, 0)));
  }
  EXPECT_EQ(seen.size(), table.size());
}

TEST(OpenUnit, StaysInsideAndIsSymmetric) {
  EXPECT_EQ(open_unit(0), 0x1p-33);
  EXPECT_EQ(open_unit(~0u), 1.0 - 0x1p-33);
  for (const std::uint32_t word : {0u, 1u, 12345u, 0x7fffffffu, 0x80000000u, ~0u}) {
    EXPECT_EQ(open_unit(word) + open_unit(~word), 1.0) << word;
  }
}

TEST(Below, CoversItsRangeEvenly) {
  EXPECT_EQ(below(0, 7), 0u);
  EXPECT_EQ(below(~0u, 7), 6u);
  EXPECT_EQ(below(~0u, 1), 0u);
  EXPECT_EQ(below(~0u, ~0u), ~0u - 1u);
  EXPECT_EQ(below(0x80000000u, 10), 5u);
  // 2^32 / 4 words for each of four values: the value changes exactly at the quarters.
  for (std::uint32_t quarter = 1; quarter < 4; ++quarter) {
    EXPECT_EQ(below(quarter << 30, 4), quarter);
    EXPECT_EQ(below((quarter << 30) - 1, 4), quarter - 1);
  }
}

}  // namespace
}  // namespace kiln::philox_test
