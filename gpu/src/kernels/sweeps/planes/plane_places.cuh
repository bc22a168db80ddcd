// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "kernels/sweeps/slice_places.cuh"
#include "plane_count.cuh"
#include "plane_memory.cuh"
#include "plane_short_rows.cuh"

/// The places of a warp, and the numbers u of GroupSite there. A block holds W words of 32
/// replicas. A lane works on V words of a site at a time, so the lanes of a warp have 32 V / W
/// sites.
namespace kiln::cuda {
namespace {

/// The words of a lane. Those of a variable are read at once; in the batch two words need rows that
/// begin at even places.
template <int W, int V, bool kShared>
struct LaneWords {
  const std::uint32_t word;         // the first one of the lane in the block
  const std::uint32_t n_variables;  // rows from there on are 0 where they are not in shared memory
  bool has_word;
  std::uint32_t on_chip = 0;          // the address of the words of row 0
  unsigned char* in_batch = nullptr;  // or where they are
  std::uint32_t row_bytes = 0;

  __device__ LaneWords(const MetropolisSweep& k, std::int64_t first_word, std::uint32_t* states)
      : word(kept(threadIdx.x % (W / V) * V)),
        n_variables(static_cast<std::uint32_t>(k.model.n_variables)),
        has_word(first_word + word < k.state.columns) {
    if constexpr (kShared) {
      on_chip = static_cast<std::uint32_t>(__cvta_generic_to_shared(states + word));
    } else {
      in_batch = reinterpret_cast<unsigned char*>(k.state.data + first_word + word);
      row_bytes = static_cast<std::uint32_t>(k.state.stride * 4);
    }
  }
  __device__ void* at(std::uint32_t row) const {
    if constexpr (kShared) return __cvta_shared_to_generic(on_chip + row * (4 * W));
    return in_batch + wide_product(row, row_bytes);
  }
  __device__ static Words<V> load_from(const void* at) {
    Words<V> words;
    if constexpr (V == 4) {
      const uint4 x = *static_cast<const uint4*>(at);
      words.of[0] = x.x, words.of[1] = x.y, words.of[2] = x.z, words.of[3] = x.w;
    } else if constexpr (V == 2) {
      const uint2 x = *static_cast<const uint2*>(at);
      words.of[0] = x.x, words.of[1] = x.y;
    } else {
      words.of[0] = *static_cast<const std::uint32_t*>(at);
    }
    return words;
  }
  __device__ Words<V> load(std::uint32_t row) const {
    if constexpr (kShared) return load_from(at(row));
    Words<V> words = {};
    if (has_word && row < n_variables) words = load_from(at(row));
    return words;
  }
  __device__ void store(std::uint32_t row, const Words<V>& words) const {
    if (!kShared && !has_word) return;
    if constexpr (V == 4) {
      *static_cast<uint4*>(at(row)) =
          make_uint4(words.of[0], words.of[1], words.of[2], words.of[3]);
    } else if constexpr (V == 2) {
      *static_cast<uint2*>(at(row)) = make_uint2(words.of[0], words.of[1]);
    } else {
      *static_cast<std::uint32_t*>(at(row)) = words.of[0];
    }
  }
};

/// The row of a site, of a lane behind the sites, or of a site without a variable. It stays as it
/// was loaded until it is used: so nothing waits for a row that is read early.
template <PlaneRows kRows>
struct PlaneRow {  // a StagedSite
  uint4 words = {0, 0, 0xFFFFFFFFu, 0};
  __device__ bool real() const { return static_cast<std::int32_t>(words.z) >= 0; }
  __device__ std::uint32_t even() const { return 0u - (words.w >> 16 & 1u); }
  __device__ GroupSite site() const {
    return {words.x, static_cast<std::uint16_t>(words.w & 0xFFu),
            static_cast<std::uint16_t>(words.w >> 8 & 0xFFu), static_cast<std::int32_t>(words.z),
            static_cast<std::int32_t>(words.w) >> 16};
  }
};
template <>
struct PlaneRow<PlaneRows::off_chip> {  // a GroupSite
  uint4 words = {0, 0, 0xFFFFFFFFu, 0};
  __device__ bool real() const { return static_cast<std::int32_t>(words.z) >= 0; }
  __device__ std::uint32_t even() const { return 0u - (words.w & 1u); }
  __device__ GroupSite site() const { return site_of(words); }
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

template <>
struct PlaneRow<PlaneRows::four_on_chip> {
  uint4 inputs[2];  // sites and weights
  bool in_range;
  __device__ bool real() const { return in_range; }
  __device__ std::uint32_t even() const { return 0xFFFFFFFFu; }
};

/// Starts to copy four bytes from where more will be read soon, so that they are in the cache of
/// the multiprocessor then. A load without a use would be left out by the compiler.
__device__ inline void bring_near(const void* from, std::uint32_t* unused) {
  const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(unused));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from));
}

/// What a lane reads of the model and the states.
template <int W, int V, int P, PlaneRows kRows>
struct PlanePlaces {
  using Memory = PlaneMemory<W, V, P, kRows>;
  using Row = PlaneRow<kRows>;
  static constexpr int lanes_of_site = W / V;
  static constexpr std::uint32_t n_sites = 32 / lanes_of_site;

  const MetropolisSweep& kernel;
  const std::int64_t first_word;
  const Memory& memory;
  const std::uint32_t lane, place;  // the lane's site of those of the warp
  const std::uint32_t lanes_below;
  const LaneWords<W, V, Memory::shared> words;

  __device__ PlanePlaces(const MetropolisSweep& k, std::int64_t first, const Memory& m)
      : kernel(k),
        first_word(first),
        memory(m),
        lane(kept(threadIdx.x % 32)),
        place(kept(lane / lanes_of_site)),
        lanes_below(kept((1u << lane) - 1)),
        words(k, first, m.states) {}

  /// What is at a place of the sweep: a site of StagedView on chip, else a site.
  __device__ Row row(std::uint32_t site, std::uint32_t end) const {
    Row of;
    if constexpr (Memory::short_rows) {
      of.in_range = site < end;
      of.inputs = memory.rows[of.in_range ? site : 0u];
    } else if constexpr (Memory::four_rows) {
      of.in_range = site < end;
      const auto* const entries = reinterpret_cast<const uint4*>(kernel.model.entries.data);
      const uint4* const from = entries + 2 * static_cast<std::size_t>(of.in_range ? site : 0u);
      of.inputs[0] = __ldg(from), of.inputs[1] = __ldg(from + 1);
    } else {
      if (site < end) of.words = __ldg(rows() + site);
    }
    return of;
  }
  __device__ static std::uint32_t site_at(std::uint32_t place, const Row& row) {
    if constexpr (Memory::staged) {
      return row.words.y;
    } else {
      return place;
    }
  }
  /// Where the words of a site are.
  __device__ std::uint32_t index_of(std::uint32_t site, const Row& row) const {
    if constexpr (Memory::by_site) {
      return row.in_range ? site : 0u;
    } else {
      return row.real() ? row.words.z : static_cast<std::uint32_t>(kernel.model.n_variables);
    }
  }

  /// The numbers of a site. Of a short row they are one more than its inputs that are 1.
  template <bool kAhead = false>
  __device__ void count(const Row& row, const Words<V>& own, std::uint32_t (&number)[V][P]) const {
    if constexpr (Memory::by_site) {
      static_assert(P == 3);
      Words<V> inputs[4];
      load_inputs(row, own, inputs);
#pragma unroll
      for (int v = 0; v < V; ++v) {
        std::uint32_t sum = inputs[0].of[v];
        const std::uint32_t two = full_add(sum, inputs[1].of[v], inputs[2].of[v]);
        const std::uint32_t carry = sum | inputs[3].of[v];
        number[v][0] = ~(sum ^ inputs[3].of[v]);
        number[v][1] = two ^ carry;
        number[v][2] = two & carry;
      }
    } else {
      count_groups<kAhead>(kernel.model.groups, row.site(), own, number);
    }
  }

  /// Planes that suffice for most rows: hubs are few, and their rows long.
  static constexpr int few_planes = P == 7 ? 6 : P > 5 ? 5 : P;

  /// The numbers of a row of groups, with few planes if the whole warp can do with them.
  template <bool kAhead>
  __device__ void count_groups(const GroupView& rows, const GroupSite& row, const Words<V>& own,
                               std::uint32_t (&number)[V][P]) const {
    const auto load = [this](std::uint32_t i) { return words.load(i); };
    if constexpr (few_planes < P) {
      constexpr int n_groups = ((1 << few_planes) - 2) / 4;  // of weight 1 and the site's own bit
      const bool few = row.n_negative + row.n_positive <= n_groups;
      if (rows.one_plane && !kernel.model.has_fields && __all_sync(whole_warp, few) != 0) {
        std::uint32_t low[V][few_planes];
        count_row_of_words<true, kAhead || P == 8>(rows, row, own, load, low);
#pragma unroll
        for (int v = 0; v < V; ++v) {  // as the same distance from the centre of more planes
          const std::uint32_t top = low[v][few_planes - 1];
#pragma unroll
          for (int k = 0; k < P - 1; ++k) number[v][k] = k < few_planes - 1 ? low[v][k] : ~top;
          number[v][P - 1] = top;
        }
        return;
      }
    }
    count_row_of_words<false, kAhead || P == 8>(rows, row, own, load, number);
  }

  /// The inputs of a short row.
  __device__ void load_inputs(const Row& row, const Words<V>& own, Words<V> (&inputs)[4]) const {
    std::uint32_t entries[4];
    if constexpr (Memory::short_rows) {
      entries[0] = row.inputs.x, entries[1] = row.inputs.y;
      entries[2] = row.inputs.z, entries[3] = row.inputs.w;
    } else {  // the sign of a number has the place of that of a coupling
      entries[0] = row.inputs[0].y, entries[1] = row.inputs[0].w;
      entries[2] = row.inputs[1].y, entries[3] = row.inputs[1].w;
      inputs[0] = words.load(row.inputs[0].x), inputs[1] = words.load(row.inputs[0].z);
      inputs[2] = words.load(row.inputs[1].x), inputs[3] = words.load(row.inputs[1].z);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if constexpr (Memory::short_rows) {
        // The lane adds its word to the address.
        inputs[i] = words.load_from(
            __cvta_shared_to_generic((entries[i] & ShortRows::address_mask) | 4 * words.word));
      }
      const auto sign = static_cast<std::uint32_t>(static_cast<std::int32_t>(entries[i]) >> 31);
#pragma unroll
      for (int v = 0; v < V; ++v) inputs[i].of[v] ^= own.of[v] ^ sign;
    }
  }

  /// The numbers of a site whose sums are energies; 0 where there is no variable.
  __device__ void count_half(std::uint32_t site, std::uint32_t end,
                             std::uint32_t (&number)[V][P]) const {
    bool real;
    if constexpr (Memory::by_site) {
      const Row of = row(site, end);
      count(of, words.load(index_of(site, of)), number);
      real = of.real();
    } else {
      GroupSite of;
      if (site < end) of = load_site(kernel.model.half_groups.sites.data + site);
      real = of.variable >= 0;
      const Words<V> own =
          words.load(static_cast<std::uint32_t>(real ? of.variable : kernel.model.n_variables));
      count_groups<false>(kernel.model.half_groups, of, own, number);
    }
    const std::uint32_t counted = real ? 0xFFFFFFFFu : 0u;
#pragma unroll
    for (int v = 0; v < V; ++v) {
#pragma unroll
      for (int k = 0; k < P; ++k) number[v][k] &= counted;
    }
  }

  /// The states of a word of the block.
  __device__ std::uint32_t* state_at(std::uint32_t index, std::uint32_t w) const {
    if constexpr (Memory::shared) return memory.states + index * W + w;
    return kernel.state.data + index * kernel.state.stride + first_word + w;
  }
  __device__ std::uint32_t* state_of(std::uint32_t site, std::uint32_t w) const {
    if constexpr (Memory::by_site) return state_at(site, w);
    return state_at(static_cast<std::uint32_t>(kernel.model.groups.sites[site].variable), w);
  }

  /// The places of a class for the warp: from `first` on, `stride` apart.
  struct Range {
    std::uint32_t first = 0, end = 0;
  };
  __device__ Range range_of(std::int32_t c, const ClassRange& classes) const {
    if (c >= classes.end) return {};
    const std::uint32_t number = blockIdx.y * (blockDim.x / 32) + threadIdx.x / 32;
    if constexpr (Memory::staged) {
      const std::int32_t* const begin = kernel.model.staged.begin.data + c;
      return {static_cast<std::uint32_t>(__ldg(begin)) + number * n_sites,
              static_cast<std::uint32_t>(__ldg(begin + 1))};
    }
    return {4u * static_cast<std::uint32_t>(kernel.model.class_begin[c]) + number * n_sites,
            4u * static_cast<std::uint32_t>(kernel.model.class_begin[c + 1])};
  }
  __device__ std::uint32_t stride() const { return gridDim.y * (blockDim.x / 32) * n_sites; }

  __device__ const uint4* rows() const {
    if constexpr (Memory::staged) {
      return reinterpret_cast<const uint4*>(kernel.model.staged.sites.data);
    } else {
      return reinterpret_cast<const uint4*>(kernel.model.groups.sites.data);
    }
  }
  /// Brings the terms of a row near before they are needed: the lanes of a site some bytes each.
  __device__ void touch(const Row& row) const {
    if constexpr (!Memory::by_site) {
      const GroupSite of = row.site();
      const auto* const groups =
          reinterpret_cast<const uint4*>(kernel.model.groups.terms.data) + of.first_group;
      const std::uint32_t n = of.n_negative + of.n_positive;
      const std::uint32_t at = lane % lanes_of_site * 2;  // a sector has two groups
      if (at < n) bring_near(groups + at, &memory.block.unused);
    }
  }
};

}  // namespace
}  // namespace kiln::cuda
