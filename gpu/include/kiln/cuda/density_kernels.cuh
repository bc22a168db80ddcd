// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "kiln/cuda/density_kernels.hpp"
#include "kiln/cuda/queue.cuh"
#include "kiln/cuda/team.cuh"
#include "kiln/errors.hpp"

// The members of DensityKernels. Include this where a density is instantiated, and nowhere else: a
// file that only calls them would compile the density again.
namespace kiln::cuda {

namespace detail {

/// Densities whose vectors fit into the registers of a thread.
template <class Density>
inline constexpr bool fits_thread = Density::fixed_dimension > 0 && Density::fixed_dimension <= 32;

/// The team of ChainLayout::lanes. Other densities get a warp, without another kernel.
template <class Density>
using FewThreads = std::conditional_t<works_by_coordinates<Density>, LaneTeam<4>, WarpTeam>;

inline constexpr int threads_of_warps = 128;  // of a block of warp teams
inline constexpr int threads_of_block = 256;  // of a block team
// Bytes that a block gets without asking, less what its sums take.
inline constexpr std::int64_t most_shared = 40 * 1024;

__device__ inline std::int64_t global_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// A thread per chain: vectors in registers.
template <class Density>
__global__ void energy_by_threads(const __grid_constant__ DensityEnergy kernel,
                                  const __grid_constant__ Density density) {
  const std::int64_t slot = global_thread();
  if (slot >= kernel.replicas || !kernel.active(slot)) return;
  double x[Density::fixed_dimension], g[Density::fixed_dimension];
  double* work = kernel.scratch.data + slot * density.workspace();
  hmc::density_energy(kernel, density, SingleTeam{}, slot, x, g, work);
}

template <class Density>
__global__ void __launch_bounds__(128)
    transition_by_threads(const __grid_constant__ HmcTransition kernel,
                          const __grid_constant__ Density density) {
  if (!kernel.chains.control->active(kernel.chains.step_offset)) return;
  const std::int64_t slot = global_thread();
  if (slot >= kernel.chains.replicas) return;
  double x[Density::fixed_dimension], z[Density::fixed_dimension], g[Density::fixed_dimension],
      velocity[Density::fixed_dimension];
  double* work = kernel.scratch.data + slot * density.workspace();
  hmc::fixed_transition(kernel, density, SingleTeam{}, slot, x, z, g, velocity, work);
}

template <class Density>
__global__ void __launch_bounds__(128) sweep_by_threads(const __grid_constant__ DensitySweep kernel,
                                                        const __grid_constant__ Density density) {
  if (!kernel.chains.control->active(kernel.chains.step_offset)) return;
  const std::int64_t slot = global_thread();
  if (slot >= kernel.chains.replicas) return;
  double x[Density::fixed_dimension];
  double* work = kernel.scratch.data + slot * density.workspace();
  hmc::density_sweep(kernel, density, SingleTeam{}, slot, x, work);
}

// A team of several threads per chain: vectors in memory of the chain's own, see memory_of().
// Team::size() says how many chains a block has.
template <class Team>
__device__ std::int64_t first_chain(std::int64_t& stride) {
  const std::int64_t per_block = blockDim.x / static_cast<unsigned>(Team::size());
  stride = per_block * gridDim.x;
  return per_block * blockIdx.x + threadIdx.x / static_cast<unsigned>(Team::size());
}

// Scratch memory of a chain: in the shared memory of the block if the launch gave it any (a
// leapfrog reads what it has just written, and every read that misses costs as much as its
// arithmetic), else in device memory.
template <class Team>
__device__ double* memory_of(const View1<double>& scratch, std::int64_t slot, std::int64_t size) {
  extern __shared__ double memory_of_block[];
  unsigned bytes = 0;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  if (bytes == 0) return scratch.data + slot * size;
  return memory_of_block + threadIdx.x / static_cast<unsigned>(Team::size()) * size;
}

template <class Density, class Team>
__global__ void energy_by_teams(const __grid_constant__ DensityEnergy kernel,
                                const __grid_constant__ Density density) {
  const int d = dimension_of(density);
  const std::int64_t size = DensityEnergy::scratch_size(d, density.workspace());
  std::int64_t stride = 0;
  for (std::int64_t slot = first_chain<Team>(stride); slot < kernel.replicas; slot += stride) {
    if (!kernel.active(slot)) continue;
    double* memory = memory_of<Team>(kernel.scratch, slot, size);
    hmc::density_energy(kernel, density, Team{}, slot, memory, memory + d, memory + 2 * d);
    Team::sync();  // the next chain may use the same memory
  }
}

template <class Density, class Team>
__global__ void transition_by_teams(const __grid_constant__ HmcTransition kernel,
                                    const __grid_constant__ Density density) {
  if (!kernel.chains.control->active(kernel.chains.step_offset)) return;
  const int d = dimension_of(density);
  const std::int64_t size = HmcTransition::scratch_size(d, density.workspace());
  std::int64_t stride = 0;
  for (std::int64_t slot = first_chain<Team>(stride); slot < kernel.chains.replicas;
       slot += stride) {
    double* memory = memory_of<Team>(kernel.scratch, slot, size);
    hmc::fixed_transition(kernel, density, Team{}, slot, memory, memory + d, memory + 2 * d,
                          memory + 3 * d, memory + 4 * d);
    Team::sync();
  }
}

template <class Density, class Team>
__global__ void nuts_by_teams(const __grid_constant__ NutsTransition kernel,
                              const __grid_constant__ Density density) {
  if (!kernel.chains.control->active(kernel.chains.step_offset)) return;
  const std::int64_t size =
      NutsTransition::scratch_size(dimension_of(density), density.workspace());
  std::int64_t stride = 0;
  for (std::int64_t slot = first_chain<Team>(stride); slot < kernel.chains.replicas;
       slot += stride) {
    hmc::nuts_transition(kernel, density, Team{}, slot,
                         memory_of<Team>(kernel.scratch, slot, size));
    Team::sync();
  }
}

template <class Density, class Team>
__global__ void descent_by_teams(const __grid_constant__ DensityDescent kernel,
                                 const __grid_constant__ Density density) {
  if (!kernel.chains.control->active(kernel.chains.step_offset)) return;
  const std::int64_t size =
      DensityDescent::scratch_size(dimension_of(density), density.workspace());
  std::int64_t stride = 0;
  for (std::int64_t slot = first_chain<Team>(stride); slot < kernel.chains.replicas;
       slot += stride) {
    hmc::density_descent(kernel, density, Team{}, slot,
                         memory_of<Team>(kernel.scratch, slot, size));
    Team::sync();
  }
}

template <class Density, class Team>
__global__ void sweep_by_teams(const __grid_constant__ DensitySweep kernel,
                               const __grid_constant__ Density density) {
  if (!kernel.chains.control->active(kernel.chains.step_offset)) return;
  const int d = dimension_of(density);
  const std::int64_t size = DensitySweep::scratch_size(d, density.workspace());
  std::int64_t stride = 0;
  for (std::int64_t slot = first_chain<Team>(stride); slot < kernel.chains.replicas;
       slot += stride) {
    double* memory = memory_of<Team>(kernel.scratch, slot, size);
    hmc::density_sweep(kernel, density, Team{}, slot, memory, memory + d);
    Team::sync();
  }
}

inline void check_density_launch(const char* name) {
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    throw CudaError("cuda.launch", std::string("kernel ") + name +
                                       " could not be launched: " + cudaGetErrorString(error));
  }
}

template <class Kernel, class Density, class ByThreads>
void launch_any(const Kernel& kernel, const Density& density, std::int64_t chains, Queue& queue,
                const char* name, void (*by_lanes)(Kernel, Density),
                void (*by_warps)(Kernel, Density), void (*by_blocks)(Kernel, Density),
                const ByThreads& by_threads) {
  if (chains <= 0) return;
  constexpr std::int64_t limit = 1 << 20;  // of blocks; teams loop over the rest
  const std::int64_t memory = Kernel::scratch_size(dimension_of(density), density.workspace()) *
                              static_cast<std::int64_t>(sizeof(double));
  const auto shared = [&](int teams) {
    return static_cast<std::size_t>(teams * memory <= most_shared ? teams * memory : 0);
  };
  if (kernel.layout == ChainLayout::block) {
    const auto blocks = static_cast<unsigned>(std::min(chains, limit));
    by_blocks<<<blocks, threads_of_block, shared(1), stream_of(queue)>>>(kernel, density);
  } else if (kernel.layout == ChainLayout::thread && fits_thread<Density>) {
    // Small blocks, so that few chains still spread over the multiprocessors.
    const unsigned threads = chains <= 32 * 1024 ? 32 : 128;
    by_threads(dim3(static_cast<unsigned>((chains + threads - 1) / threads)), threads);
  } else {
    const bool lanes = kernel.layout == ChainLayout::lanes;
    const int per_warp = lanes ? 32 / FewThreads<Density>::size() : 1;
    // As few warps to a block as the number of chains allows, for the same reason.
    const int warps = chains <= 1024 * per_warp ? 1 : threads_of_warps / 32;
    const int teams = warps * per_warp;  // of a block
    const auto blocks = static_cast<unsigned>(std::min((chains + teams - 1) / teams, limit));
    const auto run = lanes ? by_lanes : by_warps;
    run<<<blocks, static_cast<unsigned>(32 * warps), shared(teams), stream_of(queue)>>>(kernel,
                                                                                        density);
  }
  check_density_launch(name);
}

}  // namespace detail

template <class Density>
void DensityKernels<Density>::energy(const DensityEnergy& kernel, const Density& density,
                                     Queue& queue) {
  detail::launch_any(kernel, density, kernel.replicas, queue, DensityEnergy::name,
                     &detail::energy_by_teams<Density, detail::FewThreads<Density>>,
                     &detail::energy_by_teams<Density, WarpTeam>,
                     &detail::energy_by_teams<Density, BlockTeam>,
                     [&](dim3 blocks, unsigned threads) {
                       if constexpr (detail::fits_thread<Density>) {
                         detail::energy_by_threads<Density>
                             <<<blocks, threads, 0, stream_of(queue)>>>(kernel, density);
                       }
                     });
}

template <class Density>
void DensityKernels<Density>::transition(const HmcTransition& kernel, const Density& density,
                                         Queue& queue) {
  detail::launch_any(kernel, density, kernel.chains.replicas, queue, HmcTransition::name,
                     &detail::transition_by_teams<Density, detail::FewThreads<Density>>,
                     &detail::transition_by_teams<Density, WarpTeam>,
                     &detail::transition_by_teams<Density, BlockTeam>,
                     [&](dim3 blocks, unsigned threads) {
                       if constexpr (detail::fits_thread<Density>) {
                         detail::transition_by_threads<Density>
                             <<<blocks, threads, 0, stream_of(queue)>>>(kernel, density);
                       }
                     });
}

template <class Density>
void DensityKernels<Density>::nuts(const NutsTransition& kernel, const Density& density,
                                   Queue& queue) {
  detail::launch_any(kernel, density, kernel.chains.replicas, queue, NutsTransition::name,
                     &detail::nuts_by_teams<Density, detail::FewThreads<Density>>,
                     &detail::nuts_by_teams<Density, WarpTeam>,
                     &detail::nuts_by_teams<Density, BlockTeam>, [](dim3, unsigned) {});
}

template <class Density>
void DensityKernels<Density>::descent(const DensityDescent& kernel, const Density& density,
                                      Queue& queue) {
  detail::launch_any(kernel, density, kernel.chains.replicas, queue, DensityDescent::name,
                     &detail::descent_by_teams<Density, detail::FewThreads<Density>>,
                     &detail::descent_by_teams<Density, WarpTeam>,
                     &detail::descent_by_teams<Density, BlockTeam>, [](dim3, unsigned) {});
}

template <class Density>
void DensityKernels<Density>::sweep(const DensitySweep& kernel, const Density& density,
                                    Queue& queue) {
  detail::launch_any(kernel, density, kernel.chains.replicas, queue, DensitySweep::name,
                     &detail::sweep_by_teams<Density, detail::FewThreads<Density>>,
                     &detail::sweep_by_teams<Density, WarpTeam>,
                     &detail::sweep_by_teams<Density, BlockTeam>,
                     [&](dim3 blocks, unsigned threads) {
                       if constexpr (detail::fits_thread<Density>) {
                         detail::sweep_by_threads<Density>
                             <<<blocks, threads, 0, stream_of(queue)>>>(kernel, density);
                       }
                     });
}

}  // namespace kiln::cuda
