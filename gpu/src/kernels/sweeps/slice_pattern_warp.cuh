// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "slice_patterns.cuh"
#include "slice_places.cuh"

// The sweep of a warp by patterns: the planes of a place hold the bits of its neighbours. The warp
// makes the tables of its sites for every task, so weights can be any numbers.
namespace kiln::cuda {
namespace {

template <int W>
struct PatternDecisions {
  std::uint32_t accepted = 0;
  double change[W] = {};  // of energies
};

// Decides the `open` places of a lane one by one by the definition, and adds what they accept to
// `result`.
template <int W, int P>
__device__ __noinline__ PatternDecisions<W> decide_exactly(
    const MetropolisSweep& kernel, std::int64_t first_word, Patterns<P> patterns,
    PatternTables<W, P> tables, std::uint32_t first_quad, std::uint32_t open,
    PatternDecisions<W> result) {
  for_open_places<W, 1>(
      kernel, first_word, first_quad, open,
      [&](std::int64_t slot, int j, int i, std::uint32_t word) {
        const double delta = tables.change(tables.of_place(i, j), patterns.entry(i, j));
        if (word >= threshold_of(kernel, kernel.beta[kernel.rung_of[slot]], delta)) return;
        result.accepted |= 1u << (8 * i + j);
        result.change[j % W] += delta;
      });
  return result;
}

template <int W, int P, bool kShared>
struct PatternWarp : Places<W> {
  using Places<W>::kernel, Places<W>::lane, Places<W>::word, Places<W>::quad, Places<W>::site,
      Places<W>::has_word, Places<W>::first_word, Places<W>::exchange, Places<W>::moves,
      Places<W>::sites_of_word;
  using Of = PatternFormat<P>;
  using Tables = PatternTables<W, P>;

  const Tables tables;
  std::uint32_t* const states;  // by site, if they are in shared memory
  const double beta;            // of the first slot
  const bool own_bit;           // is the highest of a pattern
  double change[W] = {};
  std::uint32_t flips[W] = {};

  __device__ PatternWarp(const Places<W>& places, Tables of_warp, std::uint32_t* of_block,
                         double first_beta)
      : Places<W>(places),
        tables(of_warp),
        states(of_block),
        beta(first_beta),
        own_bit(!kernel.model.integral || kernel.model.has_fields) {}

  __device__ std::uint32_t* at(std::uint32_t number) const {
    if constexpr (kShared) return states + number * W + word;
    return kernel.state.data + kernel.model.variable[number] * kernel.state.stride + first_word +
           word;
  }
  __device__ std::uint32_t load(std::uint32_t number) const {
    return kShared || has_word ? *at(number) : 0u;
  }

  // Reads the row of a site: what its tables are made of, and the planes of its pattern for the 32
  // replicas of a word.
  __device__ PatternRow<P> read_row(std::uint32_t number, std::uint32_t own,
                                    std::uint32_t (&planes)[P]) const {
    const PairwiseView& model = kernel.model;
    const std::int64_t begin = __ldg(model.row_begin.data + number);
    const auto n = static_cast<int>(__ldg(model.row_begin.data + number + 1) - begin);
    const uint4* const pairs = reinterpret_cast<const uint4*>(model.entries.data) + begin / 2;
    const double2* const weights =
        reinterpret_cast<const double2*>(model.weights_f64.data) + begin / 2;
    const bool wide = model.arithmetic == Arithmetic::wide;
    PatternRow<P> row;
    row.base = __ldg(model.base.data + number);
    const std::uint32_t turned = own_bit ? 0u : own;
#pragma unroll
    for (int k = 0; k < P; k += 2) {
      planes[k] = planes[k + 1] = 0u;
      if (k >= n) continue;
      const uint4 two = __ldg(pairs + k / 2);  // site, weight, site, weight
      const double2 w = wide ? __ldg(weights + k / 2)
                             : make_double2(__uint_as_float(two.y), __uint_as_float(two.w));
      planes[k] = load(two.x) ^ turned, planes[k + 1] = load(two.z) ^ turned;
      row.weight[k] = w.x, row.weight[k + 1] = w.y;
    }
    if (own_bit) planes[P - 1] = own, row.weight[P - 1] = 0;
    return row;
  }

  // Fills the table of the lane's site together with the lanes of its other words.
  template <Draws kDraws>
  __device__ void fill(const PatternRow<P>& row) const {
    unsigned char* const table =
        tables.begin + static_cast<std::uint32_t>(4 * quad + site) * Of::site_bytes;
    // The other pattern of a pair has the opposite energy change.
    const std::uint32_t other = own_bit ? Of::entries / 2 : Of::entries - 1;
#pragma unroll 2
    for (std::uint32_t m = 0; m < Of::entries / 2; m += W) {
      const std::uint32_t pattern = m + static_cast<std::uint32_t>(word);
      double sum = 0;  // of neighbours whose bit is 1, in the order of the row
#pragma unroll
      for (int k = 0; k < P - 1; ++k) {
        if ((pattern >> k & 1u) != 0) sum = exact::add(sum, row.weight[k]);
      }
      const double local = exact::sub(row.base, exact::add(sum, sum));
      const double delta = -exact::add(local, local);
      const std::uint32_t entry = pattern * 8, opposite = (pattern ^ other) * 8;
      tables.change(table, entry) = delta;
      tables.change(table, opposite) = -delta;
      uint2 both;
      if constexpr (kDraws == Draws::one_table) {
        both = thresholds_of(kernel, beta, delta);
      } else if (kernel.rule == SweepRule::heat_bath) {
        both = make_uint2(__float_as_uint(estimate_of<SweepRule::heat_bath>(delta)),
                          __float_as_uint(estimate_of<SweepRule::heat_bath>(-delta)));
      } else {
        both = make_uint2(__float_as_uint(estimate_of<SweepRule::metropolis>(delta)),
                          __float_as_uint(estimate_of<SweepRule::metropolis>(-delta)));
      }
      tables.decision(table, entry) = both.x;
      tables.decision(table, opposite) = both.y;
    }
  }

  // Decides the lane's 32 places; those that stay open have a word of 2^32 - 1, which the entry for
  // 2^32 does not accept, or no clear estimate.
  template <Draws kDraws, SweepRule kRule>
  __device__ PatternDecisions<W> decide(const Patterns<P>& patterns,
                                        std::uint32_t first_quad) const {
    PatternDecisions<W> result;
    std::uint32_t largest = 0, open = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int w = j % W;
      const SlotEntry slot = this->slots[32 * w + lane];
      const Words4 words =
          this->template draw<kDraws>(slot, w, first_quad + static_cast<std::uint32_t>(j / W));
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        unsigned char* const table = tables.of_place(i, j);
        const std::uint32_t entry = patterns.entry(i, j), place = 1u << (8 * i + j);
        const std::uint32_t decision = tables.decision(table, entry);
        bool take;
        if constexpr (kDraws == Draws::one_table) {
          take = words.word[i] < decision;
          largest = max(largest, words.word[i]);
        } else {
          const Sure sure = accept_by_estimate<kRule>(__uint_as_float(slot.z),
                                                      __uint_as_float(decision), words.word[i]);
          take = sure == Sure::yes;
          if (sure == Sure::unsure) open |= place;
        }
        if (take) {
          result.accepted |= place;
          result.change[w] += tables.change(table, entry);
        }
      }
    }
    if constexpr (kDraws == Draws::one_table) {
      if (largest == all_words) open = ~result.accepted;
    }
    if (open != 0) {
      return decide_exactly<W, P>(kernel, first_word, patterns, tables, first_quad, open, result);
    }
    return result;
  }

  template <Draws kDraws, SweepRule kRule>
  __device__ void sweep_quads(std::uint32_t first_quad, std::uint32_t end) {
    const std::uint32_t number = 4 * (first_quad + quad) + site;  // of the lane's site
    const bool real = first_quad + quad < end && __ldg(kernel.model.variable.data + number) >= 0;
    const std::uint32_t own = real ? load(number) : 0u;
    std::uint32_t planes[P] = {};
    PatternRow<P> row;
    if (real) row = read_row(number, own, planes);
    __syncwarp();  // the tables of the task before are no longer read
    fill<kDraws>(row);
    Patterns<P> patterns;
#pragma unroll
    for (int k = 0; k < Of::bits; ++k) patterns.of[k] = k < P ? planes[k] : 0u;
    numbers_of_planes(patterns.of);
    exchange.by_replica(patterns.of);
    const std::uint32_t real_places = __ballot_sync(whole_warp, real);
    __syncwarp();
    const PatternDecisions<W> decisions = decide<kDraws, kRule>(patterns, first_quad);
    // A filler has no weights: its flips, which do not count, change no energy.
#pragma unroll
    for (int w = 0; w < W; ++w) {
      change[w] += decisions.change[w];
      flips[w] += static_cast<std::uint32_t>(
          __popc(decisions.accepted & (sites_of_word << w) & real_places));
    }
    const std::uint32_t flipped = exchange.transposed(decisions.accepted & moves);
    if (real && has_word) *at(number) = own ^ flipped;
  }

  // Adds what the warp did to the totals of the block, [32 W] each.
  __device__ void add_to(double* changes, std::uint32_t* all_flips) const {
#pragma unroll
    for (int w = 0; w < W; ++w) {
      const int i = 32 * w + static_cast<int>(lane);
      atomicAdd(changes + i, change[w]);
      atomicAdd(all_flips + i, flips[w]);
    }
  }
};

}  // namespace
}  // namespace kiln::cuda
