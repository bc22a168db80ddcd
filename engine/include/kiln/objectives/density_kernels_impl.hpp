// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kiln/alarm.hpp"
#include "kiln/objectives/density_kernels.hpp"
#include "kiln/queue.hpp"

// The CPU's density kernels. Include this only where a density is instantiated: other files that
// include it would compile the density again.
namespace kiln {
namespace detail {

/// Calls body(team, slot, memory) for every chain; memory has `scratch` doubles.
template <class Density, class Body>
void for_chains(const Density& density, std::int64_t chains, std::int64_t scratch, Queue& queue,
                const Body& body) {
  if constexpr (requires { density.thread_safe(); }) {
    if (!density.thread_safe()) {
      std::vector<double> memory(static_cast<std::size_t>(scratch));
      const WatchfulTeam team{{}, queue.alarm()};
      for (std::int64_t slot = 0; slot < chains; ++slot) body(team, slot, memory.data());
      return;
    }
  }
  // A chain is much work; a task has several only so that threads share no cache line of the
  // arrays.
  constexpr std::int64_t chains_per_task = 16;
  const std::int64_t per_task = chains < 64 ? 1 : chains_per_task;
  queue.for_each_on_host((chains + per_task - 1) / per_task, [&](std::int64_t task) {
    std::vector<double> memory(static_cast<std::size_t>(scratch));
    const std::int64_t end = std::min(chains, (task + 1) * per_task);
    const WatchfulTeam team{{}, queue.alarm()};
    for (std::int64_t slot = task * per_task; slot < end; ++slot) body(team, slot, memory.data());
  });
}

}  // namespace detail

template <class Density>
template <class Kernel>
void CpuDensityKernels<Density>::run(const Kernel& kernel, const Density& density, Queue& queue) {
  if (!kernel.active()) return;
  if constexpr (requires { kernel.has_work(); }) {
    if (!kernel.has_work()) return;
  }
  const std::int64_t size = Kernel::scratch_size(dimension_of(density), density.workspace());
  detail::for_chains(density, kernel.chain_count(), size, queue,
                     [&](const WatchfulTeam& team, std::int64_t slot, double* memory) {
                       kernel.run(density, team, slot, memory);
                     });
}

template <class Density>
FunctorKernels<DensityFamily> cpu_density_kernels() {
  return FunctorKernels<DensityFamily>::from<CpuDensityKernels<Density>>();
}

}  // namespace kiln
