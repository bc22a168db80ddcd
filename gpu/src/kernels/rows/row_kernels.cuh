// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cooperative_groups.h>

#include <bit>
#include <cstdint>

#include "kiln/errors.hpp"
#include "kiln/kernels/rows/row_jobs.hpp"

#include "kernels/rows/row_chunk.cuh"

// Passes over rows on a GPU, in the order of the tree of kiln/device/rows/row_tree.hpp. Rows of up
// to 8 chunks take some warps of a block, rows of up to 256 chunks a cluster of blocks, and longer
// ones many blocks that leave their states in room.
namespace kiln::cuda {

inline constexpr int row_warps = 8;
inline constexpr int row_threads = row_warps * warp_size;
inline constexpr int portable_row_cluster = 8, max_row_cluster = 16;
inline constexpr int merge_threads = 1024;
inline constexpr int max_chunks_of_warp = 4;

/// A launch that is allowed to begin early waits for the one before it where it needs its results.
__device__ inline void let_next_launch_begin() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
__device__ inline void wait_for_earlier_launch() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// A job with what a launch has found out.
template <class Job>
struct RowPass {
  Job job;
  std::int64_t rows = 0, columns = 0, chunks = 0;
  bool runs = false;          // values can be read 16 bytes at a time
  bool other_runs = false;    // and those of the other matrix
  bool result_runs = false;   // results written so
  int warps_of_row = 1;       // of a short row
  int chunks_of_warp = 1;     // of a longer one
  int blocks_of_row = 1;      // in a cluster
  std::int64_t groups = 1;    // of a long row: one for each block
  std::byte* room = nullptr;  // states of groups, then what jobs make of each row

  using State = typename Job::State;
  using Final = typename Job::Final;
  static_assert(sizeof(State) <= row_state_bytes && sizeof(Final) <= row_state_bytes);

  __device__ State& state(std::int64_t row, std::int64_t group) const {
    return *reinterpret_cast<State*>(room + (row * groups + group) * row_state_bytes);
  }
  __device__ Final& final(std::int64_t row) const {
    return *reinterpret_cast<Final*>(room + (rows * groups + row) * row_state_bytes);
  }
};

template <class T, class Other, class Job>
__device__ inline typename Job::State state_of_chunk(const RowPass<Job>& pass, std::int64_t row,
                                                     std::int64_t chunk) {
  const ChunkPlace<T> place(pass.job.value(), row, chunk, pass.runs);
  if constexpr (Job::uses_other) {
    const Elements other = pass.job.other();
    const auto* const first = static_cast<const Other*>(other.at(row, chunk * RowTree::chunk));
    return Job::Chunks::of(PairedChunk<T, Other>{place, first, other.step, pass.other_runs});
  } else {
    return Job::Chunks::of(HeldChunk<T>(place));
  }
}

template <class T, class Job>
__device__ inline void rewrite_chunk(const RowPass<Job>& pass, std::int64_t row, std::int64_t chunk,
                                     const HeldChunk<T>& held, const typename Job::Final& final) {
  using Slots = LaneSlots<T>;
  const View2<double> result = pass.job.result();
  double* const to = &result(row, chunk * RowTree::chunk);
  const bool runs = pass.result_runs && held.count == RowTree::chunk;
#pragma unroll
  for (int i = 0; i < RowTree::rounds * 4; i += 2) {
    const int place = Slots::place(i / 4, i % 4);  // its successor is that of slot i + 1
    const double2 pair{pass.job.rewrite(static_cast<double>(held.values[i]), final),
                       pass.job.rewrite(static_cast<double>(held.values[i + 1]), final)};
    if (runs) {
      *reinterpret_cast<double2*>(to + place) = pair;
    } else {
      if (place < held.count) to[place] = pair.x;
      if (place + 1 < held.count) to[place + 1] = pair.y;
    }
  }
}

/// Merges states of neighbours in the order of the tree, for a warp that has one in each of its
/// first `count` lanes. Lane 0 gets the result.
template <class State>
__device__ inline State merge_lanes(State state, std::int64_t count) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
#pragma unroll
  for (int apart = 1; apart < warp_size; apart *= 2) {
    if (apart >= count) break;
    const State next = exchanged(state, apart);
    State both = state;
    both.merge(next);
    state = chosen(lane + apart < count, both, state);
  }
  return state;
}
/// The same for states in memory, 1 to 32 of them.
template <class State>
__device__ inline State merge_states(const State* states, std::int64_t count) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  return merge_lanes(states[lane < count ? lane : 0], count);
}

/// Memory of a block whose values have constructors.
template <class Value, int count>
struct RowMemory {
  alignas(16) unsigned char bytes[count * sizeof(Value)];
  __device__ Value* all() { return reinterpret_cast<Value*>(bytes); }
};

/// Rows of at most 8 chunks, each for some warps of a block.
template <class T, class Other, class Job>
__global__ void __launch_bounds__(row_threads, 2)
    reduce_short_rows(const __grid_constant__ RowPass<Job> pass) {
  using State = typename Job::State;
  using Final = typename Job::Final;
  __shared__ RowMemory<State, row_warps> states;
  __shared__ RowMemory<Final, row_warps> finals;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int first_warp = warp - warp % pass.warps_of_row;
  const bool leads = threadIdx.x % static_cast<unsigned>(pass.warps_of_row * warp_size) == 0;
  const std::int64_t chunk = warp - first_warp;
  const std::int64_t rows_of_block = row_warps / pass.warps_of_row;
  for (std::int64_t first = blockIdx.x * rows_of_block; first < pass.rows;
       first += gridDim.x * rows_of_block) {
    const std::int64_t row = first + warp / pass.warps_of_row;
    const bool exists = row < pass.rows && chunk < pass.chunks;
    if constexpr (Job::rewrites) {
      // A warp without a chunk has an empty one.
      ChunkPlace<T> place(pass.job.value(), exists ? row : 0, exists ? chunk : 0, pass.runs);
      if (!exists) place.count = 0, place.runs = false;
      const HeldChunk<T> held(place);
      const State state = Job::Chunks::of(held);
      if (threadIdx.x % warp_size == 0) states.all()[warp] = state;
      __syncthreads();
      if (warp == first_warp && row < pass.rows) {
        State all{};
        if (pass.chunks > 0) all = merge_states(states.all() + warp, pass.chunks);
        if (leads) finals.all()[warp] = pass.job.finish(row, all);
      }
      __syncthreads();
      if (exists) rewrite_chunk(pass, row, chunk, held, finals.all()[first_warp]);
    } else {
      State state{};
      if (exists) state = state_of_chunk<T, Other>(pass, row, chunk);
      if (pass.warps_of_row == 1) {
        if (leads && row < pass.rows) pass.job.finish(row, state);
        continue;
      }
      if (threadIdx.x % warp_size == 0) states.all()[warp] = state;
      __syncthreads();
      if (warp == first_warp && row < pass.rows) {
        const State all = merge_states(states.all() + warp, pass.chunks);
        if (leads) pass.job.finish(row, all);
      }
      __syncthreads();
    }
  }
}

/// The state of the chunks of a warp; the first exists.
template <class T, class Other, class Job>
__device__ inline typename Job::State state_of_warp(const RowPass<Job>& pass, std::int64_t row,
                                                    std::int64_t first) {
  using State = typename Job::State;
  // The tree over up to 4 chunks.
  State all{}, pair{}, before{};
#pragma unroll 1
  for (int i = 0; i < pass.chunks_of_warp && first + i < pass.chunks; ++i) {
    const State state = state_of_chunk<T, Other>(pass, row, first + i);
    if (i % 2 == 0) {
      before = all;
      pair = state;
    } else {
      pair.merge(state);
    }
    if (i < 2) {
      all = pair;
    } else {
      all = before;
      all.merge(pair);
    }
  }
  return all;
}

/// The state of the chunks of a block, to its first thread. `first` exists.
template <class T, class Other, class Job>
__device__ inline typename Job::State state_of_block(const RowPass<Job>& pass, std::int64_t row,
                                                     std::int64_t first) {
  using State = typename Job::State;
  __shared__ RowMemory<State, row_warps> states;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t mine = first + warp * pass.chunks_of_warp;
  if (mine < pass.chunks) {
    const State state = state_of_warp<T, Other>(pass, row, mine);
    if (threadIdx.x % warp_size == 0) states.all()[warp] = state;
  }
  __syncthreads();
  const std::int64_t left = (pass.chunks - first + pass.chunks_of_warp - 1) / pass.chunks_of_warp;
  return warp == 0 ? merge_states(states.all(), left < row_warps ? left : row_warps) : State{};
}

template <class T, class Job>
__device__ inline void rewrite_of_block(const RowPass<Job>& pass, std::int64_t row,
                                        std::int64_t first, const typename Job::Final& final) {
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t mine = first + warp * pass.chunks_of_warp;
#pragma unroll 1
  for (std::int64_t chunk = mine; chunk < mine + pass.chunks_of_warp && chunk < pass.chunks;
       ++chunk) {
    const HeldChunk<T> held(ChunkPlace<T>(pass.job.value(), row, chunk, pass.runs));
    rewrite_chunk(pass, row, chunk, held, final);
  }
}

/// Rows of at most 256 chunks, each for a cluster of blocks.
template <class T, class Other, class Job>
__global__ void __launch_bounds__(row_threads, 2)
    reduce_rows_by_clusters(const __grid_constant__ RowPass<Job> pass) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  using State = typename Job::State;
  using Final = typename Job::Final;
  __shared__ RowMemory<State, max_row_cluster> states;  // in the first block: of each block
  __shared__ RowMemory<Final, 1> final;
  const auto cluster = cooperative_groups::this_cluster();
  const int block = static_cast<int>(cluster.block_rank());
  const std::int64_t row = blockIdx.x / static_cast<unsigned>(pass.blocks_of_row);
  const std::int64_t of_block = std::int64_t{row_warps} * pass.chunks_of_warp;
  const std::int64_t first = block * of_block;
  cluster.barrier_arrive();
  State state{};
  if (first < pass.chunks) state = state_of_block<T, Other>(pass, row, first);
  cluster.barrier_wait();  // the first block has begun, and its memory is there
  if (first < pass.chunks && threadIdx.x == 0) {
    *cluster.map_shared_rank(states.all() + block, 0) = state;
  }
  cluster.sync();
  if (block == 0 && threadIdx.x < warp_size) {
    const State all = merge_states(states.all(), (pass.chunks + of_block - 1) / of_block);
    if (threadIdx.x == 0) final.all()[0] = pass.job.finish(row, all);
  }
  if constexpr (Job::rewrites) {
    cluster.sync();
    const Final of_row = *cluster.map_shared_rank(final.all(), 0);
    rewrite_of_block<T>(pass, row, first, of_row);
    cluster.sync();  // the first block stays as long as others read it
  }
#endif
}

/// Groups of chunks of long rows, each for a block.
template <class T, class Other, class Job>
__global__ void __launch_bounds__(row_threads, 2)
    reduce_groups(const __grid_constant__ RowPass<Job> pass) {
  let_next_launch_begin();
  const std::int64_t of_block = std::int64_t{row_warps} * pass.chunks_of_warp;
  for (std::int64_t task = blockIdx.x; task < pass.rows * pass.groups; task += gridDim.x) {
    const std::int64_t row = task / pass.groups, group = task % pass.groups;
    const auto state = state_of_block<T, Other>(pass, row, group * of_block);
    if (threadIdx.x == 0) pass.state(row, group) = state;
    __syncthreads();  // states of the block are used again
  }
}

/// The states of the groups of a row, for a block: a thread takes a subtree.
template <class Job>
__global__ void __launch_bounds__(merge_threads)
    merge_groups(const __grid_constant__ RowPass<Job> pass) {
  using State = typename Job::State;
  __shared__ RowMemory<State, merge_threads / warp_size> states;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  std::int64_t of_thread = 1;
  while (of_thread * merge_threads < pass.groups) of_thread *= 2;
  const std::int64_t threads = (pass.groups + of_thread - 1) / of_thread;
  let_next_launch_begin();
  wait_for_earlier_launch();
  for (std::int64_t row = blockIdx.x; row < pass.rows; row += gridDim.x) {
    const std::int64_t begin = threadIdx.x * of_thread;
    State state{};
    if (of_thread == 1) {
      if (begin < pass.groups) state = pass.state(row, begin);
    } else if (begin < pass.groups) {
      TreeStack<State> stack;
      for (std::int64_t g = begin; g < begin + of_thread && g < pass.groups; ++g) {
        stack.push(pass.state(row, g));
      }
      state = stack.total();
    }
    state = merge_lanes(state, threads - warp * warp_size);
    if (threadIdx.x % warp_size == 0) states.all()[warp] = state;
    __syncthreads();
    if (warp == 0) {
      const State all = merge_states(states.all(), (threads + warp_size - 1) / warp_size);
      if (threadIdx.x == 0) pass.final(row) = pass.job.finish(row, all);
    }
    __syncthreads();
  }
}

/// @tparam given  what the job makes of rows it has from earlier; else from merge_groups
template <class T, bool given, class Job>
__global__ void __launch_bounds__(row_threads, 2)
    rewrite_groups(const __grid_constant__ RowPass<Job> pass) {
  wait_for_earlier_launch();
  const std::int64_t of_block = std::int64_t{row_warps} * pass.chunks_of_warp;
  for (std::int64_t task = blockIdx.x; task < pass.rows * pass.groups; task += gridDim.x) {
    const std::int64_t row = task / pass.groups, group = task % pass.groups;
    if constexpr (given) {
      rewrite_of_block<T>(pass, row, group * of_block, pass.job.given(row));
    } else {
      rewrite_of_block<T>(pass, row, group * of_block, pass.final(row));
    }
  }
}

}  // namespace kiln::cuda
