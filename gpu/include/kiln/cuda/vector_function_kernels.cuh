// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "kiln/cuda/queue.cuh"
#include "kiln/cuda/vector_function_kernels.hpp"
#include "kiln/errors.hpp"

// The GPU's kernels of vector functions. Include this where a function is instantiated.
namespace kiln::cuda {
namespace detail {

inline constexpr int slots_of_block = 128;

// One thread per slot: values of neighbouring slots are adjacent.
template <class Kernel, class Function>
__global__ void __launch_bounds__(slots_of_block)
    evaluate_slots(const __grid_constant__ Kernel kernel,
                   const __grid_constant__ Function function) {
  if (!kernel.active()) return;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t slot = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       slot < kernel.replicas; slot += step) {
    kernel.evaluate(function, slot);
  }
}

}  // namespace detail

template <class Function>
template <class Kernel>
void VectorFunctionKernels<Function>::run(const Kernel& kernel, const Function& function,
                                          Queue& queue) {
  if (kernel.replicas <= 0) return;
  const std::int64_t wanted =
      (kernel.replicas + detail::slots_of_block - 1) / detail::slots_of_block;
  const auto blocks = static_cast<unsigned>(wanted < 65536 ? wanted : 65536);
  detail::evaluate_slots<<<blocks, detail::slots_of_block, 0, stream_of(queue)>>>(kernel, function);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    throw CudaError("cuda.launch", std::string(Kernel::name) + ": " + cudaGetErrorString(error));
  }
}

template <class Function>
FunctorKernels<VectorFunctionFamily> vector_function_kernels() {
  return FunctorKernels<VectorFunctionFamily>::from<VectorFunctionKernels<Function>>();
}

}  // namespace kiln::cuda
