// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/population/population_step.hpp"

#include "population_at_once.cuh"
#include "population_sums.cuh"

namespace kiln::cuda {
namespace {

// A block per part, as many rows of blocks as there are populations (within the limits of a grid).
template <int pass>
__global__ void __launch_bounds__(lanes) add_parts(const __grid_constant__ PopulationStep kernel) {
  if (!kernel.whole()) return;
  __shared__ Part total;
  const std::int64_t n_parts = PopulationStep::parts_of(kernel.group_size);
  for (std::int64_t group = blockIdx.y; group < kernel.populations.size; group += gridDim.y) {
    Part mine;
    take_replicas<pass>(kernel, group, blockIdx.x, mine);
    add_lanes<pass>(mine, total);
    __syncthreads();
    if (threadIdx.x == 0) {
      PopulationStep::copy(pass, kernel.parts[group * n_parts + blockIdx.x], total);
    }
    __syncthreads();  // the sums are used again
  }
}

// A block per population.
template <int pass>
__global__ void __launch_bounds__(lanes) conclude(const __grid_constant__ PopulationStep kernel) {
  const std::int64_t group = blockIdx.x;
  if (pass == Pass::look && threadIdx.x == 0) kernel.open(group);
  if (!kernel.whole()) return;
  __shared__ Part total;
  const std::int64_t n_parts = PopulationStep::parts_of(kernel.group_size);
  Part mine;
  take_parts<pass>(&kernel.parts[group * n_parts], n_parts, mine);
  add_lanes<pass>(mine, total);
  __syncthreads();
  if (threadIdx.x == 0) kernel.conclude(pass, group, total);
}

// One block adds the parts of all populations, in the order of one population with as many.
template <int pass>
__global__ void __launch_bounds__(lanes) choose(const __grid_constant__ PopulationStep kernel) {
  if (!kernel.whole()) return;
  __shared__ Part total;
  Part mine;
  take_parts<pass>(kernel.parts.data, kernel.parts_of_batch(), mine);
  add_lanes<pass>(mine, total);
  __syncthreads();
  if (threadIdx.x == 0) kernel.choose(pass, total);
}

template <int pass>
void enqueue(const PopulationStep& kernel, cudaStream_t stream) {
  const auto groups = static_cast<unsigned>(kernel.populations.size);
  const auto n_parts = static_cast<unsigned>(PopulationStep::parts_of(kernel.group_size));
  const dim3 grid(n_parts, std::min(groups, 65535u));
  add_parts<pass><<<grid, lanes, 0, stream>>>(kernel);
  check_launch(PopulationStep::name);
  if constexpr (PopulationStep::concludes(pass)) {
    conclude<pass><<<groups, lanes, 0, stream>>>(kernel);
    check_launch(PopulationStep::name);
  }
  if constexpr (PopulationStep::chooses(pass)) {
    choose<pass><<<1, lanes, 0, stream>>>(kernel);
    check_launch(PopulationStep::name);
  }
}

}  // namespace

template <>
void launch(const PopulationStep& kernel, Queue& queue) {
  if (kernel.populations.size <= 0 || kernel.group_size <= 0) return;
  if (launch_at_once(kernel, queue)) return;
  const cudaStream_t stream = stream_of(queue);
  if (kernel.opening) return enqueue<Pass::admit>(kernel, stream);
  enqueue<Pass::look>(kernel, stream);
  enqueue<Pass::bracket>(kernel, stream);
  enqueue<Pass::narrow>(kernel, stream);
  enqueue<Pass::narrow_again>(kernel, stream);
  enqueue<Pass::weigh>(kernel, stream);
}

}  // namespace kiln::cuda
