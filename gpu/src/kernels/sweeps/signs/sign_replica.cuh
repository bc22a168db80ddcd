// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/rng_domains.hpp"
#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "kernels/sweeps/metropolis_sweep_warps.hpp"
#include "kernels/sweeps/slice_draws.cuh"
#include "kernels/sweeps/sweep_decision.cuh"
#include "sign_attempts.cuh"
#include "sign_fields.cuh"

// A replica of a model of couplings 1 and -1 in the registers of its warps.
namespace kiln::cuda {
namespace {

constexpr int rows_at_once = sign_rows_at_once, few_rows = 3;  // that three and two planes hold
constexpr int sites_of_word = 1024;                            // of a warp

/// What the owner of a stretch hands to the other warps of its replica.
struct HandedSigns {
  int field[4];
  std::uint32_t bytes;  // see the use
};

template <int bytes>
__device__ inline void copy_words(std::uint32_t* to, const std::uint32_t* from) {
  const auto target = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
               :
               : "r"(target), "l"(from), "n"(bytes)
               : "memory");
}
__device__ inline void copy_block(std::uint32_t* to, const std::uint32_t* from) {
  const auto target = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(target), "l"(from) : "memory");
}
__device__ inline void wait_for_words() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/// One replica.
template <int L, int W, int P>
struct SignReplica {
  const MetropolisSweep& kernel;
  SignRows rows;
  std::int64_t slot;
  int warp, lane;
  const std::uint32_t* row_words;  // of this lane
  const std::uint32_t* blocks;     // word of this lane in the block of each site
  std::uint32_t* copies;           // of this lane: words of rows, in pairs as in the batch
  const std::uint32_t* entered;    // of the batch, [row_words]
  const std::uint32_t* sites;      // 1 where there is a variable, [row_words]
  HandedSigns (*handed)[32];       // two stretches; null for one warp
  PlaneFields<L, P> fields;
  int rest = 0;     // to be added to all fields
  int pending = 0;  // rows that were not added
  int turn = 0;     // stretches that were handed over
  std::uint32_t sweep = 0;

  // Words go in pairs, and pair p is in warp p % W.
  __device__ int group(int l) const { return L == 1 ? 0 : 2 * (l / 2 * W + warp) + l % 2; }
  __device__ int word(int l) const {
    return L == 1 ? lane : 64 * (l / 2 * W + warp) + 2 * lane + l % 2;
  }
  __device__ bool there(int l) const { return group(l) < rows.groups(); }
  /// Row k of what is kept for the replica, at word l.
  __device__ std::uint32_t* kept(int k, int l) const {
    return static_cast<std::uint32_t*>(kernel.model.dense.fields) + slot * rows.n_sites +
           k * rows.row_words() + word(l);
  }
  __device__ void read(int k, std::uint32_t (&words)[L]) const {
    if constexpr (L == 1) {
      words[0] = *kept(k, 0);
    } else {
#pragma unroll
      for (int l = 0; l < L; l += 2) {
        uint2 two = {0, 0};
        if (there(l)) two = *reinterpret_cast<const uint2*>(kept(k, l));
        words[l] = two.x, words[l + 1] = two.y;
      }
    }
  }
  __device__ void write(int k, const std::uint32_t (&words)[L]) const {
    if constexpr (L == 1) {
      *kept(k, 0) = words[0];
    } else {
#pragma unroll
      for (int l = 0; l < L; l += 2) {
        const uint2 two = {words[l], words[l + 1]};
        if (there(l)) *reinterpret_cast<uint2*>(kept(k, l)) = two;
      }
    }
  }

  /// Returns whether there are stored fields; else computes those of the state with all bits 0.
  __device__ bool load() {
    if ((kernel.model.dense.valid[slot] & dense_planes) == 0) {
      compute();
      return false;
    }
#pragma unroll
    for (int k = 0; k < P; ++k) read(k, fields.plane[k]);
    read(P, fields.parity);
    read(P + 1, fields.bits);
    return true;
  }
  /// In all warps of the replica: whether the batch has changed since the fields were stored.
  __device__ bool behind() const {
    bool changed = false;
#pragma unroll
    for (int l = 0; l < L; ++l) changed |= there(l) && fields.bits[l] != entered[word(l)];
    if constexpr (W > 1) return __syncthreads_or(changed) != 0;
    return __ballot_sync(whole_warp, changed) != 0;
  }
  /// Adds what is still to be added to all fields. Returns it: the number of rows since the last
  /// call.
  __device__ int settle() {
    const int added = rest;
    fields.add_everywhere(added);
    rest = 0;
    return added;
  }
  /// What sum_of_fields() was when the fields were stored.
  __device__ std::uint32_t& kept_sum() const {
    return kernel.model.dense.bits[slot * (rows.n_sites / 4) + 32 * warp + lane];
  }
  /// The sum of s F over the sites of this lane. @pre settled
  __device__ int sum_of_fields() const {
    std::uint32_t own[L];
#pragma unroll
    for (int l = 0; l < L; ++l) own[l] = there(l) ? sites[word(l)] : 0u;
    return fields.sum_of_fields(own);
  }
  /// The fields of the state with all bits 0.
  __device__ void compute() {
    fields = {};
#pragma unroll
    for (int l = 0; l < L; ++l) {
#pragma unroll 1
      for (int bit = 0; bit < 32; ++bit) {
        const int site = SignRows::site(group(l), lane, bit);
        if (site >= kernel.model.n_variables) continue;
        const int field = static_cast<int>(kernel.model.base[site]) + 1;
        fields.parity[l] |= static_cast<std::uint32_t>(field & 1) << bit;
#pragma unroll
        for (int k = 0; k < P; ++k) {
          fields.plane[k][l] |= static_cast<std::uint32_t>(field >> (k + 1) & 1) << bit;
        }
      }
    }
    write(P, fields.parity);
  }
  __device__ void store() const {
#pragma unroll
    for (int k = 0; k < P; ++k) write(k, fields.plane[k]);
    write(P + 1, fields.bits);
  }
  /// Writes the changed bits to the batch. Returns the sum of s h over them.
  __device__ double publish() const {
    std::uint32_t* const column = kernel.state.data + slot / 32;
    double sum = 0;
#pragma unroll
    for (int l = 0; l < L; ++l) {
      if (!there(l)) continue;
      for (std::uint32_t left = fields.bits[l] ^ entered[word(l)]; left != 0; left &= left - 1) {
        const int bit = __ffs(static_cast<int>(left)) - 1;
        const int site = SignRows::site(group(l), lane, bit);
        // 32 replicas share a word of the batch.
        atomicXor(column + site * kernel.state.stride, 1u << (slot % 32));
        if (!kernel.model.has_fields) continue;
        const double h = kernel.model.field[site];
        sum += (fields.bits[l] >> bit & 1u) != 0 ? -h : h;
      }
    }
    return sum;
  }

  /// The row of a spin -1 that flips, and behind it that of a spin 1.
  __device__ const std::uint32_t* row(int site) const {
    return row_words + 2 * static_cast<std::int64_t>(site) * rows.row_words();
  }
  /// Notes a flip: copies its row, which add_rows() adds.
  __device__ void flip(const std::uint32_t* from) {
#pragma unroll
    for (int l = 0; l < L; ++l) {
      if (l % 2 == 0 && there(l)) {
        copy_words<L == 1 ? 4 : 8>(copies + (pending * L + l) * 32, from + l * W * 32);
      }
    }
    if (++pending == rows_at_once) add_pending<rows_at_once>();
  }
  __device__ void add_rows() {
    if (pending > few_rows) {
      add_pending<rows_at_once>();
    } else if (pending > 0) {
      add_pending<few_rows>();
    }
  }
  template <int R>
  __device__ void add_pending() {
    wait_for_words();
#pragma unroll
    for (int l = 0; l < L; ++l) {
      std::uint32_t bits[rows_at_once] = {};
#pragma unroll
      for (int k = 0; k < R; ++k) {
        if (k < pending) bits[k] = copies[(k * L + l / 2 * 2) * 32 + l % 2];
      }
      fields.subtract_twice(l, BitSum(bits));
    }
    rest += pending;
    pending = 0;
  }

  __device__ QuadPlace<L> place_of(int stretch) const {
    if constexpr (L == 1) return {0, stretch};
    const int pair = stretch / 16;
    return {pair % W == warp ? pair / W * 2 + stretch / 8 % 2 : -1, stretch % 8};
  }
  /// What all warps of the replica know of a stretch; the owner calls of(cell) first.
  template <class Of>
  __device__ HandedSigns shared_by_warps(int stretch, const Of& of) {
    HandedSigns mine;
    if constexpr (W == 1) {
      of(mine);
      return mine;
    } else {
      HandedSigns& cell = handed[turn++ % 2][lane];
      if (stretch / 16 % W == warp) {
        of(mine);
        cell = mine;
      }
      __syncthreads();
      return cell;
    }
  }

  /// Brings the fields up to date with the batch.
  __device__ void catch_up(int stretches) {
    for (int t = 0; t < stretches; ++t) {
      const QuadPlace<L> place = place_of(t);
      const HandedSigns now = shared_by_warps(t, [&](HandedSigns& cell) {
        std::uint32_t changed[L];
#pragma unroll
        for (int l = 0; l < L; ++l) changed[l] = there(l) ? fields.bits[l] ^ entered[word(l)] : 0u;
        cell.bytes = place.bytes(fields.bits) | place.bytes(changed) << 4;
      });
      const std::uint32_t down = nibble_of(now.bytes & first_of_bytes);
      const std::uint32_t changed = nibble_of(now.bytes >> 4 & first_of_bytes);
      for (unsigned lanes = __ballot_sync(whole_warp, changed != 0); lanes != 0;
           lanes &= lanes - 1) {
        const int from = __ffs(static_cast<int>(lanes)) - 1;
        const std::uint32_t both = __shfl_sync(whole_warp, down | changed << 4, from);
        for (std::uint32_t left = both >> 4; left != 0; left &= left - 1) {
          const int i = __ffs(static_cast<int>(left)) - 1;
          const int up = (both >> i & 1u) != 0 ? 0 : 1;
          flip(row(SignRows::stretch * t + 4 * from + i) + up * rows.row_words());
        }
      }
      place.flip(fields.bits, changed);
    }
    add_rows();
  }

  /// Whether a lane's site, which perhaps accepts, accepts; in all lanes.
  __device__ bool exactly(const QuadAttempts& quad, const QuadDrawn& drawn,
                          const LargestHalves& largest, int site) const {
    bool taken = false;
    if (lane == site / 4) {
      const Words4& words = drawn.words;
      const std::uint32_t even = (site & 2) != 0 ? words.word[2] : words.word[0];
      const std::uint32_t odd = (site & 2) != 0 ? words.word[3] : words.word[1];
      const std::uint32_t word = (site & 1) != 0 ? odd : even;
      const int change = quad.half_change(largest, word, site % 4);
      taken = change <= 0 ||
              accept_exactly<SweepRule::metropolis>(kernel, slot, 2.0 * change, word, sweep);
    }
    return __ballot_sync(whole_warp, taken) != 0;
  }

  __device__ void sweep_stretch(int stretch, const QuadDrawn& drawn, const LargestHalves& largest) {
    const QuadPlace<L> place = place_of(stretch);
    const HandedSigns now = shared_by_warps(stretch, [&](HandedSigns& cell) {
      fields.of_quad(place, rest, cell.field);
      cell.bytes = place.bytes(fields.bits);
    });
    const int first_site = SignRows::stretch * stretch;
    QuadAttempts quad(drawn, now.field, now.bytes ^ first_of_bytes, lane);
    if (first_site + SignRows::stretch > kernel.model.n_variables) {
      quad.end_at(kernel.model.n_variables - first_site - 4 * lane);
    }
    const std::uint32_t* const block = blocks + first_site * SignRows::block_words;
    const char* const first_row = reinterpret_cast<const char*>(row(first_site));
    const unsigned row_bytes = 4 * static_cast<unsigned>(rows.row_words());
    std::uint32_t flipped = 0;
    for (std::uint32_t chosen = quad.first(); chosen != ~0u; chosen = quad.next()) {
      const int site = static_cast<int>(chosen >> 2);
      const std::uint32_t word = block[site * SignRows::block_words];
      if ((chosen & 1u) != 0 && !exactly(quad, drawn, largest, site)) continue;
      const std::uint64_t offset = static_cast<std::uint64_t>(chosen >> 1) * row_bytes;
      flip(reinterpret_cast<const std::uint32_t*>(first_row + offset));
      quad.add(word >> (lane % 8), (chosen & 2u) != 0);
      // A shift by 32 or more, also that of another lane's site, gives 0.
      flipped |= __funnelshift_lc(0u, 1u, static_cast<unsigned>(site - 4 * lane));
    }
    place.flip(fields.bits, flipped & 15u);
  }

  __device__ void sweep_all(int stretches) {
    const std::uint64_t step = kernel.control->step + kernel.number_of(sweep);
    const std::uint64_t key = kernel.draw_ids.key[slot];
    const StepDraws draws(step);
    const ComputedKeys key_pair{low_word(key), high_word(key)};
    const std::uint64_t product = draws.of_replica(kernel.draw_ids.replica[slot], key);
    const LargestHalves largest(beta_log2e_of(kernel, slot, sweep));
    const auto draw = [&](int t) {
      ComputedKeys keys = key_pair;
      // Not kept for all rounds, which takes 20 registers.
      if constexpr (L == 4) asm volatile("" : "+r"(keys.key0), "+r"(keys.key1));
      const QuadDraws quad(draws, keys, static_cast<std::uint32_t>(32 * t + lane));
      return QuadDrawn(draw_of(keys, quad, high_word(product), low_word(product)), largest);
    };
    if constexpr (L < 4) {
      QuadDrawn drawn = draw(0);
      for (int t = 0; t < stretches; ++t) {
        sweep_stretch(t, drawn, largest);
        drawn = draw(t + 1);  // while rows are on their way
        add_rows();
      }
    } else {  // the words would not fit into registers beside the rows
      for (int t = 0; t < stretches; ++t) {
        sweep_stretch(t, draw(t), largest);
        add_rows();
      }
    }
  }
};

}  // namespace
}  // namespace kiln::cuda
