// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/grid.cuh"

namespace kiln::cuda {

namespace detail {

// A lane per slot, a warp per worker.
template <class Kernel>
__global__ void __launch_bounds__(warp_size* Kernel::workers)
    run_slots(const __grid_constant__ Kernel kernel) {
  if (!kernel.active()) return;
  __shared__ double parts[Kernel::workers][warp_size];
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int worker = static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t slot = static_cast<std::int64_t>(blockIdx.x) * warp_size + lane;
  const bool there = slot < kernel.slots();
  parts[worker][lane] = there ? kernel.part(slot, worker) : 0.0;
  __syncthreads();
  double total = 0;
  for (int w = 0; w < Kernel::workers; ++w) total = __dadd_rn(total, parts[w][lane]);
  // finish() may overwrite what decide() of another worker reads.
  decltype(kernel.decide(slot, total)) decision{};
  if (there) decision = kernel.decide(slot, total);
  __syncthreads();
  if (there) kernel.finish(slot, worker, decision);
}

}  // namespace detail

/// Runs kernels whose slots are shared by workers: see batched_trajectory.hpp.
template <class Kernel>
void launch_for_slots(const Kernel& kernel, Queue& queue) {
  const std::int64_t blocks = (kernel.slots() + warp_size - 1) / warp_size;
  if (blocks <= 0) return;
  detail::run_slots<<<static_cast<unsigned>(blocks), warp_size * Kernel::workers, 0,
                      stream_of(queue)>>>(kernel);
  check_launch(Kernel::name);
}

}  // namespace kiln::cuda
