// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/backend.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/kernels/all.hpp"

namespace kiln {

/// Raised whenever CudaModule or the meaning of a part of it changes.
inline constexpr std::uint32_t cuda_module_abi = 3;

/// The interface between libkiln and its CUDA module (libkiln_cuda.so).
///
/// Both come from one build, so C++ types and exceptions cross between them. Only the first five
/// members are used before that is checked.
struct CudaModule {
  std::uint32_t struct_size;
  std::uint32_t abi;
  std::uint64_t fingerprint;
  const char* kiln_version;
  int toolkit_version;  ///< of the CUDA runtime inside the module, 13000 for 13.0

  /// Number of devices, or minus a CUDA error code; then its text is in `error_text`.
  int (*device_count)(char* error_text, std::size_t error_size) noexcept;
  /// Whether kernels of this build run on a device: 0, or a CUDA error code and its text.
  int (*probe)(int device, char* error_text, std::size_t error_size) noexcept;
  /// A backend that the caller deletes. @throws CudaError
  Backend* (*open)(int device);
};

namespace detail {
template <class... Kernels>
constexpr std::uint64_t fingerprint_of(KernelList<Kernels...>) {
  std::uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a over the sizes of the shared types
  for (const std::uint64_t size :
       {static_cast<std::uint64_t>(sizeof(Kernels))..., std::uint64_t{sizeof(Queue)},
        std::uint64_t{sizeof(RunControl)}, std::uint64_t{sizeof(RunSummary)},
        std::uint64_t{sizeof(DeviceInfo)}}) {
    hash = (hash ^ size) * 0x100000001b3ull;
  }
  return hash;
}
}  // namespace detail

/// Differs between builds with different layouts of kernel arguments.
constexpr std::uint64_t cuda_module_fingerprint() {
  return detail::fingerprint_of(KernelCatalog{});
}

}  // namespace kiln

/// The one symbol that the module exports. A static build refers to it weakly, so that it links
/// with and without the backend.
#if defined(KILN_STATIC)
extern "C" __attribute__((weak)) const kiln::CudaModule* kiln_cuda_module() noexcept;
#else
extern "C" __attribute__((visibility("default"))) const kiln::CudaModule*
kiln_cuda_module() noexcept;
#endif
