// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0

#include "kiln/cuda/queue.cuh"
#include "kiln/device/rng_domains.hpp"
#include "kiln/device/shared_draws.hpp"
#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "cuda_check.hpp"
#include "device_limits.hpp"
#include "launch.hpp"
#include "metropolis_sweep_dense.hpp"
#include "metropolis_sweep_patterns.hpp"
#include "metropolis_sweep_slices.hpp"
#include "planes/metropolis_sweep_planes.hpp"
#include "planes/metropolis_sweep_shared.hpp"
#include "sweep_decision.cuh"
#include "sweep_shape.hpp"

// One block holds the states of W words (32 W replicas) of all sites, and one lane of a warp is one
// bit of each word. The warps of a block share the quads of a class; a barrier follows each class.
// Every row entry is read by all lanes at the same address and serves W replicas a lane, because
// loads, not arithmetic, bound this kernel.
namespace kiln::cuda {
namespace {

constexpr unsigned all_lanes = 0xFFFFFFFFu;

template <int W>
struct Words {
  std::uint32_t w[W];
};

template <int W>
__device__ inline Words<W> load_words(const std::uint32_t* from) {
  Words<W> words;
  if constexpr (W == 2) {
    const uint2 x = *reinterpret_cast<const uint2*>(from);
    words.w[0] = x.x, words.w[1] = x.y;
  } else {
    words.w[0] = *from;
  }
  return words;
}

template <int W>
__device__ inline void store_words(std::uint32_t* to, const Words<W>& words) {
  if constexpr (W == 2) {
    *reinterpret_cast<uint2*>(to) = make_uint2(words.w[0], words.w[1]);
  } else {
    *to = words.w[0];
  }
}

/// Where the words of a block lie: by site in shared memory, or by variable in the batch itself.
template <int W, bool kShared>
struct States {
  std::uint32_t* words;          // shared memory, or the batch at the block's first word
  const std::int32_t* variable;  // of sites
  std::int64_t stride;

  __device__ std::uint32_t* at(std::uint32_t site) const {
    if constexpr (kShared) return words + site * W;
    return words + variable[site] * stride;
  }
};

/// What a lane carries through a sweep for its W replicas.
template <int W, class Total>
struct Lane {
  std::uint64_t key[W];
  std::uint32_t replica[W];
  float beta_log2e[W];
  bool rests[W];
  Total change[W];  // of the energy; exact for integral models
  std::uint32_t flips[W];
};

// Sums the weights of neighbours whose bit is 1, in the order of the row, for W replicas a lane.
template <int W, class Sum, bool kShared>
__device__ inline void sum_set(const PairwiseView& model, const States<W, kShared>& states,
                               std::int64_t begin, std::int64_t end, std::uint32_t lane_bit,
                               Sum (&sum)[W]) {
  const uint4* const pairs = reinterpret_cast<const uint4*>(model.entries.data);
#pragma unroll 4
  for (std::int64_t pair = begin / 2; pair < end / 2; ++pair) {
    const uint4 two = __ldg(pairs + pair);  // site, weight, site, weight
    const Words<W> a = load_words<W>(states.at(two.x));
    const Words<W> b = load_words<W>(states.at(two.z));
    Sum weight_a, weight_b;
    if constexpr (sizeof(Sum) == 8) {
      const double2 w = __ldg(reinterpret_cast<const double2*>(model.weights_f64.data) + pair);
      weight_a = w.x, weight_b = w.y;
    } else {
      weight_a = __uint_as_float(two.y), weight_b = __uint_as_float(two.w);
    }
#pragma unroll
    for (int k = 0; k < W; ++k) {
      if ((a.w[k] & lane_bit) != 0) sum[k] += weight_a;
      if ((b.w[k] & lane_bit) != 0) sum[k] += weight_b;
    }
  }
}

template <SweepRule kRule, int W, class Sum, class Total, bool kShared>
__device__ inline void attempt(const MetropolisSweep& kernel, const States<W, kShared>& states,
                               std::uint32_t site, std::int64_t first_slot,
                               const std::uint32_t (&word)[W], Lane<W, Total>& lane) {
  const PairwiseView& model = kernel.model;
  const unsigned lane_index = threadIdx.x % 32;
  const std::uint32_t lane_bit = 1u << lane_index;
  Sum sum[W] = {};
  sum_set<W, Sum, kShared>(model, states, model.row_begin[site], model.row_begin[site + 1],
                           lane_bit, sum);
  const Sum base = static_cast<Sum>(model.base[site]);
  Words<W> own = load_words<W>(states.at(site));
#pragma unroll
  for (int k = 0; k < W; ++k) {
    const Sum local = base - (sum[k] + sum[k]);
    const Sum twice = local + local;
    const Sum delta = (own.w[k] & lane_bit) != 0 ? twice : -twice;  // s = -1 where the bit is 1
    const bool take = !lane.rests[k] && accept<kRule, Sum>(kernel, first_slot + 32 * k,
                                                           lane.beta_log2e[k], delta, word[k]);
    if (take) {
      lane.change[k] += static_cast<Total>(delta);
      ++lane.flips[k];
    }
    own.w[k] ^= __ballot_sync(all_lanes, take);
  }
  __syncwarp();  // every lane has read before one lane writes
  if (lane_index == 0) store_words<W>(states.at(site), own);
}

// The words of the four sites of a quad by the definition: for the few runs by planes or with
// shared noise that the kernel of planes does not take.
__device__ __noinline__ Words4 draw_quad_named(DrawNaming naming, std::uint64_t key,
                                               std::uint64_t step, std::uint32_t replica,
                                               std::uint32_t quad) {
  const DrawName name{key, step, replica, RngDomain::metropolis, 0};
  Words4 words;
#pragma unroll
  for (std::uint32_t i = 0; i < 4; ++i) words.word[i] = draw_named(naming, name, 4 * quad + i);
  return words;
}

template <SweepRule kRule, int W, class Sum, class Total, bool kShared>
__device__ inline void sweep_quad(const MetropolisSweep& kernel, const States<W, kShared>& states,
                                  std::uint32_t quad, std::uint64_t step, std::int64_t first_slot,
                                  Lane<W, Total>& lane) {
  Words4 drawn[W];
#pragma unroll
  for (int k = 0; k < W; ++k) {
    drawn[k] =
        kernel.naming != DrawNaming::words
            ? draw_quad_named(kernel.naming, lane.key[k], step, lane.replica[k], quad)
            : draw_quad(DrawName{lane.key[k], step, lane.replica[k], RngDomain::metropolis, 0},
                        quad);
  }
#pragma unroll
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t site = 4 * quad + i;
    if (kernel.model.variable[site] < 0) continue;
    std::uint32_t word[W];
#pragma unroll
    for (int k = 0; k < W; ++k) word[k] = drawn[k].word[i];
    attempt<kRule, W, Sum, Total, kShared>(kernel, states, site, first_slot, word, lane);
    __syncwarp();  // in a sequential model the next site may read this one
  }
}

template <int W, class Total>
__device__ inline Lane<W, Total> make_lane(const MetropolisSweep& kernel, std::int64_t first_slot) {
  Lane<W, Total> lane;
#pragma unroll
  for (int k = 0; k < W; ++k) {
    const std::int64_t slot = first_slot + 32 * k;
    lane.key[k] = kernel.draw_ids.key[slot];
    lane.replica[k] = kernel.draw_ids.replica[slot];
    lane.beta_log2e[k] = beta_log2e_of(kernel, slot);
    lane.rests[k] = kernel.rests(slot);
    lane.change[k] = Total{0};
    lane.flips[k] = 0;
  }
  return lane;
}

// Adds up what the warps of a block did. The changes are integers wherever they are used, so the
// order of the additions does not matter.
template <int W, class Total>
__device__ inline void add_totals(const MetropolisSweep& kernel, std::int64_t first_word,
                                  const Lane<W, Total>& lane) {
  __shared__ double change[W * 32];
  __shared__ std::uint32_t flips[W * 32];
  for (unsigned i = threadIdx.x; i < W * 32; i += blockDim.x) {
    change[i] = 0;
    flips[i] = 0;
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < W; ++k) {
    const unsigned at = 32 * k + threadIdx.x % 32;
    atomicAdd(&change[at], static_cast<double>(lane.change[k]));
    atomicAdd(&flips[at], lane.flips[k]);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < W * 32; i += blockDim.x) {
    const std::int64_t slot = first_word * 32 + i;
    if (kernel.model.integral) kernel.energy[slot] += change[i];
    if (kernel.accepted) kernel.accepted[slot] += flips[i];
  }
}

template <SweepRule kRule, int W, class Sum, class Total, bool kShared>
__global__ void __launch_bounds__(1024, 1) sweep(const __grid_constant__ MetropolisSweep kernel) {
  extern __shared__ __align__(16) std::uint32_t shared_words[];
  if (!kernel.control->active(kernel.step_offset)) return;
  const PairwiseView& model = kernel.model;
  const std::int64_t first_word = static_cast<std::int64_t>(blockIdx.x) * W;
  const std::int64_t first_slot = first_word * 32 + threadIdx.x % 32;
  std::uint32_t* const batch_words = kernel.state.data + first_word;
  const States<W, kShared> states{kShared ? shared_words : batch_words, model.variable.data,
                                  kernel.state.stride};
  if constexpr (kShared) {
    for (int i = threadIdx.x; i < model.n_sites * W; i += blockDim.x) {
      const std::int32_t variable = model.variable[i / W];
      shared_words[i] = variable < 0 ? 0u : batch_words[variable * kernel.state.stride + i % W];
    }
  }
  Lane<W, Total> lane = make_lane<W, Total>(kernel, first_slot);
  const std::uint64_t step = kernel.control->step + kernel.step_offset;
  const std::int32_t warp = threadIdx.x / 32;
  const std::int32_t warps = blockDim.x / 32;
  __syncthreads();
  for (std::int32_t c = 0; c < model.n_classes; ++c) {
    const std::int32_t end = model.class_begin[c + 1];
    for (std::int32_t quad = model.class_begin[c] + warp; quad < end; quad += warps) {
      sweep_quad<kRule, W, Sum, Total, kShared>(kernel, states, static_cast<std::uint32_t>(quad),
                                                step, first_slot, lane);
    }
    __syncthreads();
  }
  if constexpr (kShared) {
    for (int i = threadIdx.x; i < model.n_sites * W; i += blockDim.x) {
      const std::int32_t variable = model.variable[i / W];
      if (variable >= 0) batch_words[variable * kernel.state.stride + i % W] = shared_words[i];
    }
  }
  add_totals<W, Total>(kernel, first_word, lane);
}

template <SweepRule kRule, int W, class Sum, class Total, bool kShared>
void enqueue(const MetropolisSweep& kernel, const SweepShape& shape, Queue& queue) {
  const auto bytes = static_cast<std::size_t>(
      kShared ? static_cast<std::int64_t>(kernel.model.n_sites) * W * 4 : 0);
  const auto function = sweep<kRule, W, Sum, Total, kShared>;
  if (bytes > 32 * 1024) {  // beside the totals, more than the default needs an opt-in
    reserve_shared(queue, function, bytes, MetropolisSweep::name);
  }
  const auto blocks = static_cast<unsigned>(kernel.state.columns / W);
  function<<<blocks, static_cast<unsigned>(32 * shape.warps), bytes, stream_of(queue)>>>(kernel);
  check_launch(MetropolisSweep::name);
}

template <SweepRule kRule, int W, bool kShared>
void enqueue_typed(const MetropolisSweep& kernel, const SweepShape& shape, Queue& queue) {
  if (kernel.model.arithmetic == Arithmetic::wide) {
    enqueue<kRule, W, double, double, kShared>(kernel, shape, queue);
  } else if (2 * kernel.model.total_sum <= 0x1p24) {
    // No sum of energy changes of a sweep can leave the integers that single precision holds.
    enqueue<kRule, W, float, float, kShared>(kernel, shape, queue);
  } else {
    enqueue<kRule, W, float, double, kShared>(kernel, shape, queue);
  }
}

template <SweepRule kRule, int W>
void enqueue_placed(const MetropolisSweep& kernel, const SweepShape& shape, Queue& queue) {
  if (shape.in_shared) {
    enqueue_typed<kRule, W, true>(kernel, shape, queue);
  } else {
    enqueue_typed<kRule, W, false>(kernel, shape, queue);
  }
}

// The rule is compiled in, so that one costs the other nothing.
template <SweepRule kRule>
void enqueue_rule(const MetropolisSweep& kernel, const SweepShape& shape, Queue& queue) {
  if (shape.words_per_block == 2) {
    enqueue_placed<kRule, 2>(kernel, shape, queue);
  } else {
    enqueue_placed<kRule, 1>(kernel, shape, queue);
  }
}

SweepShape shape_for(const MetropolisSweep& kernel, Queue& queue) {
  const PairwiseView& model = kernel.model;
  const SweepLimits limits = sweep_limits_of(queue);
  const std::int64_t quads = model.n_sites / 4 / std::max(1, model.n_classes);
  const SweepShape chosen =
      choose_sweep_shape(kernel.state.columns, model.n_sites, quads, model.sequential, limits);
  const std::optional<SweepShape> wanted = parse_sweep_shape(wanted_sweep_shape(queue));
  if (!wanted || wanted->in_slices || kernel.state.columns % wanted->words_per_block != 0 ||
      kernel.state.stride % wanted->words_per_block != 0) {
    return chosen;  // words are loaded in pairs
  }
  SweepShape shape = *wanted;
  if (model.sequential) shape.warps = 1;
  const std::int64_t bytes = static_cast<std::int64_t>(model.n_sites) * shape.words_per_block * 4;
  return shape.in_shared && bytes > limits.shared_bytes ? chosen : shape;
}

}  // namespace

template <>
void launch(const MetropolisSweep& kernel, Queue& queue) {
  if (kernel.state.columns == 0) return;
  const bool by_planes = kernel.naming != DrawNaming::words;  // or with shared noise
  // Several in a row, if states stay on chip.
  if (kernel.naming == DrawNaming::shared   ? launch_shared_sweep(kernel, queue)
      : kernel.naming == DrawNaming::planes ? launch_plane_sweep(kernel, queue)
                                            : launch_sliced_sweep(kernel, queue)) {
    return;
  }
  if (!by_planes && launch_dense_sweep(kernel, queue)) return;
  if (kernel.sweeps > 1) {
    for (std::uint32_t s = 0; s < kernel.sweeps; ++s) launch(kernel.only(s), queue);
    return;
  }
  if (!by_planes && launch_pattern_sweep(kernel, queue)) return;
  const SweepShape shape = shape_for(kernel, queue);
  if (kernel.rule == SweepRule::heat_bath) {
    enqueue_rule<SweepRule::heat_bath>(kernel, shape, queue);
  } else {
    enqueue_rule<SweepRule::metropolis>(kernel, shape, queue);
  }
}

}  // namespace kiln::cuda
