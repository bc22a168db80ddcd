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

/// The row of a site with these couplings. A site without a variable has none.
template <int W>
__device__ inline uint4 short_row(std::uint32_t states, std::int32_t site, bool real,
                                  const PairEntry (&entries)[4]) {
  const auto address_of = [&](std::uint32_t of) { return states + of * (4 * W); };
  std::uint32_t inputs[4];
  int n = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float weight = entries[i].weight;
    inputs[i] = address_of(entries[i].site) | (weight < 0 ? ShortRows::negative : 0u);
    if (weight == 0) inputs[i] = 0;
    n += weight != 0 ? 1 : 0;
  }
  bool one = n % 2 == 1;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (inputs[i] != 0) continue;
    inputs[i] = address_of(static_cast<std::uint32_t>(site)) | (one ? ShortRows::negative : 0u);
    one = !one;
  }
  if (n % 2 == 1) inputs[0] |= ShortRows::flag;
  if (!real) inputs[1] |= ShortRows::flag;
  return make_uint4(inputs[0], inputs[1], inputs[2], inputs[3]);
}

/// Writes all rows. A thread reads those of several sites side by side.
template <int W>
__device__ inline void write_short_rows(const PairwiseView& model, std::uint32_t states,
                                        uint4* rows) {
  constexpr int at_once = 4;
  const auto threads = static_cast<std::int32_t>(blockDim.x);
  const std::int32_t n = model.n_sites;
  const std::int64_t* const row_begin = model.row_begin.data;
  const auto* const all = reinterpret_cast<const uint2*>(model.entries.data);
  for (auto first = static_cast<std::int32_t>(threadIdx.x); first < n; first += at_once * threads) {
    std::int64_t begin[at_once], end[at_once];
    bool real[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const std::int32_t site = min(first + k * threads, n - 1);
      begin[k] = __ldg(reinterpret_cast<const long long*>(row_begin) + site);
      end[k] = __ldg(reinterpret_cast<const long long*>(row_begin) + site + 1);
      real[k] = __ldg(model.variable.data + site) >= 0;
    }
    PairEntry entries[at_once][4];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (!real[k] || begin[k] + i >= end[k]) continue;
        const uint2 entry = __ldg(all + begin[k] + i);
        entries[k][i] = {entry.x, __uint_as_float(entry.y)};
      }
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const std::int32_t site = first + k * threads;
      if (site < n) rows[site] = short_row<W>(states, site, real[k], entries[k]);
    }
  }
}

}  // namespace
}  // namespace kiln::cuda
