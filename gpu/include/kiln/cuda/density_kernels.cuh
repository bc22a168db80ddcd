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

// The GPU's density kernels. Include this only where a density is instantiated: other files that
// include it would compile the density again.
namespace kiln::cuda {

namespace detail {

/// Densities whose vectors fit into the registers of a thread.
template <class Density>
inline constexpr bool fits_thread = Density::fixed_dimension > 0 && Density::fixed_dimension <= 32;

/// The team of ChainLayout::lanes. Other densities use a warp, without another kernel.
template <class Density>
using FewThreads = std::conditional_t<works_by_coordinates<Density>, LaneTeam<4>, WarpTeam>;

inline constexpr int threads_of_warps = 128;  // of a block of warp teams
inline constexpr int threads_of_block = 256;  // of a block team
// Bytes that a block gets without an opt-in, less the memory of its sums.
inline constexpr std::int64_t max_shared = 40 * 1024;

__device__ inline std::int64_t global_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// Kernels that can keep the vectors of a chain in registers of a thread.
template <class Kernel, class Density>
concept RunsInRegisters = fits_thread<Density> &&
    requires(const Kernel& kernel, const Density& density, double* work) {
  kernel.run_in_registers(density, std::int64_t{}, work);
};

// A thread per chain: vectors in registers.
template <class Kernel, class Density>
__global__ void __launch_bounds__(128) chains_by_threads(const __grid_constant__ Kernel kernel,
                                                         const __grid_constant__ Density density) {
  if (!kernel.active()) return;
  const std::int64_t slot = global_thread();
  if (slot >= kernel.chain_count()) return;
  kernel.run_in_registers(density, slot, kernel.scratch.data + slot * density.workspace());
}

// A team of several threads per chain: vectors in separate memory for each chain, see memory_of().
// Team::size() gives the number of chains per block.
template <class Team>
__device__ std::int64_t first_chain(std::int64_t& stride) {
  const std::int64_t per_block = blockDim.x / static_cast<unsigned>(Team::size());
  stride = per_block * gridDim.x;
  return per_block * blockIdx.x + threadIdx.x / static_cast<unsigned>(Team::size());
}

// Scratch memory of a chain: in the shared memory of the block if the launch reserved it (a
// leapfrog reads what it has just written, and a cache miss costs as much as its arithmetic), else
// in device memory.
template <class Team>
__device__ double* memory_of(const View1<double>& scratch, std::int64_t slot, std::int64_t size) {
  extern __shared__ double memory_of_block[];
  unsigned bytes = 0;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  if (bytes == 0) return scratch.data + slot * size;
  return memory_of_block + threadIdx.x / static_cast<unsigned>(Team::size()) * size;
}

template <class Kernel, class Density, class Team>
__global__ void chains_by_teams(const __grid_constant__ Kernel kernel,
                                const __grid_constant__ Density density) {
  if (!kernel.active()) return;
  const std::int64_t size = Kernel::scratch_size(dimension_of(density), density.workspace());
  std::int64_t stride = 0;
  for (std::int64_t slot = first_chain<Team>(stride); slot < kernel.chain_count(); slot += stride) {
    kernel.run(density, Team{}, slot, memory_of<Team>(kernel.scratch, slot, size));
    Team::sync();  // the next chain may use the same memory
  }
}

inline void check_density_launch(const char* name) {
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    throw CudaError("cuda.launch", std::string("kernel ") + name +
                                       " could not be launched: " + cudaGetErrorString(error));
  }
}

}  // namespace detail

template <class Density>
template <class Kernel>
void DensityKernels<Density>::run(const Kernel& kernel, const Density& density, Queue& queue) {
  using namespace detail;
  const std::int64_t chains = kernel.chain_count();
  if (chains <= 0) return;
  constexpr std::int64_t limit = 1 << 20;  // of blocks; teams loop over the rest
  constexpr bool in_registers = RunsInRegisters<Kernel, Density>;
  const std::int64_t memory = Kernel::scratch_size(dimension_of(density), density.workspace()) *
                              static_cast<std::int64_t>(sizeof(double));
  const auto shared = [&](int teams) {
    return static_cast<std::size_t>(teams * memory <= max_shared ? teams * memory : 0);
  };
  if (kernel.layout == ChainLayout::block) {
    const auto blocks = static_cast<unsigned>(std::min(chains, limit));
    chains_by_teams<Kernel, Density, BlockTeam>
        <<<blocks, threads_of_block, shared(1), stream_of(queue)>>>(kernel, density);
  } else if (in_registers && kernel.layout == ChainLayout::thread) {
    if constexpr (in_registers) {
      // Small blocks, so that few chains still spread over the multiprocessors.
      const unsigned threads = chains <= 32 * 1024 ? 32 : 128;
      const auto blocks = static_cast<unsigned>((chains + threads - 1) / threads);
      chains_by_threads<Kernel, Density><<<blocks, threads, 0, stream_of(queue)>>>(kernel, density);
    }
  } else {
    const bool lanes = kernel.layout == ChainLayout::lanes;
    const int per_warp = lanes ? 32 / FewThreads<Density>::size() : 1;
    // As few warps per block as the number of chains allows, for the same reason.
    const int warps = chains <= 1024 * per_warp ? 1 : threads_of_warps / 32;
    const int teams = warps * per_warp;  // of a block
    const auto blocks = static_cast<unsigned>(std::min((chains + teams - 1) / teams, limit));
    const auto by_teams = lanes ? &chains_by_teams<Kernel, Density, FewThreads<Density>>
                                : &chains_by_teams<Kernel, Density, WarpTeam>;
    by_teams<<<blocks, static_cast<unsigned>(32 * warps), shared(teams), stream_of(queue)>>>(
        kernel, density);
  }
  check_density_launch(Kernel::name);
}

template <class Density>
FunctorKernels<DensityFamily> density_kernels() {
  return FunctorKernels<DensityFamily>::from<DensityKernels<Density>>();
}

}  // namespace kiln::cuda
