// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "kiln/cuda/chain_kernels.cuh"
#include "kiln/cuda/chain_launch.hpp"
#include "kiln/cuda/density_kernels.hpp"
#include "kiln/cuda/queue.cuh"
#include "kiln/cuda/team.cuh"
#include "kiln/errors.hpp"

// The GPU's density kernels. Include this only where a density is instantiated: other files that
// include it would compile the density again.
namespace kiln::cuda {

namespace detail {

/// The team of ChainLayout::lanes. Other densities use a warp, without another kernel.
template <class Density>
using FewThreads = std::conditional_t<works_by_coordinates<Density> ||
                                          (Density::fixed_dimension > 0 &&
                                           Density::fixed_dimension <= max_short_dimension),
                                      LaneTeam<4>, WarpTeam>;

/// Kernels that can keep the vectors of a chain in registers of a thread, or in its local memory if
/// the compiler does not know their length.
template <class Kernel, class Density>
concept RunsInRegisters = (thread_vector_length<Density> > 0) &&
                          requires(const Kernel& kernel, const Density& density, double* work) {
  kernel.run_in_registers(density, std::int64_t{}, work);
};

template <class Kernel, class Density>
__global__ void __launch_bounds__(threads_of_warps)
    chains_by_threads(const __grid_constant__ Kernel kernel,
                      const __grid_constant__ Density density) {
  chain_by_thread(kernel, density);
}

template <class Kernel, class Density, class Team>
__global__ void chains_by_teams(const __grid_constant__ Kernel kernel,
                                const __grid_constant__ Density density) {
  chain_by_team<Team>(kernel, density);
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
  constexpr bool in_registers = RunsInRegisters<Kernel, Density>;
  const std::int64_t memory = Kernel::scratch_size(dimension_of(density), density.workspace()) *
                              static_cast<std::int64_t>(sizeof(double));
  if (kernel.layout == ChainLayout::block) {
    const auto [blocks, threads, shared] = ChainLaunch::by_blocks(chains, memory);
    chains_by_teams<Kernel, Density, BlockTeam>
        <<<blocks, threads, shared, stream_of(queue)>>>(kernel, density);
  } else if (in_registers && kernel.layout == ChainLayout::thread &&
             dimension_of(density) <= thread_vector_length<Density>) {
    if constexpr (in_registers) {
      const auto [blocks, threads, shared] = ChainLaunch::by_threads(chains);
      chains_by_threads<Kernel, Density>
          <<<blocks, threads, shared, stream_of(queue)>>>(kernel, density);
    }
  } else {
    const bool lanes = kernel.layout == ChainLayout::lanes;
    const auto [blocks, threads, shared] =
        ChainLaunch::by_teams(chains, lanes ? 32 / FewThreads<Density>::size() : 1, memory);
    const auto by_teams = lanes ? &chains_by_teams<Kernel, Density, FewThreads<Density>>
                                : &chains_by_teams<Kernel, Density, WarpTeam>;
    by_teams<<<blocks, threads, shared, stream_of(queue)>>>(kernel, density);
  }
  check_density_launch(Kernel::name);
}

template <class Density>
FunctorKernels<DensityFamily> density_kernels() {
  return FunctorKernels<DensityFamily>::from<DensityKernels<Density>>();
}

}  // namespace kiln::cuda
