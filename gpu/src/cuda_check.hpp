// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "kiln/device/device_fault.hpp"
#include "kiln/errors.hpp"

namespace kiln::cuda {

/// The position of a call. std::source_location, for Clang 14 and older as well.
struct Place {
  const char* file;
  int line;
  static constexpr Place here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

[[noreturn]] inline void throw_cuda_error(cudaError_t status, const std::string& doing,
                                          const Place& where) {
  std::string file = where.file;
  file.erase(0, file.find_last_of('/') + 1);
  throw_device_fault(static_cast<int>(status), doing + ": " + cudaGetErrorString(status) + " (" +
                                                   cudaGetErrorName(status) + ", " + file + ":" +
                                                   std::to_string(where.line) + ")");
}

/// Throws CudaError unless the call succeeded.
///
/// @param doing the purpose of the call, in words: "copy energies to host".
/// @note The next call reports an asynchronous failure, so `doing` names the call that noticed it,
/// which need not be the one that caused it.
inline void cuda_check(cudaError_t status, const char* doing, const Place& where = Place::here()) {
  if (status != cudaSuccess) [[unlikely]] {
    // Clears the error of the thread, so that the next launch does not report it as well.
    static_cast<void>(cudaGetLastError());
    throw_cuda_error(status, doing, where);
  }
}

/// Checks a launch; call it directly after `<<<>>>`, which returns no result. Does not wait and is
/// allowed during capture. @throws CudaError naming the kernel.
inline void check_launch(const char* kernel, const Place& where = Place::here()) {
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) [[unlikely]] {
    throw_cuda_error(status, std::string("launch ") + kernel, where);
  }
}

}  // namespace kiln::cuda
