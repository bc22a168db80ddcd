// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/cuda/queue.cuh"
#include "kiln/errors.hpp"
#include "kiln/kernels/objective_values.hpp"

namespace kiln::cuda {
namespace detail {

// A thread has a slot: values of neighbouring slots lie side by side.
template <class Function>
__global__ void __launch_bounds__(128)
    evaluate_slots(const __grid_constant__ ObjectiveValues kernel,
                   const __grid_constant__ Function function) {
  if (!kernel.active()) return;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t slot = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       slot < kernel.replicas; slot += step) {
    kernel.evaluate(function, slot);
  }
}

}  // namespace detail

/// How a vector function is evaluated on a GPU; see CpuVectorFunctionKernels.
template <class Function>
struct VectorFunctionKernels {
  static constexpr int block_size = 128;

  static void values(const ObjectiveValues& kernel, const Function& function, Queue& queue) {
    if (kernel.replicas <= 0) return;
    const std::int64_t wanted = (kernel.replicas + block_size - 1) / block_size;
    const auto blocks = static_cast<unsigned>(wanted < 65536 ? wanted : 65536);
    detail::evaluate_slots<<<blocks, block_size, 0, stream_of(queue)>>>(kernel, function);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
      throw CudaError("cuda.launch", std::string("objective_values: ") + cudaGetErrorString(error));
    }
  }
};

}  // namespace kiln::cuda
