// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/hd.hpp"
#include "kiln/device/plane_draws.hpp"
#include "kiln/device/rng_domains.hpp"
#include "kiln/kernels/sweeps/draw_naming.hpp"

/// Words that 32 replicas have in common. The word of (key, step, replica, site) is word site % 4
/// of the Philox block with the counter (site / 4, replica / 32, step, RngDomain::metropolis_planes
/// | block 2): replicas 32 k .. 32 k + 31 decide their attempts at a site by one number. Each of
/// them alone has independent uniform words, and so have replicas of different words.
namespace kiln {

inline constexpr std::uint8_t shared_block = 2;  // planes have blocks 0 and 1

/// The name of the words of the 32 replicas around `name.replica`. Domain and block of `name` are
/// not read.
KILN_HD inline DrawName shared_name(DrawName name) {
  name.replica /= 32;
  name.domain = RngDomain::metropolis_planes;
  name.block = shared_block;
  return name;
}

/// The word of 32 replicas.
KILN_HD inline std::uint32_t draw_shared(const DrawName& name, std::uint32_t site) {
  const Words4 quad = draw_quad(shared_name(name), site / 4);
  const std::uint32_t low = site % 2 == 0 ? quad.word[0] : quad.word[1];
  const std::uint32_t high = site % 2 == 0 ? quad.word[2] : quad.word[3];
  return site % 4 < 2 ? low : high;
}

/// The word of an attempt by any naming.
KILN_HD inline std::uint32_t draw_named(DrawNaming naming, DrawName name, std::uint32_t site) {
  if (naming == DrawNaming::planes) return draw_word_by_planes(name, site);
  if (naming == DrawNaming::shared) return draw_shared(name, site);
  name.domain = RngDomain::metropolis;
  name.block = 0;
  return draw_word(name, site);
}

}  // namespace kiln
