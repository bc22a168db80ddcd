// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/cuda/queue.cuh"

#include "cuda_check.hpp"
#include "device_limits.hpp"
#include "kernels/sweeps/metropolis_sweep_warps.hpp"
#include "metropolis_sweep_signs.hpp"
#include "sign_replica.cuh"

// One, two or four warps for each replica, with all local fields in the planes of their registers.
// As in the kernel for weights of 8 and 16 bits the lanes decide the 128 sites of a stretch at
// once. The couplings within the stretch come from shared memory. The rows of flips are copied
// there while the stretch is decided, and added behind it, seven at a time.
namespace kiln::cuda {
namespace {

/// Copies the blocks of all sites, without waiting.
__device__ inline void load_blocks(const SignRows& rows, const std::uint32_t* from,
                                   std::uint32_t* to) {
  for (int i = static_cast<int>(threadIdx.x); i < rows.n_sites; i += static_cast<int>(blockDim.x)) {
    copy_block(to + SignRows::block_words * i, from + SignRows::block_words * i);
  }
}

/// Loads the states of the block's replicas from the batch, by SignRows::site.
__device__ inline void load_states(const MetropolisSweep& kernel, const SignRows& rows,
                                   std::int64_t first_slot, int replicas, std::uint32_t* states,
                                   std::uint32_t* sites) {
  const std::uint32_t* const column = kernel.state.data + first_slot / 32;
  const int lane = static_cast<int>(threadIdx.x % 32),
            replica = lane - static_cast<int>(first_slot % 32);
  const Exchange exchange(threadIdx.x % 32);
#pragma unroll 4
  for (int at = static_cast<int>(threadIdx.x / 32); at < rows.row_words();
       at += static_cast<int>(blockDim.x / 32)) {
    const int site = rows.site_at(at, lane);
    const bool there = site < kernel.model.n_variables;
    const std::uint32_t word = exchange.transposed(there ? column[site * kernel.state.stride] : 0u);
    if (replica >= 0 && replica < replicas) states[replica * rows.row_words() + at] = word;
    const std::uint32_t all = __ballot_sync(whole_warp, there);
    if (lane == 0) sites[at] = all;
  }
}

template <class T>
__device__ T sum_of_warp(T value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(whole_warp, value, step);
  return value;
}

/// Brings the fields of a replica up to date with the batch. Returns the sum of s F over the sites
/// of the lane.
template <class Replica>
__device__ int up_to_date(Replica& replica, bool loaded, int stretches) {
  if (!replica.behind() && loaded) return static_cast<int>(replica.kept_sum());
  replica.catch_up(stretches);
  replica.settle();
  return replica.sum_of_fields();
}

/// Adds to the totals of a replica: half of what s F changed by, and s h where spins changed.
template <class Replica>
__device__ void store_totals(const Replica& replica, int change_of_fields, int flips) {
  const double change = sum_of_warp(0.5 * change_of_fields + replica.publish());
  if (replica.lane != 0) return;
  const MetropolisSweep& kernel = replica.kernel;
  atomicAdd(&kernel.energy[replica.slot], change);  // halves of integers: exact in any order
  if (replica.warp != 0) return;
  kernel.model.dense.valid[replica.slot] = dense_planes;
  if (kernel.accepted) kernel.accepted[replica.slot] += static_cast<std::uint32_t>(flips);
}

template <int L, int W, int P>
__global__ void __launch_bounds__(W > 1 ? 32 * W : 512, W > 1 ? 16 / W : 1)
    sweep_by_signs(const __grid_constant__ MetropolisSweep kernel) {
  extern __shared__ __align__(16) std::uint32_t shared[];
  __shared__ HandedSigns handed[W > 1 ? 2 : 1][32];  // unused by one warp
  if (!kernel.control->active(kernel.step_offset)) return;
  const SignRows rows{kernel.model.n_sites};
  const auto* const signs = reinterpret_cast<const std::uint32_t*>(
      static_cast<const std::int8_t*>(kernel.model.dense.matrix) + rows.matrix_bytes());
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp_of_block = static_cast<int>(threadIdx.x / 32), warp = warp_of_block % W;
  const int replicas = static_cast<int>(blockDim.x / (32 * W));  // divides 32
  const std::int64_t first_slot = static_cast<std::int64_t>(blockIdx.x) * replicas;
  const std::int64_t slot = first_slot + warp_of_block / W;
  std::uint32_t* const states = shared;
  std::uint32_t* const sites = states + replicas * rows.row_words();
  std::uint32_t* const copies = sites + rows.row_words();
  std::uint32_t* const blocks = copies + replicas * W * rows_at_once * L * 32;
  const std::uint32_t* const global_blocks = signs + rows.blocks_at();
  SignReplica<L, W, P> replica{
      kernel,
      rows,
      slot,
      warp,
      lane,
      signs + (L == 1 ? lane : 64 * warp + 2 * lane),
      (W == 1 ? blocks : global_blocks) + lane / 8,
      copies + warp_of_block * rows_at_once * L * 32 + (L == 1 ? lane : 2 * lane),
      states + warp_of_block / W * rows.row_words(),
      sites,
      handed,
      {}};
  const int stretches = (rows.n_sites + SignRows::stretch - 1) / SignRows::stretch;
  const bool rests = kernel.rests(slot);
  // Loads that depend on nothing begin together.
  if constexpr (W == 1) load_blocks(rows, global_blocks, blocks);
  const bool loaded = !rests && replica.load();
  load_states(kernel, rows, first_slot, replicas, states, sites);
  if constexpr (W == 1) wait_for_words();
  __syncthreads();
  if (rests) return;  // its fields are brought up to date by its next sweep

  const int before = up_to_date(replica, loaded, stretches);
  for (; replica.sweep < kernel.sweeps; ++replica.sweep) {
    if (!kernel.control->active(kernel.number_of(replica.sweep))) break;
    replica.sweep_all(stretches);
  }
  const int flips = replica.settle();
  replica.store();
  const int sum = replica.sum_of_fields();
  replica.kept_sum() = static_cast<std::uint32_t>(sum);
  store_totals(replica, sum - before, flips);
}

template <int L, int W, int P>
void enqueue(const MetropolisSweep& kernel, const DenseShape& shape, Queue& queue) {
  const std::int64_t slots = kernel.state.columns * 32;
  const auto blocks = static_cast<unsigned>(slots / shape.replicas_per_block);
  const auto threads = static_cast<unsigned>(32 * W * shape.replicas_per_block);
  const DenseDemand demand{.sites = kernel.model.n_sites};
  const auto bytes = static_cast<std::size_t>(shared_bytes_of(shape, demand));
  const auto function = sweep_by_signs<L, W, P>;
  if (bytes > 32 * 1024) reserve_shared(queue, function, bytes, MetropolisSweep::name);
  function<<<blocks, threads, bytes, stream_of(queue)>>>(kernel);
  check_launch(MetropolisSweep::name);
}

template <int P>
void enqueue_one_warp(const MetropolisSweep& kernel, const DenseShape& shape, Queue& queue) {
  if (kernel.model.n_sites <= SignRows::group) return enqueue<1, 1, P>(kernel, shape, queue);
  if (kernel.model.n_sites <= 2 * SignRows::group) return enqueue<2, 1, P>(kernel, shape, queue);
  enqueue<4, 1, P>(kernel, shape, queue);
}

}  // namespace

void launch_sign_sweep(const MetropolisSweep& kernel, const DenseShape& shape, Queue& queue) {
  if (shape.warps == 4) return enqueue<4, 4, 15>(kernel, shape, queue);
  if (shape.warps == 2) return enqueue<4, 2, 15>(kernel, shape, queue);
  if (kernel.model.dense.sign_planes <= 12) return enqueue_one_warp<12>(kernel, shape, queue);
  enqueue_one_warp<15>(kernel, shape, queue);
}

}  // namespace kiln::cuda
