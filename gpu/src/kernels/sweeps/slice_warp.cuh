// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "slice_places.cuh"
#include "slice_tables.cuh"

// The sweep of a warp that counts neighbours: the planes of a place hold the number that is the
// index of a table of thresholds by temperature and energy change.
namespace kiln::cuda {
namespace {

// The numbers of a lane at 32 places, see Exchange::by_replica.
template <int P>
struct Numbers {
  std::uint32_t of[Format<P>::bits];

  // The index of the table at a place.
  __device__ std::uint32_t index(std::uint32_t place, std::uint32_t evens) const {
    const std::uint32_t i = place / 8, j = place % 8;
    if constexpr (Format<P>::bits == 4) return of[j % 4] >> (4 * (2 * i + j / 4)) & 15u;
    const std::uint32_t number = of[j] >> (8 * i) & 255u;
    return Format<P>::even_in_place ? number : number | (evens >> place & 1u) << P;
  }
};

template <int W>
struct Decisions {
  std::uint32_t accepted = 0;
  std::uint32_t sum[W] = {};  // of accepted entries, in bytes from the beginning of the table
};

// Decides 32 places of a lane one by one by the definition: for blocks of more temperatures than
// they have tables, and where a word is 2^32 - 1, which a table's entry for 2^32 does not accept.
template <int W, int P>
__device__ __noinline__ Decisions<W> decide_plainly(const MetropolisSweep& kernel,
                                                    std::uint32_t sweep, std::int64_t first_word,
                                                    Numbers<P> numbers, std::uint32_t first_quad,
                                                    std::uint32_t evens) {
  Decisions<W> result;
  for (std::uint32_t j = 0; j < 8; ++j) {
    const auto w = static_cast<std::int64_t>(j % W);
    if (first_word + w >= kernel.state.columns) continue;
    const std::int64_t slot = (first_word + w) * 32 + threadIdx.x % 32;
    const Words4 words = draw_plainly(kernel, sweep, slot, first_quad + j / W);
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t index = numbers.index(8 * i + j, evens);
      const double delta = 2.0 * Format<P>::half_change(index);
      if (words.word[i] >= threshold_of(kernel, kernel.beta_of(sweep)[kernel.rung_of[slot]], delta))
        continue;
      result.accepted |= 1u << (8 * i + j);
      result.sum[w] += index * 4;
    }
  }
  return result;
}

// The words of a lane, by variable; that of n_variables is 0.
template <int W, bool kShared>
struct WordsOfLane {
  const std::uint32_t* begin;
  std::int64_t stride;
  std::uint32_t n_variables;
  bool has_word;

  __device__ std::uint32_t operator()(std::uint32_t variable) const {
    if constexpr (kShared) return begin[variable * W];
    return has_word && variable < n_variables ? begin[variable * stride] : 0u;
  }
};

// Decides 32 places of a lane where a site has more neighbours than the warp counts, from numbers
// of 16 bits. Adds what the sites do to the totals of the block: few models have such sites, in few
// quads, so registers for it would cost more.
template <int W, int P, class Load>
__device__ __noinline__ std::uint32_t decide_hubs(const MetropolisSweep& kernel,
                                                  std::uint32_t sweep, std::int64_t first_word,
                                                  GroupSite row, std::uint32_t own, Load load,
                                                  std::uint32_t first_quad, std::uint32_t moves,
                                                  std::uint32_t (&totals)[2][32 * W]) {
  constexpr int n_planes = 16;
  const unsigned lane = threadIdx.x % 32;
  const Exchange exchange(lane);
  std::uint32_t planes[n_planes];
  count_row(kernel.model.groups, row, own, load, planes);
#pragma unroll
  for (int k = 0; k < n_planes; ++k) planes[k] = exchange.transposed(planes[k]);
  const std::uint32_t evens = __ballot_sync(whole_warp, (row.start_and_even & 1) != 0);
  moves &= __ballot_sync(whole_warp, row.variable >= 0);
  std::uint32_t accepted = 0;
  for (std::uint32_t j = 0; j < 8; ++j) {
    const auto w = static_cast<std::int64_t>(j % W);
    if (first_word + w >= kernel.state.columns) continue;
    const std::int64_t slot = (first_word + w) * 32 + lane;
    const Words4 words = draw_plainly(kernel, sweep, slot, first_quad + j / W);
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t place = 8 * i + j;
      if ((moves >> place & 1u) == 0) continue;
      int number = 0;
#pragma unroll
      for (int k = 0; k < n_planes; ++k) number |= static_cast<int>(planes[k] >> place & 1u) << k;
      const int half = 2 * number + static_cast<int>(evens >> place & 1u) + 1 - (1 << n_planes);
      if (words.word[i] >=
          threshold_of(kernel, kernel.beta_of(sweep)[kernel.rung_of[slot]], 2.0 * half)) {
        continue;
      }
      accepted |= 1u << place;
      atomicAdd(&totals[0][32 * w + lane], static_cast<std::uint32_t>(half + (1 << P) - 1));
      atomicAdd(&totals[1][32 * w + lane], 1u);
    }
  }
  return accepted;
}

// The sweep of one warp.
template <int W, int P, bool kShared, bool kHubs>
struct Warp : Places<W> {
  using Places<W>::kernel, Places<W>::lane, Places<W>::word, Places<W>::quad, Places<W>::site,
      Places<W>::has_word, Places<W>::first_word, Places<W>::exchange, Places<W>::moves,
      Places<W>::sites_of_word;
  using Of = Format<P>;

  const Memory<W, P>& memory;
  std::uint32_t (&totals)[2][32 * W];  // of the block
  std::uint32_t sum[W] = {}, flips[W] = {}, even_flips[W] = {};

  __device__ Warp(const Places<W>& places, const Memory<W, P>& m,
                  std::uint32_t (&of_block)[2][32 * W])
      : Places<W>(places), memory(m), totals(of_block) {}

  __device__ std::uint32_t* at(std::uint32_t variable) const {
    if constexpr (kShared) return memory.states + variable * W + word;
    return kernel.state.data + variable * kernel.state.stride + first_word + word;
  }
  __device__ std::uint32_t load(std::uint32_t variable) const {
    if constexpr (kShared) return *at(variable);
    return has_word && variable < static_cast<std::uint32_t>(kernel.model.n_variables)
               ? *at(variable)
               : 0u;
  }

  // The place in its table of a number, in bytes.
  __device__ static std::uint32_t entry_of(const Numbers<P>& numbers, int i, int j,
                                           std::uint32_t evens) {
    if constexpr (Of::bits == 4) {
      const std::uint32_t x = numbers.of[j % 4];
      const int shift = 4 * (2 * i + j / 4) - 2;
      return (shift < 0 ? x << 2 : x >> shift) & Of::mask;
    } else {
      const std::uint32_t x = numbers.of[j];
      const std::uint32_t entry = (i == 0 ? x << 2 : x >> (8 * i - 2)) & Of::mask;
      if constexpr (Of::even_in_place) return entry;
      return entry | (evens >> (8 * i + j) & 1u) << (P + 2);
    }
  }

  // Decides the lane's 32 places.
  template <Draws kDraws>
  __device__ Decisions<W> decide(const Numbers<P>& numbers, std::uint32_t first_quad,
                                 std::uint32_t evens) const {
    if constexpr (kDraws == Draws::plain) {
      return decide_plainly<W, P>(kernel, this->sweep_in_row, first_word, numbers, first_quad,
                                  evens);
    }
    Decisions<W> result;
    std::uint32_t largest = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int w = j % W;
      const SlotEntry slot = this->slots[32 * w + lane];
      const Words4 words =
          this->template draw<kDraws>(slot, w, first_quad + static_cast<std::uint32_t>(j / W));
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t table = kDraws == Draws::one_table ? 0u : slot.z;
        const std::uint32_t entry = entry_of(numbers, i, j, evens);
        if (words.word[i] <
            *reinterpret_cast<const std::uint32_t*>(memory.tables + (table + entry))) {
          result.accepted |= 1u << (8 * i + j);
          result.sum[w] += entry;
        }
        largest = max(largest, words.word[i]);
      }
    }
    if (largest == all_words) {
      return decide_plainly<W, P>(kernel, this->sweep_in_row, first_word, numbers, first_quad,
                                  evens);
    }
    return result;
  }

  __device__ void count(const Decisions<W>& decisions, std::uint32_t real, std::uint32_t evens) {
#pragma unroll
    for (int w = 0; w < W; ++w) {
      const std::uint32_t mine = decisions.accepted & (sites_of_word << w) & real;
      sum[w] += decisions.sum[w];
      flips[w] += static_cast<std::uint32_t>(__popc(mine));
      if constexpr (!Of::even_in_place) {
        even_flips[w] += static_cast<std::uint32_t>(__popc(mine & evens));
      }
    }
  }

  template <Draws kDraws>
  __device__ void sweep_quads(std::uint32_t first_quad, std::uint32_t end) {
    GroupSite row;
    if (first_quad + quad < end) {
      row = load_site(kernel.model.groups.sites.data + 4 * (first_quad + quad) + site);
    }
    const bool real = row.variable >= 0;
    const auto variable = static_cast<std::uint32_t>(row.variable);
    const std::uint32_t own = real ? load(variable) : 0u;
    if constexpr (kHubs) {
      if (__any_sync(whole_warp, row.n_negative + row.n_positive >= hub_groups)) {
        return sweep_hubs(row, own, first_quad);
      }
    }
    std::uint32_t planes[P];
    count_row(
        kernel.model.groups, row, own, [&](std::uint32_t v) { return load(v); }, planes);
    const bool even = (row.start_and_even & 1) != 0;
    Numbers<P> numbers;
    constexpr int first = Of::even_in_place ? 1 : 0;
    if constexpr (Of::even_in_place) numbers.of[0] = even ? whole_warp : 0u;
#pragma unroll
    for (int k = first; k < Of::bits; ++k) numbers.of[k] = k - first < P ? planes[k - first] : 0u;
    numbers_of_planes(numbers.of);
    exchange.by_replica(numbers.of);
    const std::uint32_t evens = Of::even_in_place ? 0u : __ballot_sync(whole_warp, even);
    // A filler has the number 0, which adds nothing to a sum.
    const std::uint32_t real_places = __ballot_sync(whole_warp, real);
    const Decisions<W> decisions = decide<kDraws>(numbers, first_quad, evens);
    count(decisions, real_places, evens);
    const std::uint32_t flipped = exchange.transposed(decisions.accepted & moves);
    if (real && has_word) *at(variable) = own ^ flipped;
  }

  __device__ void sweep_hubs(const GroupSite& row, std::uint32_t own, std::uint32_t first_quad) {
    const WordsOfLane<W, kShared> words{
        kShared ? memory.states + word : kernel.state.data + first_word + word, kernel.state.stride,
        static_cast<std::uint32_t>(kernel.model.n_variables), has_word};
    const std::uint32_t accepted = decide_hubs<W, P>(kernel, this->sweep_in_row, first_word, row,
                                                     own, words, first_quad, moves, totals);
    const std::uint32_t flipped = exchange.transposed(accepted);
    if (row.variable >= 0 && has_word)
      *at(static_cast<std::uint32_t>(row.variable)) = own ^ flipped;
  }

  template <Draws kDraws>
  __device__ void sweep(const ClassRange& classes) {
    this->for_each_task(classes, [this](std::uint32_t first, std::uint32_t end) {
      sweep_quads<kDraws>(first, end);
    });
  }

  // Adds what the warp did to the totals of the block.
  __device__ void add_to_totals() const {
#pragma unroll
    for (int w = 0; w < W; ++w) {
      const int i = 32 * w + static_cast<int>(lane);
      std::uint32_t fours = sum[w];
      if constexpr (!Of::even_in_place) fours -= even_flips[w] * ((4u << P) - 2);
      atomicAdd(&totals[0][i], Of::even_in_place ? fours / 4 : fours / 2);
      atomicAdd(&totals[1][i], flips[w]);
    }
  }
};

}  // namespace
}  // namespace kiln::cuda
