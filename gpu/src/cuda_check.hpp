// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "kiln/errors.hpp"

namespace kiln::cuda {

/// Where a call stands. std::source_location, for Clang 14 and older as well.
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
  throw CudaError("device.cuda", doing + ": " + cudaGetErrorString(status) + " (" +
                                     cudaGetErrorName(status) + ", " + file + ":" +
                                     std::to_string(where.line) + ")");
}

/// Throws CudaError unless the call succeeded.
///
/// @param doing what the call was for, in words: "copy energies to host".
/// @note An asynchronous failure is reported by whichever call comes next, so `doing` says where it
///       was noticed, which need not be where it happened.
inline void cuda_check(cudaError_t status, const char* doing, const Place& where = Place::here()) {
  if (status != cudaSuccess) [[unlikely]] {
    // Takes the error off the thread, so that it is not blamed on the next launch as well.
    static_cast<void>(cudaGetLastError());
    throw_cuda_error(status, doing, where);
  }
}

/// To be called right after `<<<>>>`, which has no result of its own. Does not wait and is allowed
/// during capture. @throws CudaError naming the kernel.
inline void check_launch(const char* kernel, const Place& where = Place::here()) {
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) [[unlikely]] {
    throw_cuda_error(status, std::string("launch ") + kernel, where);
  }
}

}  // namespace kiln::cuda
