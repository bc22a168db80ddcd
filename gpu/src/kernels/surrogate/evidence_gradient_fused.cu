// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/cuda/cluster_team.cuh"
#include "kiln/cuda/tile_team.cuh"
#include "kiln/kernels/surrogate/evidence_gradient.hpp"

#include "kernels/team_launch.cuh"

namespace kiln::cuda {
namespace {

/// Items of more than `over` points and of no more than the registers of a team hold.
template <int tiles>
__global__ void __launch_bounds__(TileTeam<tiles>::threads)
    judge_items(const __grid_constant__ EvidenceGradient kernel, std::int64_t over) {
  extern __shared__ __align__(16) double work[];
  for (std::int64_t item = blockIdx.x; item < kernel.items; item += gridDim.x) {
    const std::int64_t n = kernel.points.count(item / kernel.items_per_set);
    if (n <= over || n > TileTeam<tiles>::max_rows) continue;
    kernel.judge<true>(TileTeam<tiles>{}, item, work);
    __syncthreads();  // nobody uses the memory any more
  }
}

/// A launch for each size of team that may be wanted. How an item is computed depends on its own
/// number of points alone, or its bits would change with the company it is in.
template <int tiles, int... larger>
void launch_by_size(const EvidenceGradient& kernel, std::int64_t over, Queue& queue) {
  constexpr std::int64_t most = TileTeam<tiles>::max_rows;
  launch_with_work(judge_items<tiles>, TileTeam<tiles>::threads, kernel, kernel.items, queue, over);
  if constexpr (sizeof...(larger) > 0) {
    if (kernel.points.points > most) launch_by_size<larger...>(kernel, most, queue);
  } else {
    static_assert(most >= EvidenceGradient::resident);
  }
}

/// Items whose inverses are given, a block for each.
constexpr int block_threads = 256;

__global__ void __launch_bounds__(block_threads)
    judge_by_blocks(const __grid_constant__ EvidenceGradient kernel) {
  extern __shared__ __align__(16) double work[];
  for (std::int64_t item = blockIdx.x; item < kernel.items; item += gridDim.x) {
    kernel.judge<false>(BlockTeam{}, item, work);
    __syncthreads();  // nobody uses the memory any more
  }
}

// With inverses that are given most of an item are sums over pairs of points: a cluster of blocks
// for each.
constexpr int cluster_blocks = 8, cluster_threads = 512;

__global__ void __launch_bounds__(cluster_threads)
    judge_by_clusters(const __grid_constant__ EvidenceGradient kernel) {
#if __CUDA_ARCH__ >= 900
  const ClusterTeam<cluster_blocks, cluster_threads> team;
  const std::int64_t clusters = gridDim.x / cluster_blocks;
  for (std::int64_t item = blockIdx.x / cluster_blocks; item < kernel.items; item += clusters) {
    kernel.judge<false>(team, item, &kernel.memory(item, 0));
    team.sync();
  }
#endif
}

void launch_clusters(const EvidenceGradient& kernel, Queue& queue) {
  if (kernel.items <= 0) return;
  constexpr std::int64_t most = 65535 / cluster_blocks;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(cluster_blocks * std::min(kernel.items, most)));
  config.blockDim = dim3(cluster_threads);
  config.stream = stream_of(queue);
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = cluster_blocks;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  config.attrs = &cluster;
  config.numAttrs = 1;
  cuda_check(cudaLaunchKernelEx(&config, judge_by_clusters, kernel), "launch evidence_gradient");
}

}  // namespace

template <>
void launch(const EvidenceGradient& kernel, Queue& queue) {
  if (kernel.inverts()) {
    launch_by_size<4, 8, 13>(kernel, -1, queue);
  } else if (kernel.memory.data != nullptr && limits_of(queue).has_clusters()) {
    launch_clusters(kernel, queue);
  } else {
    launch_with_work(judge_by_blocks, block_threads, kernel, kernel.items, queue);
  }
}

}  // namespace kiln::cuda
