// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/run/track_best.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

// What does not change while a tick ends. The step is that of the beginning of the tick:
// AdvanceTick has not counted its sweeps.
struct TickStart {
  std::uint64_t step;
  double wanted;
};
__device__ inline TickStart tick_start(const RunControl* control) {
  return {control->step, control->wanted};
}

// By a warp, one slot a lane: notes the energies that are better than the best, and returns whose
// are.
__device__ inline unsigned note_best(const TrackBest& kernel, std::int64_t slot, double energy,
                                     double best, const TickStart& start) {
  const bool is_replica = slot < kernel.replicas;
  if (is_replica && best == start.wanted && kernel.replica_of.size > 0) {
    atomicMin(reinterpret_cast<unsigned long long*>(&kernel.control->finder),
              BestLog::finder_of(kernel.replica_of[slot], kernel.rung_of[slot]));
  }
  const bool better = is_replica && energy < best && energy > -exact::infinity();
  if (better) {
    kernel.best_energy[slot] = energy;
    kernel.best_step[slot] = start.step;
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
                                     const TickStart& start) {
  return note_best(kernel, slot, kernel.energy[slot], kernel.best_energy[slot], start);
}

}  // namespace
}  // namespace kiln::cuda
