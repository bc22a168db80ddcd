// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/energy_histogram.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

__device__ void add(std::uint64_t& total, std::uint64_t value) {
  if (value != 0) atomicAdd(reinterpret_cast<unsigned long long*>(&total), value);
}

__global__ void __launch_bounds__(block_size)
    count_straight(const __grid_constant__ EnergyHistogram kernel) {
  if (!kernel.active()) return;
  for (std::int64_t slot = thread_index(); slot < kernel.replicas; slot += thread_count()) {
    add(kernel.count.data[kernel.cell_of(slot)], 1);
  }
}

// Energies crowd in a few bins: a block adds its own counts up before it goes to device memory.
__global__ void __launch_bounds__(block_size)
    count_by_blocks(const __grid_constant__ EnergyHistogram kernel) {
  if (!kernel.active()) return;
  __shared__ unsigned mine[EnergyHistogram::shared_cells];
  const auto cells = static_cast<int>(kernel.cells());
  const auto me = static_cast<int>(threadIdx.x);
  for (int i = me; i < cells; i += block_size) mine[i] = 0;
  __syncthreads();
  for (std::int64_t slot = thread_index(); slot < kernel.replicas; slot += thread_count()) {
    atomicAdd(&mine[kernel.cell_of(slot)], 1u);
  }
  __syncthreads();
  for (int i = me; i < cells; i += block_size) add(kernel.count.data[i], mine[i]);
}

}  // namespace

template <>
void launch(const EnergyHistogram& kernel, Queue& queue) {
  if (kernel.replicas <= 0) return;
  const unsigned blocks = blocks_for(kernel.replicas);
  if (kernel.cells() <= EnergyHistogram::shared_cells) {
    count_by_blocks<<<blocks, block_size, 0, stream_of(queue)>>>(kernel);
  } else {
    count_straight<<<blocks, block_size, 0, stream_of(queue)>>>(kernel);
  }
  check_launch(EnergyHistogram::name);
}

}  // namespace kiln::cuda
