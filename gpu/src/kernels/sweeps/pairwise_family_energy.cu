// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/pairwise_family_energy.hpp"

#include "kernels/grid.cuh"

// One block per word of 32 replicas. Each warp sums one part of the sites, lane by replica; the
// parts are then added in order, so that the number of warps does not change the sum.
namespace kiln::cuda {
namespace {

constexpr int warps = 8;

// Without initial values: shared memory of a block cannot have any.
struct Sums {
  double base, term;
};

__device__ inline Sums part_sum(const PairwiseFamilyEnergy& kernel, std::int64_t word,
                                std::int32_t part) {
  const PairwiseFamilyView& model = kernel.model;
  const unsigned lane_bit = 1u << (threadIdx.x % warp_size);
  const std::int32_t begin = part * PairwiseFamilyEnergy::sites_per_part;
  const std::int32_t end = min(begin + PairwiseFamilyEnergy::sites_per_part, model.n_sites);
  Sums sum{0.0, 0.0};
  for (std::int32_t site = begin; site < end; ++site) {
    const std::int32_t variable = model.variable[site];
    if (variable < 0) continue;
    const FamilyPair field = model.field[site];
    Sums local{field.base, field.term};
    for (std::int64_t e = model.row_begin[site]; e < model.row_begin[site + 1]; ++e) {
      const FamilyEntry entry = model.entries[e];
      const bool down = (kernel.state(entry.variable, word) & lane_bit) != 0;
      local.base += down ? -entry.base : entry.base;
      local.term += down ? -entry.term : entry.term;
    }
    const bool down = (kernel.state(variable, word) & lane_bit) != 0;
    const double base = field.base + local.base, term = field.term + local.term;
    sum.base += down ? -base : base;
    sum.term += down ? -term : term;
  }
  return sum;
}

__global__ void __launch_bounds__(warp_size* warps)
    energies(const __grid_constant__ PairwiseFamilyEnergy kernel) {
  if (kernel.control != nullptr && !kernel.control->active(0)) return;
  __shared__ Sums parts[warps][warp_size];
  const std::int64_t word = blockIdx.x;
  const unsigned lane = threadIdx.x % warp_size;
  const auto warp = static_cast<std::int32_t>(threadIdx.x / warp_size);
  const std::int64_t slot = word * warp_size + lane;
  const bool wanted = kernel.selects(slot);
  if (!__syncthreads_or(wanted)) return;
  constexpr std::int32_t part_sites = PairwiseFamilyEnergy::sites_per_part;
  const std::int32_t n_parts = (kernel.model.n_sites + part_sites - 1) / part_sites;
  Sums total{0.0, 0.0};
  for (std::int32_t first = 0; first < n_parts; first += warps) {
    parts[warp][lane] =
        first + warp < n_parts ? part_sum(kernel, word, first + warp) : Sums{0.0, 0.0};
    __syncthreads();
    if (warp == 0) {
      for (int w = 0; w < warps && first + w < n_parts; ++w) {
        total.base += parts[w][lane].base;
        total.term += parts[w][lane].term;
      }
    }
    __syncthreads();
  }
  if (warp == 0 && wanted) kernel.write(slot, total.base, total.term);
}

}  // namespace

template <>
void launch(const PairwiseFamilyEnergy& kernel, Queue& queue) {
  if (kernel.state.columns == 0) return;
  energies<<<static_cast<unsigned>(kernel.state.columns), warp_size * warps, 0, stream_of(queue)>>>(
      kernel);
  check_launch(PairwiseFamilyEnergy::name);
}

}  // namespace kiln::cuda
