// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "kiln/kernels/objective_values.hpp"
#include "kiln/queue.hpp"

namespace kiln {

/// How a vector function is evaluated: one set per function type and backend. The function comes
/// beside the kernel, whose reference is not read; so a functor of a user goes the way of the
/// built-in ones. The CPU's: slots in parallel on the threads of the queue.
template <class Function>
struct CpuVectorFunctionKernels {
  static constexpr std::int64_t slots_per_task = 64;

  static void values(const ObjectiveValues& kernel, const Function& function, Queue& queue) {
    if (!kernel.active()) return;
    const std::int64_t tasks = (kernel.replicas + slots_per_task - 1) / slots_per_task;
    queue.for_each_on_host(tasks, [&](std::int64_t task) {
      const std::int64_t end = std::min(kernel.replicas, (task + 1) * slots_per_task);
      for (std::int64_t slot = task * slots_per_task; slot < end; ++slot) {
        kernel.evaluate(function, slot);
      }
    });
  }
};

}  // namespace kiln
