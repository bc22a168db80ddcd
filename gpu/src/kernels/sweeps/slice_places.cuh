// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/rng_domains.hpp"
#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "slice_draws.cuh"
#include "slice_planes.cuh"
#include "sweep_shape.hpp"

/// What sweeps in slices have in common: the 32 places of a warp, and the draws of a lane.
///
/// A block holds W words (32 W replicas). A warp takes 8 / W quads of a class at a time, 32 places:
/// lane 8 i + W q + w first works on site i of quad q for the 32 replicas of word w, all at once,
/// in planes. A transpose then makes each lane one replica of every word, which decides 32 attempts
/// with its own words. A second transpose brings the flips back to their sites.
namespace kiln::cuda {
namespace {

constexpr int max_slice_threads = 512;            // 128 registers each
constexpr std::uint32_t all_words = 0xFFFFFFFFu;  // a threshold of 2^32 as tables hold it

// How a block draws and decides; the bits do not depend on it. One key and one temperature is the
// case of annealing, one key for each word that of tempering.
enum class Draws { one_table, key_of_word, key_of_slot, plain };

// Blocks with the same words share the sites of a class only if it is the only one of the launch.
struct ClassRange {
  std::int32_t first = 0, end = 0;
};

// What a block keeps of a slot: if the slots of a word have one key {high, low word of
// StepDraws::of_replica, what the kernel wants, 0}, else {low, high word of the key, what the
// kernel wants, replica}.
using SlotEntry = uint4;

using WordKeys = uint4[TabulatedKeys::quads];

// Whether all slots of a block, or of each of its words, have one key.
struct SharedKeys {
  bool of_block = false, of_words = false;
};

// Describes the slots and keys of a block; third(i) is what the kernel wants to know of slot i.
// Slots behind the batch are described like the last one.
template <int W, class Kernel, class Third>
__device__ SharedKeys describe_slots(const Kernel& kernel, const StepDraws& step,
                                     std::int64_t first_word, const Third& third, SlotEntry* slots,
                                     WordKeys* word_keys) {
  const std::int64_t last = kernel.state.columns * 32 - 1;
  const auto slot_of = [&](int i) { return min(first_word * 32 + i, last); };
  const View1<const std::uint64_t>& keys = kernel.draw_ids.key;
  bool one_key = true, key_of_word = true;
  for (int i = threadIdx.x; i < 32 * W; i += blockDim.x) {
    const std::uint64_t key = keys[slot_of(i)];
    one_key = one_key && key == keys[slot_of(0)];
    key_of_word = key_of_word && key == keys[slot_of(i / 32 * 32)];
  }
  one_key = __syncthreads_and(one_key) != 0;
  key_of_word = __syncthreads_and(key_of_word) != 0;
  for (int i = threadIdx.x; i < 32 * W; i += blockDim.x) {
    const std::uint32_t replica = kernel.draw_ids.replica[slot_of(i)];
    const std::uint64_t key = keys[slot_of(i)], product = step.of_replica(replica, key);
    slots[i] = key_of_word ? make_uint4(high_word(product), low_word(product), third(i), 0u)
                           : make_uint4(low_word(key), high_word(key), third(i), replica);
  }
  for (int i = threadIdx.x; i < W * TabulatedKeys::quads; i += blockDim.x) {
    const int w = i / TabulatedKeys::quads, part = i % TabulatedKeys::quads;
    word_keys[w][part] =
        TabulatedKeys::entry(keys[slot_of(32 * w)], static_cast<std::uint32_t>(part));
  }
  return {one_key, key_of_word};
}

// The places and the draws of one warp, of any kernel that sweeps packed states with these draws.
template <int W, class Kernel = MetropolisSweep>
struct Places {
  static constexpr std::uint32_t n_quads = 8 / W;
  static constexpr std::uint32_t sites_of_word = 0x01010101u * (W == 8   ? 0x01u
                                                                : W == 4 ? 0x11u
                                                                         : 0x55u);

  const Kernel& kernel;
  const SlotEntry* const slots;
  const std::uint32_t sweep_in_row;
  const StepDraws& step;    // of that sweep
  const ComputedKeys keys;  // of the first slot
  const WordKeys* const word_keys;
  const std::int64_t first_word;
  const unsigned lane;
  const int word, quad, site;  // of the lane's place
  const bool has_word;
  const Exchange exchange;
  std::uint32_t moves = 0;  // places of the lane's replicas that do not rest

  __device__ Places(const Kernel& k, const SlotEntry* of_block, std::uint32_t in_row,
                    const StepDraws& s, std::uint64_t key, const WordKeys* tabulated,
                    std::int64_t first)
      : kernel(k),
        slots(of_block),
        sweep_in_row(in_row),
        step(s),
        keys{low_word(key), high_word(key)},
        word_keys(tabulated),
        first_word(first),
        lane(threadIdx.x % 32),
        word(static_cast<int>(lane % W)),
        quad(static_cast<int>(lane % 8) / W),
        site(static_cast<int>(lane / 8)),
        has_word(first + word < k.state.columns),
        exchange(lane) {
#pragma unroll
    for (int w = 0; w < W; ++w) {
      const std::int64_t slot = (first_word + w) * 32 + lane;
      if (first_word + w < k.state.columns && !k.rests(slot)) moves |= sites_of_word << w;
    }
  }

  // The words of a quad for the lane's replica of word w.
  template <Draws kDraws>
  __device__ Words4 draw(const SlotEntry& slot, int w, std::uint32_t number) const {
    if constexpr (kDraws == Draws::one_table) {
      return draw_of(keys, QuadDraws(step, keys, number), slot.x, slot.y);
    } else if constexpr (kDraws == Draws::key_of_word) {
      const TabulatedKeys of_word(word_keys[w]);
      return draw_of(of_word, QuadDraws(step, of_word, number), slot.x, slot.y);
    } else {
      const std::uint64_t key = static_cast<std::uint64_t>(slot.y) << 32 | slot.x;
      return philox4x32_10(Words4{{number, slot.w, step.step_low, step.counter3}}, key);
    }
  }

  // Calls sweep_quads(first, end of the class) for the quads of the warp; a barrier follows each
  // class.
  template <class Visit>
  __device__ void for_each_task(const ClassRange& classes, const Visit& sweep_quads) const {
    const auto& model = kernel.model;
    const std::uint32_t warps = blockDim.x / 32;
    const std::uint32_t number = blockIdx.y * warps + threadIdx.x / 32;
    const std::uint32_t stride = gridDim.y * warps * n_quads;
    for (std::int32_t c = classes.first; c < classes.end; ++c) {
      const auto end = static_cast<std::uint32_t>(model.class_begin[c + 1]);
      auto first = static_cast<std::uint32_t>(model.class_begin[c]) + number * n_quads;
      for (; first < end; first += stride) sweep_quads(first, end);
      __syncthreads();
    }
  }
};

// The words of a quad for a lane's replica of word w by the definition, for the few places that are
// decided one by one.
template <class Kernel>
__device__ inline Words4 draw_plainly(const Kernel& kernel, std::uint32_t sweep, std::int64_t slot,
                                      std::uint32_t quad) {
  const std::uint64_t step = kernel.control->step + kernel.step_offset + sweep;
  return draw_quad(DrawName{kernel.draw_ids.key[slot], step, kernel.draw_ids.replica[slot],
                            RngDomain::metropolis, 0},
                   quad);
}

// Enqueues blocks for all words of a batch by calling enqueue(grid, classes). Blocks with their
// states in shared memory sweep all classes; others share the sites of a class, one launch for
// each.
template <int W, bool kShared, class Kernel, class Enqueue>
void enqueue_classes(const Kernel& kernel, const SweepShape& shape, const SweepLimits& limits,
                     const Enqueue& enqueue) {
  const auto groups = static_cast<unsigned>((kernel.state.columns + W - 1) / W);
  if constexpr (kShared) {
    enqueue(dim3(groups, 1), ClassRange{0, kernel.model.n_classes});
  } else {
    const std::int64_t places = std::int64_t{shape.blocks} * limits.multiprocessors;
    const auto parts = static_cast<unsigned>(std::clamp<std::int64_t>(places / groups, 1, 65535));
    for (std::int32_t c = 0; c < kernel.model.n_classes; ++c) {
      enqueue(dim3(groups, parts), ClassRange{c, c + 1});
    }
  }
}

// floor(2^32 p) of an energy change, which may be 2^32.
__device__ inline std::uint64_t threshold_of(const MetropolisSweep& kernel, double beta,
                                             double delta) {
  const double x = exact::mul(exact::mul(beta, kernel.inverse_scale), delta);
  if (kernel.rule == SweepRule::heat_bath) {
    if (delta == 0.0) return 0x80000000u;
    // A beta that is no number counts as infinity.
    return x == x ? exact::heat_bath_threshold(x) : delta < 0.0 ? 0x100000000u : 0u;
  }
  return delta <= 0.0 ? 0x100000000u : exact::accept_threshold(x);
}

// Calls visit(slot, j, i, word of its draw) for the `open` places of a lane: bit 8 i + j is site i
// of quad first_quad + j / W, for the lane's replica of word first_word + j % W. The loop over j is
// unrolled kUnroll times, all 8 where registers depend on it.
template <int W, int kUnroll, class Kernel, class Visit>
__device__ inline void for_open_places(const Kernel& kernel, std::int64_t first_word,
                                       std::uint32_t first_quad, std::uint32_t open,
                                       const Visit& visit) {
#pragma unroll kUnroll
  for (int j = 0; j < 8; ++j) {
    const std::int64_t word = first_word + j % W;
    if ((open & (0x01010101u << j)) == 0 || word >= kernel.state.columns) continue;
    const std::int64_t slot = word * 32 + threadIdx.x % 32;
    const Words4 words =
        draw_plainly(kernel, 0, slot, first_quad + static_cast<std::uint32_t>(j / W));
    for (int i = 0; i < 4; ++i) {
      if ((open >> (8 * i + j) & 1u) != 0) visit(slot, j, i, words.word[i]);
    }
  }
}

// Sweeps the classes by a warp whose sweep_quads() take draws and rule.
template <Draws kDraws, SweepRule kRule, class Warp>
__device__ void sweep_classes(Warp& warp, const ClassRange& classes) {
  warp.for_each_task(classes, [&](std::uint32_t first, std::uint32_t end) {
    warp.template sweep_quads<kDraws, kRule>(first, end);
  });
}

// The same by what is known of draws and rule when the kernel runs.
template <class Warp>
__device__ void sweep_by_rule(SweepRule rule, bool key_of_word, Warp& warp,
                              const ClassRange& classes) {
  if (rule == SweepRule::heat_bath) {
    if (key_of_word) {
      sweep_classes<Draws::key_of_word, SweepRule::heat_bath>(warp, classes);
    } else {
      sweep_classes<Draws::key_of_slot, SweepRule::heat_bath>(warp, classes);
    }
  } else if (key_of_word) {
    sweep_classes<Draws::key_of_word, SweepRule::metropolis>(warp, classes);
  } else {
    sweep_classes<Draws::key_of_slot, SweepRule::metropolis>(warp, classes);
  }
}

}  // namespace
}  // namespace kiln::cuda
