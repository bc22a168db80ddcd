// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/device/philox.hpp"

#include <gtest/gtest.h>

#include "kiln/device/rng_domains.hpp"

namespace kiln::test {
namespace {

struct KnownAnswer {
  Words4 counter;
  std::uint64_t key;
  Words4 words;
};

// The test vectors that the authors of Philox publish with Random123 (kat_vectors, philox4x32 10).
TEST(Philox, GivesThePublishedAnswers) {
  for (const KnownAnswer& known :
       {KnownAnswer{{{0, 0, 0, 0}}, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
        {{{~0u, ~0u, ~0u, ~0u}}, ~0ull, {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
        {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
         0x299f31d0a4093822ull,
         {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}}}) {
    const Words4 words = philox4x32_10(known.counter, known.key);
    for (std::uint32_t k = 0; k < 4; ++k) EXPECT_EQ(words[k], known.words[k]) << k;
  }
}

// key; c0 = index / 4, c1 = replica, c2 = low half of the step, c3 = domain, block, step 32 .. 47.
TEST(DrawName, LaysOutTheCounter) {
  const DrawName name{0x1122334455667788ull, 0xFFABCD00000009ull, 0x77, RngDomain::swap, 0x5A};
  const Words4 expected =
      philox4x32_10({{25, 0x77, 0x00000009, 0x065AABCD}}, 0x1122334455667788ull);

  EXPECT_EQ(draw_word(name, 103), expected[3]);
  EXPECT_EQ(draw_word(name, 100), expected[0]);
}

}  // namespace
}  // namespace kiln::test
