// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "grid.cuh"

namespace kiln::cuda {

/// Clusters of a kernel without dynamic shared memory that the device of the caller can hold at
/// once.
template <class Run>
int clusters_at_once(Run* run, int threads, int cluster) {
  cudaLaunchAttribute size{};
  size.id = cudaLaunchAttributeClusterDimension;
  size.val.clusterDim.x = static_cast<unsigned>(cluster);
  size.val.clusterDim.y = size.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(cluster));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.attrs = &size;
  config.numAttrs = 1;
  int clusters = 0;
  cuda_check(cudaOccupancyMaxActiveClusters(&clusters, run, &config),
             "count the clusters that a device holds");
  return clusters;
}

/// Enqueues run(arguments...) with `blocks` blocks in clusters of `cluster`, all of them on the
/// device at once, so that they may wait for each other.
/// @pre `cluster` divides `blocks`; clusters_at_once() of them fit.
/// @throws CudaError naming the kernel.
template <class Run, class... Arguments>
void launch_in_clusters(Run* run, const char* kernel, std::int64_t blocks, int threads, int cluster,
                        Queue& queue, const Arguments&... arguments) {
  std::array<cudaLaunchAttribute, 2> attributes{};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim.x = static_cast<unsigned>(cluster);
  attributes[0].val.clusterDim.y = attributes[0].val.clusterDim.z = 1;
  attributes[1].id = cudaLaunchAttributeCooperative;
  attributes[1].val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.stream = stream_of(queue);
  config.attrs = attributes.data();
  config.numAttrs = static_cast<unsigned>(attributes.size());
  const cudaError_t status = cudaLaunchKernelEx(&config, run, arguments...);
  if (status != cudaSuccess) [[unlikely]] {
    cuda_check(status, (std::string("launch ") + kernel).c_str());
  }
}

}  // namespace kiln::cuda
