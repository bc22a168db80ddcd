// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>

#include "kiln/device/device_wait.hpp"

namespace kiln::cuda {

/// Looks at the device until it is done; cudaErrorNotReady if the time is up before.
/// @param query  a look, such as cudaStreamQuery()
/// @param spin, timeout  of DeviceWait
template <class Query>
cudaError_t look_until_done(std::chrono::nanoseconds spin, std::chrono::nanoseconds timeout,
                            const Query& query) {
  cudaError_t status = query();
  if (status != cudaErrorNotReady) return status;
  for (DeviceWait wait(spin, timeout); status == cudaErrorNotReady; status = query()) {
    if (!wait.pause()) break;
  }
  // "Not ready" is kept as the thread's last error and would be blamed on the next launch.
  static_cast<void>(cudaGetLastError());
  return status;
}

}  // namespace kiln::cuda
