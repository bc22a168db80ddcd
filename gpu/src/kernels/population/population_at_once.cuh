// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "population_sums.cuh"

/// All passes of PopulationStep in one launch: a block has a part, and all blocks are on the device
/// at once. A pass ends when the last block has written its sums: that block adds up those of all
/// parts, and the others wait for what it decides.
namespace kiln::cuda {
namespace {

// The passes that have ended, counted in memory that is 0 between launches.
class Passes {
 public:
  __device__ explicit Passes(const PopulationStep& kernel) : kernel_(kernel) {}

  /// By all threads of a block, after it has written its sums. Whether all blocks have.
  __device__ bool arrives_last() {
    __shared__ bool last;
    ++ended_;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      last = atomicAdd(&kernel_.arrivals[0], 1u) + 1 == ended_ * gridDim.x;
      __threadfence();
    }
    __syncthreads();
    return last;
  }
  /// By the last block: the others may go on.
  __device__ void release() const {
    __syncthreads();
    if (threadIdx.x != 0) return;
    __threadfence();
    atomicExch(&kernel_.arrivals[1], ended_);
  }
  __device__ void wait() const {
    if (threadIdx.x == 0) {
      const volatile std::uint32_t& released = kernel_.arrivals[1];
      while (released != ended_) {
      }
      __threadfence();  // also drops what the multiprocessor has cached
    }
    __syncthreads();
  }
  /// By the last block of the last pass: nobody waits any more.
  __device__ void reset() const {
    if (threadIdx.x == 0) kernel_.arrivals[0] = kernel_.arrivals[1] = 0;
  }

 private:
  const PopulationStep& kernel_;
  std::uint32_t ended_ = 0;
};

// By a warp: the sums of the parts of a population, where few numbers are added. Lane 0 has them.
// Lanes of the header without a part add 0.
template <int pass>
__device__ inline Part sums_of_population(const Part* parts, std::int64_t n) {
  constexpr bool looks = pass == Pass::look;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  double first[warps_of_sums], second[warps_of_sums];
  std::uint64_t count = 0;
#pragma unroll
  for (int w = 0; w < warps_of_sums; ++w) {
    first[w] = 0.0, second[w] = exact::infinity();
    if (w * warp_size >= n) continue;
    for (std::int64_t i = w * warp_size + lane; i < n; i += lanes) {
      if constexpr (looks) {
        first[w] = exact::add(first[w], __ldcg(&parts[i].first[0]));
        second[w] = PopulationStep::second_of(pass, second[w], __ldcg(&parts[i].second[0]));
      }
      count += __ldcg(reinterpret_cast<const unsigned long long*>(&parts[i].count));
    }
    if constexpr (looks) {
#pragma unroll
      for (int half = warp_size / 2; half > 0; half /= 2) {
        first[w] = exact::add(first[w], __shfl_xor_sync(full_warp, first[w], half));
        second[w] =
            PopulationStep::second_of(pass, second[w], __shfl_xor_sync(full_warp, second[w], half));
      }
    }
  }
  Part sums;
  if constexpr (looks) {
    sums.first[0] = add_warps([&](int w) { return first[w]; },
                              [](double a, double b) { return exact::add(a, b); });
    sums.second[0] =
        add_warps([&](int w) { return second[w]; },
                  [](double a, double b) { return PopulationStep::second_of(pass, a, b); });
  }
  sums.count = add_counts(count);
  return sums;
}

// By one block: the sums of as many populations as it has threads, then a thread decides for each.
template <int pass>
__device__ inline void conclude_populations(const PopulationStep& kernel) {
  struct Sums {
    double first, second;
    std::uint64_t count;
  };
  __shared__ Sums of_group[lanes];
  const std::int64_t n_parts = PopulationStep::parts_of(kernel.group_size);
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  for (std::int64_t begin = 0; begin < kernel.populations.size; begin += lanes) {
    const std::int64_t left = kernel.populations.size - begin;
    const auto n = static_cast<int>(left < lanes ? left : lanes);
    for (int g = warp; g < n; g += warps_of_sums) {
      const Part sums = sums_of_population<pass>(&kernel.parts[(begin + g) * n_parts], n_parts);
      if (threadIdx.x % warp_size == 0) of_group[g] = {sums.first[0], sums.second[0], sums.count};
    }
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < n) {
      const Sums& own = of_group[threadIdx.x];
      Part sums;
      sums.first[0] = own.first, sums.second[0] = own.second, sums.count = own.count;
      kernel.conclude(pass, begin + threadIdx.x, sums);
    }
    __syncthreads();
  }
}

// By the last block of a pass.
template <int pass>
__device__ inline void end_pass(const PopulationStep& kernel, Part& total) {
  if constexpr (PopulationStep::chooses(pass)) {
    Part mine;
    take_parts<pass>(kernel.parts.data, kernel.parts_of_batch(), mine);
    add_lanes<pass>(mine, total);
    __syncthreads();
  }
  if constexpr (PopulationStep::concludes(pass)) {
    // One population has the sums of the batch already.
    if (pass == Pass::look && kernel.populations.size == 1) {
      if (threadIdx.x == 0) kernel.conclude(pass, 0, total);
    } else {
      conclude_populations<pass>(kernel);
    }
  }
  if (PopulationStep::chooses(pass) && threadIdx.x == 0) kernel.choose(pass, total);
}

template <int pass>
__device__ inline void make_pass(const PopulationStep& kernel, Passes& passes, bool is_last_pass) {
  __shared__ Part total;
  const std::int64_t n_parts = PopulationStep::parts_of(kernel.group_size);
  Part mine;
  take_replicas<pass>(kernel, blockIdx.x / n_parts, blockIdx.x % n_parts, mine);
  add_lanes<pass>(mine, total);
  __syncthreads();
  Part& own = kernel.parts[blockIdx.x];
  const int me = static_cast<int>(threadIdx.x);
  if (me < width_of_pass(pass)) own.first[me] = total.first[me], own.second[me] = total.second[me];
  if (me == 0) own.count = total.count;
  if (!passes.arrives_last()) {
    if (!is_last_pass) passes.wait();
    return;
  }
  end_pass<pass>(kernel, total);
  is_last_pass ? passes.reset() : passes.release();
  __syncthreads();
}

template <bool opening>
__global__ void __launch_bounds__(lanes)
    step_at_once(const __grid_constant__ PopulationStep kernel) {
  Passes passes(kernel);
  if constexpr (opening) {
    if (kernel.whole()) make_pass<Pass::admit>(kernel, passes, true);
    return;
  }
  const std::int64_t n_parts = PopulationStep::parts_of(kernel.group_size);
  if (threadIdx.x == 0 && blockIdx.x % n_parts == 0) kernel.open(blockIdx.x / n_parts);
  if (!kernel.whole()) return;
  make_pass<Pass::look>(kernel, passes, false);
  // Passes in which no population takes part change nothing.
  if (kernel.populations[0].searching != 0) {
    make_pass<Pass::bracket>(kernel, passes, false);
    const PopulationChoice& choice = kernel.choice[0];
    if (choice.low != choice.high) {
      make_pass<Pass::narrow>(kernel, passes, false);
      make_pass<Pass::narrow_again>(kernel, passes, false);
    }
  }
  make_pass<Pass::weigh>(kernel, passes, true);
}

/// Enqueues the step in one launch if the device has room for all blocks at once. Blocks wait for
/// each other, so the launch is cooperative.
template <bool opening>
bool enqueue_at_once(const PopulationStep& kernel, Queue& queue) {
  int of_multiprocessor = 0;
  cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_multiprocessor,
                                                           step_at_once<opening>, lanes, 0),
             "count blocks of population_step");
  const std::int64_t blocks = kernel.parts_of_batch();
  if (blocks > std::int64_t{of_multiprocessor} * limits_of(queue).multiprocessors) return false;
  PopulationStep copy = kernel;
  void* arguments[] = {&copy};
  cuda_check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(step_at_once<opening>),
                                         static_cast<unsigned>(blocks), lanes, arguments, 0,
                                         stream_of(queue)),
             "launch population_step");
  return true;
}

inline bool launch_at_once(const PopulationStep& kernel, Queue& queue) {
  if (kernel.arrivals.size < 2) return false;
  return kernel.opening ? enqueue_at_once<true>(kernel, queue)
                        : enqueue_at_once<false>(kernel, queue);
}

}  // namespace
}  // namespace kiln::cuda
