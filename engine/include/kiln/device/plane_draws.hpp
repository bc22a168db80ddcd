// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/hd.hpp"
#include "kiln/device/philox.hpp"
#include "kiln/device/rng_domains.hpp"

/// Words named by planes. The word of (key, step, replica, site) has
///
/// * as bit 24 + k, for k = 0 .. 7, bit replica % 32 of plane k of (key, step, replica / 32, site),
///   which 32 replicas have in common;
/// * as its 24 low bits those of the first word of the Philox block with the counter (site,
///   replica, step, RngDomain::metropolis_rest).
///
/// Planes 4 b .. 4 b + 3 are the words of the Philox block with the counter (site, replica / 32,
/// step, RngDomain::metropolis_planes | block b). Where the eight high bits decide a comparison the
/// others need not be drawn.
///
/// First states of spins and bits have one plane: bit replica % 32 of word variable % 4 of the
/// Philox block with the counter (variable / 4, replica / 32, step, RngDomain::initial_planes).
namespace kiln {

inline constexpr std::uint32_t planes_of_word = 8;
inline constexpr std::uint32_t rest_bits = 24;
inline constexpr std::uint32_t rest_mask = (1u << rest_bits) - 1;

/// Planes 4 block .. 4 block + 3 of a site, for the 32 replicas around `name.replica`. Domain and
/// block of the name are not read.
KILN_HD inline Words4 draw_planes(DrawName name, std::uint32_t site, std::uint8_t block) {
  name.replica /= 32;
  name.domain = RngDomain::metropolis_planes;
  name.block = block;
  return draw_quad(name, site);
}

/// The 24 low bits of a word.
KILN_HD inline std::uint32_t draw_rest(DrawName name, std::uint32_t site) {
  name.domain = RngDomain::metropolis_rest;
  name.block = 0;
  return draw_quad(name, site).word[0] & rest_mask;
}

/// The word of a replica.
KILN_HD inline std::uint32_t draw_word_by_planes(const DrawName& name, std::uint32_t site) {
  std::uint32_t word = draw_rest(name, site);
  for (std::uint32_t block = 0; block < planes_of_word / 4; ++block) {
    const Words4 planes = draw_planes(name, site, static_cast<std::uint8_t>(block));
    for (std::uint32_t k = 0; k < 4; ++k) {
      word |= (planes.word[k] >> name.replica % 32 & 1u) << (rest_bits + 4 * block + k);
    }
  }
  return word;
}

/// First states of variables 4 quad .. 4 quad + 3, for the 32 replicas around `name.replica`.
KILN_HD inline Words4 draw_first_planes(DrawName name, std::uint32_t quad) {
  name.replica /= 32;
  name.domain = RngDomain::initial_planes;
  name.block = 0;
  return draw_quad(name, quad);
}

}  // namespace kiln
