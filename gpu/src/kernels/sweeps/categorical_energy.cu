// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/cuda/queue.cuh"
#include "kiln/kernels/sweeps/categorical_energy.hpp"

#include "cuda_check.hpp"
#include "launch.hpp"
#include "tuned.hpp"

// One block per 32 slots. Each warp sums one part of the sites, lane by slot; the parts are then
// added in order, so that the number of warps does not change the sum.
namespace kiln::cuda {
namespace {

constexpr int usual_warps = 8;

// Sum of 2 h(x) + weights of equal neighbours over the sites of one part.
__device__ inline double part_sum(const CategoricalEnergy& kernel, std::int64_t slot,
                                  std::int32_t part) {
  const CategoricalView& model = kernel.model;
  const std::int32_t begin = part * CategoricalEnergy::sites_per_part;
  const std::int32_t end = min(begin + CategoricalEnergy::sites_per_part, model.n_sites);
  double sum = 0;
  for (std::int32_t site = begin; site < end; ++site) {
    const std::int32_t variable = model.variable[site];
    if (variable < 0) continue;
    const std::int8_t own = kernel.state(variable, slot);
    double equal = 0;
    for (std::int64_t e = model.row_begin[site]; e < model.row_begin[site + 1]; ++e) {
      const std::int32_t neighbor = model.variable[model.entries[e].site];
      if (kernel.state(neighbor, slot) == own) equal += model.weight(e);
    }
    sum += equal + 2 * model.field_of(site, own);
  }
  return sum;
}

template <int warps>
__global__ void __launch_bounds__(32 * warps)
    energies(const __grid_constant__ CategoricalEnergy kernel) {
  if (kernel.control != nullptr && !kernel.control->active(0)) return;
  __shared__ double parts[warps][32];
  const unsigned lane = threadIdx.x % 32;
  const std::int32_t warp = threadIdx.x / 32;
  const std::int64_t slot = static_cast<std::int64_t>(blockIdx.x) * 32 + lane;
  const bool wanted = slot < kernel.state.columns && kernel.selects(slot);
  if (!__syncthreads_or(wanted)) return;
  const std::int32_t n_parts = (kernel.model.n_sites + CategoricalEnergy::sites_per_part - 1) /
                               CategoricalEnergy::sites_per_part;
  double total = 0;
  for (std::int32_t first = 0; first < n_parts; first += warps) {
    const bool has_part = wanted && first + warp < n_parts;
    parts[warp][lane] = has_part ? part_sum(kernel, slot, first + warp) : 0.0;
    __syncthreads();
    if (warp == 0) {
      for (int w = 0; w < warps && first + w < n_parts; ++w) total += parts[w][lane];
    }
    __syncthreads();
  }
  if (warp == 0 && wanted) kernel.energy[slot] = total / 2;
}

const Tunable categorical_energy_warps([] {
  TunableDescription of = tunable_of("categorical_energy", "categorical_energy", "replicas",
                                     {{"warps", {2, 4, 8, 16, 32}}});
  of.default_shape = LaunchShape{usual_warps};
  return of;
}());

template <int warps>
void enqueue_energies(const CategoricalEnergy& kernel, unsigned blocks, Queue& queue) {
  energies<warps><<<blocks, 32 * warps, 0, stream_of(queue)>>>(kernel);
}

}  // namespace

template <>
void launch(const CategoricalEnergy& kernel, Queue& queue) {
  if (kernel.state.columns == 0) return;
  const auto blocks = static_cast<unsigned>((kernel.state.columns + 31) / 32);
  const LaunchShape* const shape = tuned(categorical_energy_warps, queue, kernel.state.columns);
  switch (shape != nullptr ? (*shape)[0] : usual_warps) {
    case 2:
      enqueue_energies<2>(kernel, blocks, queue);
      break;
    case 4:
      enqueue_energies<4>(kernel, blocks, queue);
      break;
    case 16:
      enqueue_energies<16>(kernel, blocks, queue);
      break;
    case 32:
      enqueue_energies<32>(kernel, blocks, queue);
      break;
    default:
      enqueue_energies<usual_warps>(kernel, blocks, queue);
  }
  check_launch(CategoricalEnergy::name);
}

}  // namespace kiln::cuda
