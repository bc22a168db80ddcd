// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/hd.hpp"

namespace kiln {

/// The signs of a dense model whose couplings are all 1 or -1, a bit each, 1: -1. They stand behind
/// the matrix of int8 weights: first two rows for each site, its signs and their complement, then
/// the diagonal blocks.
///
/// A *stretch* is 128 sites, four successive ones for each lane of a warp; a *group* is 8
/// stretches. A row has a word for each group and lane; of more than one group two go together,
/// and word 64 p + 2 L + r is that of lane L and group 2 p + r. Bit 8 i + j of the word of group g
/// and lane L is the sign of the coupling to site 4 (32 (8 g + j) + L) + i: byte i of a word has
/// the sites i of the quads of a lane. Couplings of a site to itself and beyond the last site have
/// bit 0.
///
/// The block of a site has its couplings to the 128 sites of the same stretch: bit 8 i + j of word
/// w is that to site i of the quad of lane 8 w + j.
struct SignRows {
  static constexpr int stretch = 128, group = 1024, lanes = 32, block_words = 4;

  std::int32_t n_sites = 0;

  KILN_HD constexpr std::int32_t groups() const {  ///< one, or an even number
    return n_sites <= group ? 1 : (n_sites + 2 * group - 1) / (2 * group) * 2;
  }
  KILN_HD constexpr std::int32_t row_words() const { return groups() * lanes; }
  KILN_HD constexpr std::int64_t matrix_bytes() const {
    return static_cast<std::int64_t>(n_sites) * n_sites;
  }
  KILN_HD constexpr std::int64_t blocks_at() const {  ///< in words, behind the rows
    return 2 * static_cast<std::int64_t>(n_sites) * row_words();
  }
  KILN_HD constexpr std::int64_t bytes() const {  ///< of rows and blocks
    return 4 * (blocks_at() + static_cast<std::int64_t>(n_sites) * block_words);
  }
  KILN_HD static constexpr std::int32_t site(std::int32_t g, std::int32_t lane, std::int32_t bit) {
    return 4 * (lanes * (8 * g + bit % 8) + lane) + bit / 8;
  }
  /// The site of a bit of a word of a row.
  KILN_HD constexpr std::int32_t site_at(std::int32_t word, std::int32_t bit) const {
    if (groups() == 1) return site(0, word, bit);
    return site(word / 64 * 2 + word % 2, word % 64 / 2, bit);
  }
  /// Words that a replica keeps from sweep to sweep: planes of its fields, parities and bits.
  KILN_HD constexpr std::int32_t kept_words(std::int32_t planes) const {
    return (planes + 2) * row_words();
  }
};

}  // namespace kiln
