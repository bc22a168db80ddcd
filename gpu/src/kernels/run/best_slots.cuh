// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/run/track_best.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

// By a warp, one slot a lane: notes the energies that are better than the best, and returns whose
// are. `step` is the counter at the beginning of the tick: AdvanceTick has not counted its sweeps.
__device__ inline unsigned note_best(const TrackBest& kernel, std::int64_t slot, double energy,
                                     double best, std::uint64_t step) {
  const bool better = slot < kernel.replicas && energy < best && energy > -exact::infinity();
  if (better) {
    kernel.best_energy[slot] = energy;
    kernel.best_step[slot] = step;
  }
  const unsigned mask = __ballot_sync(full_warp, better);
  if (mask == 0) return 0;
  std::uint64_t key = better ? exact::order_key(energy) : ~0ull;
  for (int offset = warp_size / 2; offset > 0; offset /= 2) {
    const std::uint64_t other = __shfl_down_sync(full_warp, key, offset);
    key = other < key ? other : key;
  }
  if (slot % warp_size == 0) {
    static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
    atomicMin(reinterpret_cast<unsigned long long*>(&kernel.control->best_key), key);
  }
  return mask;
}
__device__ inline unsigned note_best(const TrackBest& kernel, std::int64_t slot,
                                     std::uint64_t step) {
  return note_best(kernel, slot, kernel.energy[slot], kernel.best_energy[slot], step);
}

}  // namespace
}  // namespace kiln::cuda
