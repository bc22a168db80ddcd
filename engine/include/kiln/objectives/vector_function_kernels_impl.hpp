// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "kiln/kernels/fronts/proposal_tree.hpp"
#include "kiln/objectives/vector_function_kernels.hpp"
#include "kiln/queue.hpp"

// The CPU's kernels of vector functions. Include this where a function is instantiated.
namespace kiln {
namespace detail {

/// Makes a ProposalSweep of some slots in memory of a thread: there the values of a slot are next
/// to each other, and in a batch they are thousands of bytes apart. The slots take turns with each
/// variable, because a processor computes ahead where the next step does not wait for this one.
/// @param sweep  changes single variables
/// @param f  the vector function
/// @param begin  the first slot
/// @param end  behind the last slot
/// @param memory  ProposalTree<1>::bytes() of the variables for each slot
template <class Function>
void sweep_in_memory(const ProposalSweep& sweep, const Function& f, std::int64_t begin,
                     std::int64_t end, std::vector<double>& memory) {
  struct Lanes {
    ProposalTree<1> root, trial;
  };
  const std::int64_t n = sweep.variables();
  std::vector<Lanes> slots;
  slots.reserve(static_cast<std::size_t>(end - begin));
  for (std::int64_t slot = begin; slot < end; ++slot) {
    double* const own = memory.data() + (slot - begin) * (ProposalTree<1>::bytes(n) / 8);
    slots.push_back({{sweep, slot, 0, n, own}, {sweep, slot, 1, n, own}});
    slots.back().root.prepare();
    slots.back().trial.prepare();
  }
  for (std::int64_t v = 0; v < n; ++v) {
    for (Lanes& slot : slots) {
      slot.trial.evaluate(f);
      const unsigned decision = slot.trial.decide();  // of lane 1: bit 1 of the votes
      const unsigned taken = (decision & 1u) << 1, not_finite = decision & 2u;
      slot.root.advance(taken, not_finite);
      slot.trial.advance(taken, not_finite);
    }
  }
  for (const Lanes& slot : slots) {
    slot.root.finish();
    slot.trial.finish();
  }
}

}  // namespace detail

template <class Function>
template <class Kernel>
void CpuVectorFunctionKernels<Function>::run(const Kernel& kernel, const Function& function,
                                             Queue& queue) {
  if (!kernel.active()) return;
  const std::int64_t tasks = (kernel.replicas + slots_per_task - 1) / slots_per_task;
  queue.for_each_on_host(tasks, [&](std::int64_t task) {
    const std::int64_t end = std::min(kernel.replicas, (task + 1) * slots_per_task);
    if constexpr (std::is_same_v<Kernel, ProposalSweep>) {
      constexpr std::int64_t max_bytes = 64 * 1024;  // of a thread, beside the plan of the run
      constexpr std::int64_t at_once = 8;
      const std::int64_t bytes = at_once * ProposalTree<1>::bytes(kernel.variables());
      if (kernel.changes_single_variables() && bytes <= max_bytes) {
        std::vector<double> memory(static_cast<std::size_t>(bytes / 8));
        for (std::int64_t slot = task * slots_per_task; slot < end; slot += at_once) {
          detail::sweep_in_memory(kernel, function, slot, std::min(end, slot + at_once), memory);
        }
        return;
      }
    }
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
