// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/cuda/queue.cuh"
#include "kiln/kernels/sweeps/pairwise_energy.hpp"

#include "cuda_check.hpp"
#include "launch.hpp"
#include "pairwise_energy_slices.hpp"

// One block per word of 32 replicas. Each warp sums one part of the sites, lane by replica; the
// parts are then added in order, so that the number of warps does not change the sum.
namespace kiln::cuda {
namespace {

constexpr int warps = 8;

__device__ inline double weight_of(const PairwiseView& model, std::int64_t entry) {
  return model.arithmetic == Arithmetic::wide ? model.weights_f64[entry]
                                              : static_cast<double>(model.entries[entry].weight);
}

// Sum of s_i (h_i + local field) over the sites of one part.
__device__ inline double part_sum(const PairwiseEnergy& kernel, std::int64_t word,
                                  std::int32_t part) {
  const PairwiseView& model = kernel.model;
  const std::uint32_t lane_bit = 1u << (threadIdx.x % 32);
  const std::int32_t begin = part * PairwiseEnergy::sites_per_part;
  const std::int32_t end = min(begin + PairwiseEnergy::sites_per_part, model.n_sites);
  double sum = 0;
  for (std::int32_t site = begin; site < end; ++site) {
    const std::int32_t variable = model.variable[site];
    if (variable < 0) continue;
    double set = 0;
    for (std::int64_t e = model.row_begin[site]; e < model.row_begin[site + 1]; ++e) {
      const std::int32_t neighbor = model.variable[model.entries[e].site];
      if ((kernel.state(neighbor, word) & lane_bit) != 0) set += weight_of(model, e);
    }
    const double local = model.base[site] - 2 * set;
    const double total = model.field[site] + local;
    sum += (kernel.state(variable, word) & lane_bit) != 0 ? -total : total;
  }
  return sum;
}

__global__ void __launch_bounds__(32 * warps)
    energies(const __grid_constant__ PairwiseEnergy kernel) {
  if (kernel.control != nullptr && !kernel.control->active(0)) return;
  __shared__ double parts[warps][32];
  const std::int64_t word = blockIdx.x;
  const unsigned lane = threadIdx.x % 32;
  const std::int32_t warp = threadIdx.x / 32;
  const std::int64_t slot = word * 32 + lane;
  const bool wanted = !kernel.active_rungs || kernel.active_rungs[kernel.rung_of[slot]] != 0;
  if (!__syncthreads_or(wanted)) return;
  const std::int32_t n_parts =
      (kernel.model.n_sites + PairwiseEnergy::sites_per_part - 1) / PairwiseEnergy::sites_per_part;
  double total = 0;
  for (std::int32_t first = 0; first < n_parts; first += warps) {
    parts[warp][lane] = first + warp < n_parts ? part_sum(kernel, word, first + warp) : 0.0;
    __syncthreads();
    if (warp == 0) {
      for (int w = 0; w < warps && first + w < n_parts; ++w) total += parts[w][lane];
    }
    __syncthreads();
  }
  if (warp == 0 && wanted) kernel.energy[slot] = total / 2;
}

}  // namespace

template <>
void launch(const PairwiseEnergy& kernel, Queue& queue) {
  if (kernel.state.columns == 0) return;
  if (launch_sliced_energy(kernel, queue)) return;
  energies<<<static_cast<unsigned>(kernel.state.columns), 32 * warps, 0, stream_of(queue)>>>(
      kernel);
  check_launch(PairwiseEnergy::name);
}

}  // namespace kiln::cuda
