// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <kiln/cuda/queue.cuh>
#include <kiln/errors.hpp>
#include <string>

#include "demon_sweep.hpp"
#include "launchers.hpp"

namespace threshold_accepting {
namespace {

// The change of the energy if the spin of `site` flips, for the replica at `bit` of `word`.
__device__ double change(const DemonSweep& kernel, std::int64_t site, std::int64_t word, int bit) {
  double sum = 0;
  for (std::int64_t k = kernel.model.row_begin[site]; k < kernel.model.row_begin[site + 1]; ++k) {
    if ((kernel.state(kernel.neighbour(k), word) >> bit & 1u) != 0) sum += kernel.weight(k);
  }
  const double field = kernel.model.base[site] - 2 * sum;
  const bool is_down = (kernel.state(kernel.model.variable[site], word) >> bit & 1u) != 0;
  return is_down ? 2 * field : -2 * field;
}

// A warp for each word of 32 replicas, a lane for each replica. A warp reads what it has written
// itself, and no other warp writes its words.
__global__ void sweep(const __grid_constant__ DemonSweep kernel) {
  if (!kernel.control->active(kernel.step_offset)) return;
  const double bound = kernel.bound();
  const int lane = static_cast<int>(threadIdx.x) % DemonSweep::word_bits;
  const std::int64_t warp =
      (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / DemonSweep::word_bits;
  const std::int64_t warps =
      static_cast<std::int64_t>(gridDim.x) * blockDim.x / DemonSweep::word_bits;
  for (std::int64_t word = warp; word < kernel.state.columns; word += warps) {
    const std::int64_t slot = word * DemonSweep::word_bits + lane;
    double demon = kernel.demon(slot, bound), energy = 0;
    std::uint64_t flips = 0;
    for (std::int64_t site = 0; site < kernel.model.n_sites; ++site) {
      const std::int32_t variable = kernel.model.variable[site];
      if (variable < 0) continue;
      const double cost = change(kernel, site, word, lane);
      const bool accepted = cost <= demon;
      if (accepted) {
        demon = fmin(demon - cost, bound);
        energy += cost;
        ++flips;
      }
      const unsigned flipped = __ballot_sync(~0u, accepted);
      if (lane == 0 && flipped != 0) kernel.state(variable, word) ^= flipped;
      __syncwarp();
    }
    kernel.energy[slot] += energy;
    kernel.accepted[slot] += flips;
  }
}

}  // namespace

void demon_sweep_on_cuda(const DemonSweep& kernel, kiln::Queue& queue) {
  constexpr int threads = 128;
  const std::int64_t needed = kernel.state.columns * DemonSweep::word_bits;
  const auto blocks =
      static_cast<unsigned>(std::clamp<std::int64_t>((needed + threads - 1) / threads, 1, 1 << 16));
  sweep<<<blocks, threads, 0, kiln::cuda::stream_of(queue)>>>(kernel);
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) {
    throw kiln::CudaError("cuda.launch", std::string("demon_sweep: ") + cudaGetErrorString(status));
  }
}

}  // namespace threshold_accepting
