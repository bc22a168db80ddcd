// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/cuda/team.cuh"
#include "kiln/device/density.hpp"
#include "kiln/device/views.hpp"

// The device code around density kernels: it gives chains to threads. The run-time compiler reads
// this header, too, so it needs nothing of the host.
namespace kiln::cuda::detail {

__device__ inline std::int64_t global_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// A thread per chain: vectors in registers or in local memory.
template <class Kernel, class Density>
__device__ void chain_by_thread(const Kernel& kernel, const Density& density) {
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

template <class Team, class Kernel, class Density>
__device__ void chain_by_team(const Kernel& kernel, const Density& density) {
  if (!kernel.active()) return;
  const std::int64_t size = Kernel::scratch_size(dimension_of(density), density.workspace());
  std::int64_t stride = 0;
  for (std::int64_t slot = first_chain<Team>(stride); slot < kernel.chain_count(); slot += stride) {
    kernel.run(density, Team{}, slot, memory_of<Team>(kernel.scratch, slot, size));
    Team::sync();  // the next chain may use the same memory
  }
}

}  // namespace kiln::cuda::detail
