// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "launch.hpp"

namespace kiln::cpu {

/// Runs kernels whose slots are shared by workers (batched_trajectory.hpp): part() of all, decide()
/// on the sum in their order, finish() of all.
template <class Kernel>
void launch_for_slots(const Kernel& kernel, Queue& queue) {
  if (!kernel.active()) return;
  constexpr std::int64_t per_task = 8;  // slots of a line of the cache
  const std::int64_t slots = kernel.slots();
  pool_of(queue).for_each((slots + per_task - 1) / per_task, [&](std::int64_t task) {
    const std::int64_t end = std::min(slots, (task + 1) * per_task);
    for (std::int64_t slot = task * per_task; slot < end; ++slot) {
      double total = 0;
      for (int w = 0; w < Kernel::workers; ++w) total += kernel.part(slot, w);
      const auto decision = kernel.decide(slot, total);
      for (int w = 0; w < Kernel::workers; ++w) kernel.finish(slot, w, decision);
    }
  });
}

}  // namespace kiln::cpu
