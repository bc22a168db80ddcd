// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <exception>
#include <string>
#include <thread>

#include "backends/cuda_module.hpp"
#include "backends/module_file.hpp"
#include "cuda_backend.hpp"
#include "probe.hpp"

namespace kiln::cuda {
namespace {

int answer(cudaError_t status, const std::string& text, char* error_text,
           std::size_t error_size) noexcept {
  static_cast<void>(cudaGetLastError());
  if (error_size > 0) {
    const std::size_t length = std::min(text.size(), error_size - 1);
    std::memcpy(error_text, text.data(), length);
    error_text[length] = '\0';
  }
  return static_cast<int>(status);
}

int device_count(char* error_text, std::size_t error_size) noexcept {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess) return count;
  return -answer(status, cudaGetErrorString(status), error_text, error_size);
}

int attribute(cudaDeviceAttr which, int device) noexcept {
  int value = 0;
  static_cast<void>(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

// The driver's text, and what it leaves out but a reader needs.
std::string explain(cudaError_t status, int device) {
  std::string text = cudaGetErrorString(status);
  if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorUnsupportedPtxVersion) {
    text += "; this build has code for " + built_architectures() + ", the device is sm_" +
            std::to_string(attribute(cudaDevAttrComputeCapabilityMajor, device)) +
            std::to_string(attribute(cudaDevAttrComputeCapabilityMinor, device));
  } else if (status == cudaErrorDevicesUnavailable) {
    const int mode = attribute(cudaDevAttrComputeMode, device);
    text += mode == cudaComputeModeProhibited         ? "; its compute mode is 'prohibited'"
            : mode == cudaComputeModeExclusiveProcess ? "; its compute mode is 'exclusive process'"
                                                      : "; its compute mode is 'default'";
  }
  return text;
}

int probe(int device, char* error_text, std::size_t error_size) noexcept {
  try {
    cudaError_t status = cudaSuccess;
    // In a thread of its own: which device is current belongs to the caller's thread.
    std::thread([&] {
      status = cudaSetDevice(device);
      if (status == cudaSuccess) status = run_empty_kernel();
    }).join();
    if (status == cudaSuccess) return 0;
    return answer(status, explain(status, device), error_text, error_size);
  } catch (const std::exception& e) {
    return answer(cudaErrorUnknown, e.what(), error_text, error_size);
  }
}

Backend* open(int device) { return new CudaBackend(device); }

}  // namespace
}  // namespace kiln::cuda

// Read from the file before it is opened.
extern "C" {
extern const kiln::ModuleNote kiln_cuda_module_note;
[[gnu::used, gnu::section(".note.kiln"),
  gnu::aligned(4)]] constinit const kiln::ModuleNote kiln_cuda_module_note =
    kiln::module_note(kiln::cuda_module_abi, sizeof(kiln::CudaModule),
                      kiln::cuda_module_fingerprint(), KILN_VERSION);
}

const kiln::CudaModule* kiln_cuda_module() noexcept {
  static constexpr kiln::CudaModule module{
      .struct_size = sizeof(kiln::CudaModule),
      .abi = kiln::cuda_module_abi,
      .fingerprint = kiln::cuda_module_fingerprint(),
      .kiln_version = KILN_VERSION,
      .toolkit_version = CUDART_VERSION,
      .device_count = &kiln::cuda::device_count,
      .probe = &kiln::cuda::probe,
      .open = &kiln::cuda::open,
  };
  return &module;
}
