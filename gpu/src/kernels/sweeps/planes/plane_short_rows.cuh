// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "kernels/sweeps/slice_planes.cuh"
#include "plane_memory.cuh"

/// Rows of at most four couplings -1 or 1 without fields, such as those of a torus, in shared
/// memory.
///
/// An input of a site is its own bit xor that of a neighbour, complemented where the coupling is
/// negative. A flip raises the energy if and only if three or four of four inputs are 1, and the
/// level is 1 if all are. Inputs of shorter rows are filled up so that this stays true: with pairs
/// of 0 and 1, and after an odd number of couplings with a 1.
namespace kiln::cuda {
namespace {

/// Four inputs: the address of the states of a variable, and in the highest bit whether the
/// coupling is negative. The bit below says in the first input that the number of couplings is odd,
/// in the second one that there is no variable.
struct ShortRows {
  static constexpr std::uint32_t address_mask = 0x3FFFFu;
  static constexpr std::uint32_t negative = 1u << 31, flag = 1u << 30;

  uint4* rows;                 // [n_sites]
  const std::uint32_t states;  // their address; in the order of sites
};

/// Writes the row of a site.
template <int W>
__device__ inline uint4 short_row(const PairwiseView& model, std::uint32_t states,
                                  std::int32_t site) {
  const auto address_of = [&](std::uint32_t of) { return states + of * (4 * W); };
  const std::uint32_t own = address_of(static_cast<std::uint32_t>(site));
  const bool real = model.variable[site] >= 0;
  std::uint32_t inputs[4];
  int n = 0;
  const std::int64_t begin = model.row_begin[site], end = model.row_begin[site + 1];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    PairEntry entry;
    if (real && begin + i < end) entry = model.entries[begin + i];
    const bool is_one = entry.weight != 0;
    // One more pad of each kind after another; which one comes first does not matter.
    inputs[i] =
        is_one ? address_of(entry.site) | (entry.weight < 0 ? ShortRows::negative : 0u) : 0u;
    n += is_one ? 1 : 0;
  }
  bool one = n % 2 == 1;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (inputs[i] != 0) continue;
    inputs[i] = own | (one ? ShortRows::negative : 0u);
    one = !one;
  }
  if (n % 2 == 1) inputs[0] |= ShortRows::flag;
  if (!real) inputs[1] |= ShortRows::flag;
  return make_uint4(inputs[0], inputs[1], inputs[2], inputs[3]);
}

}  // namespace
}  // namespace kiln::cuda
