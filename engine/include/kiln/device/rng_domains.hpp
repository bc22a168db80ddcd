// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/hd.hpp"
#include "kiln/device/philox.hpp"

namespace kiln {

/// Every consumer of randomness. A number is never reused or renumbered: it is part of the name of
/// a draw, and so of the answer of a seed. Plug-ins use 200 and above.
enum class RngDomain : std::uint8_t {
  initial_state = 1,       ///< random_state: first state of a replica and of each restart
  metropolis = 2,          ///< sweeps: one word per site and sweep in each block
  propose = 3,             ///< propose_move: which move, and how far
  accept = 4,              ///< accept_move: one word per attempt
  group_key = 5,           ///< the keys of groups, drawn once from the seed
  swap = 6,                ///< exchange between rungs
  resample = 7,            ///< population resampling
  momentum = 8,            ///< Hamiltonian Monte Carlo
  choose = 9,              ///< choice among weighted candidates
  hypervolume = 10,        ///< shifts of the samples of hypervolume
  vary = 11,               ///< crossover and mutation
  mate = 12,               ///< choice of parents and of migrants
  niche = 13,              ///< choice of the survivor on a crowded line
  dominance = 14,          ///< acceptance by dominance
  fill_space = 15,         ///< scrambles, permutations and jitter of space_filling_points
  features = 16,           ///< random features and noise of pathwise_samples
  metropolis_planes = 17,  ///< sweeps by planes: eight high bits of 32 replicas for each site
  metropolis_rest = 18,    ///< sweeps by planes: the low bits of a word
  initial_planes = 19,     ///< random_state by planes: a bit of 32 replicas for each variable
  surrogate = 20,          ///< surrogates: orders and shifts of series
  bifurcation = 21,        ///< bifurcation_start: first positions and momenta of oscillators
  product_probe = 22,      ///< ContractProduct::probe: the signs of its columns
  user = 200,              ///< first domain of plug-ins
};

/// The name of a draw. A draw is a pure function of its name, so skipping one changes no other.
///
/// key: the 64-bit key of the group (group 0 has the seed itself); replica: index within its group;
/// step: sweep or step counter of the run (48 bits are used); block: distinguishes several blocks
/// of words that one consumer needs for the same (step, replica, index).
struct DrawName {
  std::uint64_t key = 0;
  std::uint64_t step = 0;
  std::uint32_t replica = 0;
  RngDomain domain = RngDomain::metropolis;
  std::uint8_t block = 0;
};

/// The last word of the Philox counter of a draw: domain, block and the high part of the step.
KILN_HD inline std::uint32_t counter_word3(RngDomain domain, std::uint8_t block,
                                           std::uint64_t step) {
  return (static_cast<std::uint32_t>(domain) << 24) | (static_cast<std::uint32_t>(block) << 16) |
         (static_cast<std::uint32_t>(step >> 32) & 0xFFFFu);
}

/// The four words for indices 4 * quad .. 4 * quad + 3 (a site, or another index of the domain).
KILN_HD inline Words4 draw_quad(const DrawName& name, std::uint32_t quad) {
  const std::uint32_t c3 = counter_word3(name.domain, name.block, name.step);
  return philox4x32_10(Words4{{quad, name.replica, static_cast<std::uint32_t>(name.step), c3}},
                       name.key);
}

/// The one word for `index`.
KILN_HD inline std::uint32_t draw_word(const DrawName& name, std::uint32_t index) {
  return draw_quad(name, index / 4)[index % 4];
}

/// A double in (0, 1) from one word, symmetric about 1/2 and never 0 or 1.
KILN_HD inline double open_unit(std::uint32_t word) {
  return (static_cast<double>(word) + 0.5) * 0x1p-32;
}

/// An integer in [0, n) from one word, n > 0. Multiply-shift: the bias is below n / 2^32.
KILN_HD inline std::uint32_t below(std::uint32_t word, std::uint32_t n) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(word) * n) >> 32);
}

}  // namespace kiln
