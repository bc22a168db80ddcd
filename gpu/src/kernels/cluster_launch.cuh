// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "grid.cuh"

namespace kiln::cuda {

/// Enqueues run(arguments...) with `blocks` blocks in clusters of `cluster`, `bytes` of dynamic
/// shared memory each. @pre `cluster` divides `blocks`; the device has clusters if it is above 1.
/// @throws CudaError naming the kernel.
template <class Run, class... Arguments>
void launch_in_clusters(Run* run, const char* kernel, std::int64_t blocks, int threads,
                        std::size_t bytes, int cluster, Queue& queue,
                        const Arguments&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = bytes;
  config.stream = stream_of(queue);
  cudaLaunchAttribute size{};
  size.id = cudaLaunchAttributeClusterDimension;
  size.val.clusterDim.x = static_cast<unsigned>(cluster);
  size.val.clusterDim.y = size.val.clusterDim.z = 1;
  config.attrs = &size;
  config.numAttrs = cluster > 1 ? 1 : 0;
  const cudaError_t status = cudaLaunchKernelEx(&config, run, arguments...);
  if (status != cudaSuccess) [[unlikely]] {
    cuda_check(status, (std::string("launch ") + kernel).c_str());
  }
}

}  // namespace kiln::cuda
