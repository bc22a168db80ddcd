// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/population/population_step.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

using Part = PopulationStep::Part;
using Pass = PopulationStep::Pass;

constexpr int lanes = PopulationStep::lanes;
constexpr int warps = lanes / warp_size;
static_assert(lanes == block_size);

// The tree of the header: lane t and lane t + offset, first within warps, then the warps. The sum
// is left with thread 0. A pass is a constant, so the candidates stay in registers.
template <int pass>
__device__ void add_lanes(Part& mine) {
  __shared__ Part of_warp[warps];
  constexpr int width = pass == Pass::weigh || pass == Pass::admit ? 0
                        : pass == Pass::look                       ? 1
                                                                   : PopulationStep::candidates;
#pragma unroll
  for (int k = 0; k < width; ++k) {
#pragma unroll
    for (int half = warp_size / 2; half > 0; half /= 2) {
      const double first = __shfl_down_sync(full_warp, mine.first[k], half);
      const double second = __shfl_down_sync(full_warp, mine.second[k], half);
      mine.first[k] = exact::add(mine.first[k], first);
      mine.second[k] = PopulationStep::second_of(pass, mine.second[k], second);
    }
  }
  for (int half = warp_size / 2; half > 0; half /= 2) {
    mine.count += __shfl_down_sync(full_warp, mine.count, half);
  }
  const int me = static_cast<int>(threadIdx.x);
  if (me % warp_size == 0) PopulationStep::copy(pass, of_warp[me / warp_size], mine);
  __syncthreads();
  if (me != 0) return;
  for (int half = warps / 2; half > 0; half /= 2) {
    for (int w = 0; w < half; ++w) PopulationStep::combine(pass, of_warp[w], of_warp[w + half]);
  }
  PopulationStep::copy(pass, mine, of_warp[0]);
}

// A block per part, as many rows of blocks as there are populations (within the limits of a grid).
template <int pass>
__global__ void __launch_bounds__(lanes) add_parts(const __grid_constant__ PopulationStep kernel) {
  if (!kernel.whole()) return;
  const std::int64_t n_parts = PopulationStep::parts_of(kernel.group_size);
  const std::int64_t begin = blockIdx.x * PopulationStep::part_size;
  const std::int64_t past = begin + PopulationStep::part_size;
  const std::int64_t end = past < kernel.group_size ? past : kernel.group_size;
  for (std::int64_t group = blockIdx.y; group < kernel.populations.size; group += gridDim.y) {
    const Population population = kernel.populations[group];
    const PopulationChoice choice = kernel.choice[0];
    Part mine;
    PopulationStep::clear(pass, mine);
    for (std::int64_t r = begin + threadIdx.x; r < end; r += lanes) {
      kernel.take(pass, population, choice, group * kernel.group_size + r, mine);
    }
    add_lanes<pass>(mine);
    if (threadIdx.x == 0) {
      PopulationStep::copy(pass, kernel.parts[group * n_parts + blockIdx.x], mine);
    }
    __syncthreads();  // the sums of the warps are used again
  }
}

// A block per population.
template <int pass>
__global__ void __launch_bounds__(lanes) conclude(const __grid_constant__ PopulationStep kernel) {
  const std::int64_t group = blockIdx.x;
  if (pass == Pass::look && threadIdx.x == 0) kernel.open(group);
  if (!kernel.whole()) return;
  const std::int64_t n_parts = PopulationStep::parts_of(kernel.group_size);
  Part mine;
  PopulationStep::clear(pass, mine);
  for (std::int64_t part = threadIdx.x; part < n_parts; part += lanes) {
    PopulationStep::combine(pass, mine, kernel.parts[group * n_parts + part]);
  }
  add_lanes<pass>(mine);
  if (threadIdx.x == 0) kernel.conclude(pass, group, mine);
}

// One block adds the parts of all populations, in the order of one population with as many.
template <int pass>
__global__ void __launch_bounds__(lanes) choose(const __grid_constant__ PopulationStep kernel) {
  if (!kernel.whole()) return;
  const std::int64_t n_parts =
      kernel.populations.size * PopulationStep::parts_of(kernel.group_size);
  Part mine;
  PopulationStep::clear(pass, mine);
  for (std::int64_t part = threadIdx.x; part < n_parts; part += lanes) {
    PopulationStep::combine(pass, mine, kernel.parts[part]);
  }
  add_lanes<pass>(mine);
  if (threadIdx.x == 0) kernel.choose(pass, mine);
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
  const cudaStream_t stream = stream_of(queue);
  if (kernel.opening) return enqueue<Pass::admit>(kernel, stream);
  enqueue<Pass::look>(kernel, stream);
  enqueue<Pass::bracket>(kernel, stream);
  enqueue<Pass::narrow>(kernel, stream);
  enqueue<Pass::narrow_again>(kernel, stream);
  enqueue<Pass::weigh>(kernel, stream);
}

}  // namespace kiln::cuda
