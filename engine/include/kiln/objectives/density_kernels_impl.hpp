// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kiln/alarm.hpp"
#include "kiln/objectives/density_kernels.hpp"
#include "kiln/queue.hpp"

// The members of CpuDensityKernels. Include this where a density is instantiated, and nowhere else:
// a file that only calls them would compile the density again.
namespace kiln {

template <class Density>
void CpuDensityKernels<Density>::energy(const DensityEnergy& kernel, const Density& density,
                                        Queue& queue) {
  if (kernel.control != nullptr && kernel.control->stop != DeviceStop::none) return;
  const int d = dimension_of(density);
  const std::int64_t size = DensityEnergy::scratch_size(d, density.workspace());
  for_chains(density, kernel.replicas, size, queue,
             [&](const WatchfulTeam& team, std::int64_t slot, double* memory) {
               if (!kernel.active(slot)) return;
               hmc::density_energy(kernel, density, team, slot, memory, memory + d, memory + 2 * d);
             });
}

template <class Density>
void CpuDensityKernels<Density>::transition(const HmcTransition& kernel, const Density& density,
                                            Queue& queue) {
  if (!kernel.chains.control->active(kernel.chains.step_offset)) return;
  const int d = dimension_of(density);
  const std::int64_t size = HmcTransition::scratch_size(d, density.workspace());
  for_chains(density, kernel.chains.replicas, size, queue,
             [&](const WatchfulTeam& team, std::int64_t slot, double* memory) {
               hmc::fixed_transition(kernel, density, team, slot, memory, memory + d,
                                     memory + 2 * d, memory + 3 * d, memory + 4 * d);
             });
}

template <class Density>
void CpuDensityKernels<Density>::nuts(const NutsTransition& kernel, const Density& density,
                                      Queue& queue) {
  if (!kernel.chains.control->active(kernel.chains.step_offset)) return;
  const int d = dimension_of(density);
  const std::int64_t size = NutsTransition::scratch_size(d, density.workspace());
  for_chains(density, kernel.chains.replicas, size, queue,
             [&](const WatchfulTeam& team, std::int64_t slot, double* memory) {
               hmc::nuts_transition(kernel, density, team, slot, memory);
             });
}

template <class Density>
void CpuDensityKernels<Density>::descent(const DensityDescent& kernel, const Density& density,
                                         Queue& queue) {
  const ChainState& chains = kernel.chains;
  if (!chains.control->active(chains.step_offset)) return;
  bool any = false;
  for (std::int64_t r = 0; r < chains.beta.size; ++r) any |= !(chains.beta[r] < exact::infinity());
  if (!any) return;
  const std::int64_t size =
      DensityDescent::scratch_size(dimension_of(density), density.workspace());
  for_chains(density, chains.replicas, size, queue,
             [&](const WatchfulTeam& team, std::int64_t slot, double* memory) {
               hmc::density_descent(kernel, density, team, slot, memory);
             });
}

template <class Density>
void CpuDensityKernels<Density>::sweep(const DensitySweep& kernel, const Density& density,
                                       Queue& queue) {
  if (!kernel.chains.control->active(kernel.chains.step_offset)) return;
  const int d = dimension_of(density);
  const std::int64_t size = DensitySweep::scratch_size(d, density.workspace());
  for_chains(density, kernel.chains.replicas, size, queue,
             [&](const WatchfulTeam& team, std::int64_t slot, double* memory) {
               hmc::density_sweep(kernel, density, team, slot, memory, memory + d);
             });
}

template <class Density>
template <class Body>
void CpuDensityKernels<Density>::for_chains(const Density& density, std::int64_t chains,
                                            std::int64_t scratch, Queue& queue, const Body& body) {
  if constexpr (requires { density.thread_safe(); }) {
    if (!density.thread_safe()) {
      std::vector<double> memory(static_cast<std::size_t>(scratch));
      const WatchfulTeam team{{}, queue.alarm()};
      for (std::int64_t slot = 0; slot < chains; ++slot) body(team, slot, memory.data());
      return;
    }
  }
  // A chain is much work; a few to a task only so that threads share no line of the arrays.
  const std::int64_t per_task = chains < 64 ? 1 : chains_per_task;
  queue.for_each_on_host((chains + per_task - 1) / per_task, [&](std::int64_t task) {
    std::vector<double> memory(static_cast<std::size_t>(scratch));
    const std::int64_t end = std::min(chains, (task + 1) * per_task);
    const WatchfulTeam team{{}, queue.alarm()};
    for (std::int64_t slot = task * per_task; slot < end; ++slot) body(team, slot, memory.data());
  });
}

}  // namespace kiln
