// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/device/device_fault.hpp"

#include "look_until_done.hpp"
#include "probe.hpp"

namespace kiln::cuda {
namespace {
__global__ void empty_kernel() {}
}  // namespace

cudaError_t run_empty_kernel() {
  const std::chrono::nanoseconds timeout = device_timeout();
  cudaStream_t stream = nullptr;
  cudaError_t status = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (status != cudaSuccess) return status;
  empty_kernel<<<1, 1, 0, stream>>>();
  status = cudaGetLastError();
  if (status == cudaSuccess) {
    status = look_until_done(std::chrono::milliseconds(2), timeout,
                             [stream] { return cudaStreamQuery(stream); });
  }
  if (status == cudaErrorNotReady) {
    note_silent_device();
    return cudaErrorLaunchTimeout;
  }
  static_cast<void>(cudaStreamDestroy(stream));
  return status;
}

std::string built_architectures() {
  std::string text;
  for (const int architecture : {__CUDA_ARCH_LIST__}) {  // 800, 900: set by nvcc
    text += (text.empty() ? "sm_" : ", sm_") + std::to_string(architecture / 10);
  }
  return text;
}

}  // namespace kiln::cuda
