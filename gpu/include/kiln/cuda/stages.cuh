// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "kiln/cuda/queue.cuh"
#include "kiln/errors.hpp"
#include "kiln/fusion/fuse.hpp"

// The launcher of stages on GPUs. Include this in the .cu file that adds it to a kernel set.
namespace kiln::cuda {
namespace detail {

inline constexpr int threads_of_stages = 128;

// A thread per slot: values of neighbouring slots are adjacent.
template <class Kernel>
__global__ void __launch_bounds__(threads_of_stages)
    run_slots(const __grid_constant__ Kernel kernel, std::int64_t slots) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t slot = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       slot < slots; slot += step) {
    StageRunner::run(kernel, slot);
  }
}

}  // namespace detail

/// The launcher of a stage, or of Fused stages, on GPUs: `&launch_slots<Kernel>` is an entry of a
/// KernelSet. Compile with -fmad=false, as kiln_add_plugin does, for the bits of the CPU.
/// @throws CudaError
template <class Kernel>
void launch_slots(const Kernel& kernel, Queue& queue) {
  const std::int64_t slots = kiln::detail::slots_of(kernel);
  if (slots <= 0) return;
  // Blocks of one warp while there are few, so that they spread over the multiprocessors.
  const int threads = slots <= 32 * 1024 ? 32 : detail::threads_of_stages;
  const auto blocks =
      static_cast<unsigned>(std::min<std::int64_t>((slots + threads - 1) / threads, 1 << 16));
  detail::run_slots<<<blocks, threads, 0, stream_of(queue)>>>(kernel, slots);
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) {
    throw CudaError("cuda.launch", std::string(Kernel::name) + ": " + cudaGetErrorString(status));
  }
}

}  // namespace kiln::cuda
