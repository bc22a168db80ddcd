// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/cuda/cluster_team.cuh"
#include "kiln/kernels/run/end_tick.hpp"

#include "best_slots.cuh"
#include "control_block.cuh"
#include "device_limits.hpp"
#include "kernels/grid.cuh"

// A block has 256 slots: decides for them and copies their states. The last block to finish ends
// the tick. Where the device has clusters, four blocks share their words: a warp then copies 128
// bytes of a row side by side.
namespace kiln::cuda {
namespace {

constexpr int words_of_block = block_size / warp_size;
constexpr int blocks_of_cluster = warp_size / words_of_block;
using Cluster = ClusterTeam<blocks_of_cluster, block_size>;
// Values of a column that a block copies; beyond, blocks that share the rows are faster.
constexpr std::int64_t max_variables = 4096;

// Calls combine(new, old) for the cells first, first + stride, ... below `end`. Many reads are in
// flight: the compiler may not move one before a write.
template <class T, class Combine>
__device__ void copy_cells(const T* from, T* to, std::int64_t first, std::int64_t end,
                           std::int64_t stride, Combine combine) {
  constexpr int at_once = 8;
  for (std::int64_t cell = first; cell < end; cell += at_once * stride) {
    T values[at_once], before[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      if (cell + i * stride >= end) continue;
      values[i] = from[cell + i * stride];
      before[i] = combine.reads ? to[cell + i * stride] : T{};
    }
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      if (cell + i * stride < end) to[cell + i * stride] = combine(values[i], before[i]);
    }
  }
}

struct ByMask {
  unsigned mask;
  bool reads;
  __device__ std::uint32_t operator()(std::uint32_t now, std::uint32_t before) const {
    return (before & ~mask) | (now & mask);
  }
};

struct Whole {
  static constexpr bool reads = false;
  template <class T>
  __device__ T operator()(T now, T) const {
    return now;
  }
};

// A word, and the rows that a thread copies of it.
struct OwnWord {
  std::int64_t word = 0;
  unsigned mask = 0;  // of improved slots
  int first_row = 0, rows = 1;
};

__device__ OwnWord word_of_block(const unsigned* masks) {
  const auto thread = static_cast<int>(threadIdx.x);
  return {std::int64_t{blockIdx.x} * words_of_block + thread % words_of_block,
          masks[thread % words_of_block], thread / words_of_block, block_size / words_of_block};
}

// By all blocks of a cluster, after they have written their masks.
__device__ OwnWord word_of_cluster([[maybe_unused]] unsigned* masks) {
  OwnWord own;
#if __CUDA_ARCH__ >= 900
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  Cluster::sync();
  own.mask = Cluster::cluster().map_shared_rank(
      masks, static_cast<unsigned>(lane / words_of_block))[lane % words_of_block];
  Cluster::sync();  // from here on no block reads another block's memory
  own.word = std::int64_t{blockIdx.x} / blocks_of_cluster * warp_size + lane;
  own.first_row = Cluster::rank() / warp_size;
  own.rows = Cluster::size() / warp_size;
#endif
  return own;
}

__device__ void copy_words(const StateBlock& state, const StateBlock& best, const OwnWord& own) {
  if (own.mask == 0) return;
  const std::int64_t words = state.words();
  copy_cells(state.as<const std::uint32_t>(), best.as<std::uint32_t>(),
             own.first_row * words + own.word, state.variables * words, own.rows * words,
             ByMask{own.mask, own.mask != full_warp});
}

template <class T>
__device__ void copy_values(const StateBlock& state, const StateBlock& best, bool improved) {
  if (!improved) return;
  copy_cells(state.as<const T>(), best.as<T>(), thread_index(), state.variables * state.slots,
             state.slots, Whole{});
}

__device__ void copy_best(const TrackBest& kernel, const unsigned* masks, const OwnWord& own) {
  const bool improved = (masks[threadIdx.x / warp_size] >> (threadIdx.x % warp_size) & 1u) != 0;
  for (int b = 0; b < kernel.n_blocks; ++b) {
    const StateBlock &state = kernel.state[b], &best = kernel.best[b];
    switch (state.layout) {
      case Layout::packed32:
        copy_words(state, best, own);
        break;
      case Layout::i8:
        copy_values<std::int8_t>(state, best, improved);
        break;
      case Layout::i32:
        copy_values<std::int32_t>(state, best, improved);
        break;
      case Layout::f32:
        copy_values<float>(state, best, improved);
        break;
      case Layout::f64:
        copy_values<double>(state, best, improved);
        break;
    }
  }
}

// Two blocks on a multiprocessor: those of 67,584 slots are all there at once.
template <bool kClusters>
__global__ void __launch_bounds__(block_size, 2) end_tick(const __grid_constant__ EndTick kernel) {
  __shared__ unsigned masks[words_of_block];
  const TrackBest& best = kernel.best;
  RunControl* const control = best.control;
  const RunControl before = read_control(control);
  if (before.stop != DeviceStop::none) return;
  const std::int64_t slot = thread_index();
  unsigned mask = 0;  // slots are a multiple of 32
  if (slot < best.energy.size) mask = note_best(best, slot, {before.step, before.wanted});
  if (threadIdx.x % warp_size == 0) masks[threadIdx.x / warp_size] = mask;
  if constexpr (kClusters) {
    copy_best(best, masks, word_of_cluster(masks));
  } else if (__syncthreads_or(mask != 0 ? 1 : 0) != 0) {
    copy_best(best, masks, word_of_block(masks));
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(&control->ticket, 1u) + 1 < gridDim.x) return;
  __threadfence();
  advance(control, kernel.advance);
}

void launch_clusters(const EndTick& kernel, unsigned blocks, Queue& queue) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3((blocks + blocks_of_cluster - 1) / blocks_of_cluster * blocks_of_cluster);
  config.blockDim = dim3(block_size);
  config.stream = stream_of(queue);
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = blocks_of_cluster;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  config.attrs = &cluster;
  config.numAttrs = 1;
  cuda_check(cudaLaunchKernelEx(&config, end_tick<true>, kernel), "launch end_tick");
}

}  // namespace

template <>
void launch(const TrackBest& kernel, Queue& queue);
template <>
void launch(const AdvanceTick& kernel, Queue& queue);

template <>
void launch(const EndTick& kernel, Queue& queue) {
  const TrackBest& best = kernel.best;
  std::int64_t variables = 0;
  for (int b = 0; b < best.n_blocks; ++b) variables += best.state[b].variables;
  if (best.energy.size <= 0 || variables > max_variables) {
    launch(best, queue);
    return launch(kernel.advance, queue);
  }
  const auto blocks = static_cast<unsigned>((best.energy.size + block_size - 1) / block_size);
  if (limits_of(queue).has_clusters()) return launch_clusters(kernel, blocks, queue);
  end_tick<false><<<blocks, block_size, 0, stream_of(queue)>>>(kernel);
  check_launch(EndTick::name);
}

}  // namespace kiln::cuda
