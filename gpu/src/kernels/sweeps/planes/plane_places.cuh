// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "plane_count.cuh"
#include "plane_memory.cuh"
#include "plane_short_rows.cuh"

/// The places of a warp, and the numbers u of GroupSite there. A block holds W words of 32
/// replicas. A lane works on V words of a site at a time, so the lanes of a warp have 32 V / W
/// sites.
namespace kiln::cuda {
namespace {

/// The words of a lane: where they are, and which replicas move.
template <int W, int V, bool kShared>
struct LaneWords {
  const MetropolisSweep& kernel;
  const std::uint32_t word;  // the first one of the lane in the block
  std::uint32_t* const first;       // of variable or site 0
  const std::uint32_t on_chip = 0;  // its address in shared memory
  bool has_word[V];

  __device__ LaneWords(const MetropolisSweep& k, std::int64_t first_word, std::uint32_t* states)
      : kernel(k),
        word(threadIdx.x % (W / V) * V),
        first((kShared ? states : k.state.data + first_word) + word),
        on_chip(kShared ? static_cast<std::uint32_t>(__cvta_generic_to_shared(first)) : 0u) {
#pragma unroll
    for (int v = 0; v < V; ++v) has_word[v] = first_word + word + v < k.state.columns;
  }
  __device__ std::uint32_t* at(std::uint32_t variable) const {
    if constexpr (kShared) {
      return static_cast<std::uint32_t*>(__cvta_shared_to_generic(on_chip + variable * (4 * W)));
    } else {
      return first + variable * kernel.state.stride;
    }
  }
  /// From an address in shared memory.
  __device__ static Words<V> load_from(std::uint32_t address) {
    Words<V> words;
    const void* const from = __cvta_shared_to_generic(address);
    if constexpr (V == 4) {
      const uint4 x = *static_cast<const uint4*>(from);
      words.of[0] = x.x, words.of[1] = x.y, words.of[2] = x.z, words.of[3] = x.w;
    } else if constexpr (V == 2) {
      const uint2 x = *static_cast<const uint2*>(from);
      words.of[0] = x.x, words.of[1] = x.y;
    } else {
      words.of[0] = *static_cast<const std::uint32_t*>(from);
    }
    return words;
  }
  __device__ Words<V> load(std::uint32_t variable) const {
    if constexpr (kShared) return load_from(on_chip + variable * (4 * W));
    Words<V> words;
    const bool real = variable < static_cast<std::uint32_t>(kernel.model.n_variables);
#pragma unroll
    for (int v = 0; v < V; ++v) words.of[v] = real && has_word[v] ? at(variable)[v] : 0u;
    return words;
  }
  __device__ void store(std::uint32_t variable, const Words<V>& words) const {
    if constexpr (kShared && V == 4) {
      *reinterpret_cast<uint4*>(at(variable)) =
          make_uint4(words.of[0], words.of[1], words.of[2], words.of[3]);
    } else if constexpr (kShared && V == 2) {
      *reinterpret_cast<uint2*>(at(variable)) = make_uint2(words.of[0], words.of[1]);
    } else {
#pragma unroll
      for (int v = 0; v < V; ++v) {
        if (kShared || has_word[v]) at(variable)[v] = words.of[v];
      }
    }
  }
};

/// The row of a site, of a lane behind the sites, or of a site without a variable.
template <PlaneRows kRows>
struct PlaneRow {
  GroupSite row;
  __device__ bool real() const { return row.variable >= 0; }
  __device__ std::uint32_t even() const {
    return 0u - (static_cast<std::uint32_t>(row.start_and_even) & 1u);
  }
};
template <>
struct PlaneRow<PlaneRows::short_on_chip> {
  uint4 inputs;
  bool in_range;
  __device__ bool real() const { return in_range && (inputs.y & ShortRows::flag) == 0; }
  __device__ std::uint32_t even() const {
    return (inputs.x & ShortRows::flag) == 0 ? 0xFFFFFFFFu : 0u;
  }
};

/// What a lane reads of the model and the states.
template <int W, int V, int P, PlaneRows kRows>
struct PlanePlaces {
  using Memory = PlaneMemory<W, P, kRows>;
  using Row = PlaneRow<kRows>;
  static constexpr int lanes_of_site = W / V;
  static constexpr std::uint32_t n_sites = 32 / lanes_of_site;

  const MetropolisSweep& kernel;
  const std::int64_t first_word;
  const Memory& memory;
  const std::uint32_t lane, place;  // the lane's site of those of the warp
  const LaneWords<W, V, Memory::shared> words;

  __device__ PlanePlaces(const MetropolisSweep& k, std::int64_t first, const Memory& m)
      : kernel(k),
        first_word(first),
        memory(m),
        lane(threadIdx.x % 32),
        place(lane / lanes_of_site),
        words(k, first, m.states) {}

  __device__ Row row(std::uint32_t site, std::uint32_t end) const {
    Row of;
    if constexpr (Memory::short_rows) {
      of.in_range = site < end;
      of.inputs = memory.rows[min(site, static_cast<std::uint32_t>(kernel.model.n_sites) - 1)];
    } else {
      if (site < end) of.row = load_site(kernel.model.groups.sites.data + site);
    }
    return of;
  }
  /// Where the words of a site are.
  __device__ std::uint32_t index_of(std::uint32_t site, const Row& row) const {
    if constexpr (Memory::short_rows) {
      return min(site, static_cast<std::uint32_t>(kernel.model.n_sites) - 1);
    } else {
      return static_cast<std::uint32_t>(row.real() ? row.row.variable : kernel.model.n_variables);
    }
  }

  /// The numbers of a site; of short rows the highest plane says whether a flip raises the energy,
  /// and the lowest one is the level where it does.
  __device__ void count(const Row& row, const Words<V>& own,
                        std::uint32_t (&number)[V][P]) const {
    if constexpr (Memory::short_rows) {
      Words<V> inputs[4];
      load_inputs(row, own, inputs);
#pragma unroll
      for (int v = 0; v < V; ++v) {
        std::uint32_t sum = inputs[0].of[v];
        const std::uint32_t two = full_add(sum, inputs[1].of[v], inputs[2].of[v]);
        number[v][P - 1] = two & (sum | inputs[3].of[v]);
        number[v][0] = two & sum & inputs[3].of[v];
#pragma unroll
        for (int k = 1; k < P - 1; ++k) number[v][k] = 0;
      }
    } else {
      count_row_of_words<P, V>(
          kernel.model.groups, row.row, own, [this](std::uint32_t i) { return words.load(i); },
          number);
    }
  }
  /// The inputs of a short row.
  __device__ void load_inputs(const Row& row, const Words<V>& own, Words<V> (&inputs)[4]) const {
    const std::uint32_t entries[4] = {row.inputs.x, row.inputs.y, row.inputs.z, row.inputs.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      // The lane adds its word to the address.
      inputs[i] = words.load_from((entries[i] & ShortRows::address_mask) | 4 * words.word);
      const auto sign = static_cast<std::uint32_t>(static_cast<std::int32_t>(entries[i]) >> 31);
#pragma unroll
      for (int v = 0; v < V; ++v) inputs[i].of[v] ^= own.of[v] ^ sign;
    }
  }

  /// The numbers of a site whose sums are energies.
  __device__ void count_half(std::uint32_t site, std::uint32_t end,
                             std::uint32_t (&number)[V][P]) const {
    if constexpr (Memory::short_rows) {
      const Row of = row(site, end);
      Words<V> inputs[4];
      load_inputs(of, words.load(index_of(site, of)), inputs);
#pragma unroll
      for (int v = 0; v < V; ++v) {
        const std::uint32_t counted = of.real() ? 0xFFFFFFFFu : 0u;
        std::uint32_t sum = inputs[0].of[v];
        const std::uint32_t two = full_add(sum, inputs[1].of[v], inputs[2].of[v]);
        number[v][0] = counted & (sum ^ inputs[3].of[v]);
        number[v][1] = counted & (two ^ (sum & inputs[3].of[v]));
        number[v][2] = counted & two & sum & inputs[3].of[v];
#pragma unroll
        for (int k = 3; k < P; ++k) number[v][k] = 0;
      }
    } else {
      GroupSite of;
      if (site < end) of = load_site(kernel.model.half_groups.sites.data + site);
      const Words<V> own = words.load(
          static_cast<std::uint32_t>(of.variable < 0 ? kernel.model.n_variables : of.variable));
      count_row_of_words<P, V>(
          kernel.model.half_groups, of, own, [this](std::uint32_t i) { return words.load(i); },
          number);
    }
  }

  /// The states of the word of a site.
  __device__ std::uint32_t* state_of(std::uint32_t site, std::uint32_t w) const {
    if constexpr (Memory::short_rows) return memory.states + site * W + w;
    const std::int64_t variable = kernel.model.groups.sites[site].variable;
    if constexpr (Memory::shared) return memory.states + variable * W + w;
    return kernel.state.data + variable * kernel.state.stride + first_word + w;
  }

  /// The sites of a class from the first one of the warp on.
  struct Range {
    std::uint32_t first, end, stride;
  };
  __device__ Range range_of(std::int32_t c) const {
    const std::uint32_t warps = blockDim.x / 32;
    const std::uint32_t number = blockIdx.y * warps + threadIdx.x / 32;
    return {4u * static_cast<std::uint32_t>(kernel.model.class_begin[c]) + number * n_sites,
            4u * static_cast<std::uint32_t>(kernel.model.class_begin[c + 1]),
            gridDim.y * warps * n_sites};
  }
};

}  // namespace
}  // namespace kiln::cuda
