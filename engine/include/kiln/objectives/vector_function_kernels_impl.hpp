// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "kiln/objectives/vector_function_kernels.hpp"
#include "kiln/queue.hpp"

// The CPU's kernels of vector functions. Include this where a function is instantiated.
namespace kiln {

template <class Function>
template <class Kernel>
void CpuVectorFunctionKernels<Function>::run(const Kernel& kernel, const Function& function,
                                             Queue& queue) {
  if (!kernel.active()) return;
  const std::int64_t tasks = (kernel.replicas + slots_per_task - 1) / slots_per_task;
  queue.for_each_on_host(tasks, [&](std::int64_t task) {
    const std::int64_t end = std::min(kernel.replicas, (task + 1) * slots_per_task);
    for (std::int64_t slot = task * slots_per_task; slot < end; ++slot) {
      kernel.evaluate(function, slot);
    }
  });
}

template <class Function>
FunctorKernels<VectorFunctionFamily> cpu_vector_function_kernels() {
  return FunctorKernels<VectorFunctionFamily>::from<CpuVectorFunctionKernels<Function>>();
}

}  // namespace kiln
