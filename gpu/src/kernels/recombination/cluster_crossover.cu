// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/recombination/cluster_crossover.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

constexpr int threads = 512;
constexpr std::int32_t outside = -1;

// What a block knows of its pair. The first site of a cluster is its own parent, any other has a
// parent of a smaller number. Changes are even, so the lowest bit of a place stays the bit of s.
struct Clusters {
  std::int32_t* parent;  // [n_sites], outside: in no cluster
  std::int32_t* change;  // [n_sites], of the energy of s by the cluster, at its first site
  int n_sites;
};

struct Counts {
  int differing;
  int of_s, of_t;  // changes of the energies
};

__device__ bool bit_of(std::uint32_t word, std::int64_t slot) {
  return ((word >> (slot % warp_size)) & 1u) != 0;
}

__device__ bool is_minus(const Clusters& clusters, std::uint32_t site) {
  return (clusters.change[site] & 1) != 0;
}

// Others shorten paths at the same time. What they write is an ancestor too.
__device__ std::int32_t first_of(const Clusters& clusters, std::int32_t site) {
  volatile std::int32_t* const parent = clusters.parent;
  std::int32_t above = parent[site];
  while (above != site) {
    const std::int32_t next = parent[above];
    if (next != above) parent[site] = next;
    site = above;
    above = next;
  }
  return site;
}

// Joins the clusters of two sites. The smaller of two first sites stays one, so the first site of a
// cluster does not depend on the order.
__device__ void join(const Clusters& clusters, std::int32_t a, std::int32_t b) {
  a = first_of(clusters, a);
  b = first_of(clusters, b);
  while (a != b) {
    const std::int32_t high = max(a, b), low = min(a, b);
    const std::int32_t before = atomicCAS(&clusters.parent[high], high, low);
    if (before == high) return;
    a = first_of(clusters, before);
    b = first_of(clusters, low);
  }
}

// Which sites differ, each as a cluster.
__device__ void read_states(const ClusterCrossover& kernel, std::int64_t s, std::int64_t t,
                            const Clusters& clusters, Counts& counts) {
  int differing = 0;
  for (int site = static_cast<int>(threadIdx.x); site < clusters.n_sites; site += threads) {
    const std::int32_t v = kernel.model.variable[site];
    bool mine = false, differs = false;
    if (v >= 0) {
      mine = bit_of(kernel.state(v, s / warp_size), s);
      const bool other = kernel.best.rows > 0 ? bit_of(kernel.best(v, t / warp_size), t)
                                              : bit_of(kernel.state(v, t / warp_size), t);
      differs = mine != other;
    }
    differing += differs ? 1 : 0;
    clusters.parent[site] = differs ? site : outside;
    clusters.change[site] = mine ? 1 : 0;
  }
  differing = __reduce_add_sync(full_warp, differing);
  if (threadIdx.x % warp_size == 0 && differing != 0) atomicAdd(&counts.differing, differing);
}

__device__ void take_agreeing(const ClusterCrossover& kernel, const Clusters& clusters) {
  for (int site = static_cast<int>(threadIdx.x); site < clusters.n_sites; site += threads) {
    if (kernel.model.variable[site] < 0) continue;
    clusters.parent[site] = clusters.parent[site] == outside ? site : outside;
  }
}

__device__ void join_neighbors(const PairwiseView& model, const Clusters& clusters) {
  for (int site = static_cast<int>(threadIdx.x); site < clusters.n_sites; site += threads) {
    if (clusters.parent[site] == outside) continue;
    for (std::int64_t e = model.row_begin[site]; e < model.row_begin[site + 1]; ++e) {
      const PairEntry entry = model.entries[e];
      const auto neighbor = static_cast<std::int32_t>(entry.site);
      if (neighbor >= site || entry.weight == 0 || clusters.parent[neighbor] == outside) continue;
      join(clusters, site, neighbor);
    }
  }
}

// The change of the energy of s if `site` alone was flipped, without the neighbours in its cluster.
__device__ std::int32_t change_at(const PairwiseView& model, const Clusters& clusters, int site) {
  auto field = static_cast<std::int32_t>(model.field[site]);
  for (std::int64_t e = model.row_begin[site]; e < model.row_begin[site + 1]; ++e) {
    const PairEntry entry = model.entries[e];
    if (clusters.parent[entry.site] != outside) continue;
    const auto weight = static_cast<std::int32_t>(entry.weight);
    field += is_minus(clusters, entry.site) ? -weight : weight;
  }
  return is_minus(clusters, site) ? 2 * field : -2 * field;
}

// Lanes whose sites are in the same cluster add together: large clusters have thousands of sites.
__device__ void add_changes(const PairwiseView& model, const Clusters& clusters) {
  const int end = (clusters.n_sites + warp_size - 1) / warp_size * warp_size;
  for (int site = static_cast<int>(threadIdx.x); site < end; site += threads) {
    std::int32_t first = outside, change = 0;
    if (site < clusters.n_sites && clusters.parent[site] != outside) {
      first = first_of(clusters, site);
      change = change_at(model, clusters, site);
    }
    const unsigned same = __match_any_sync(full_warp, first);
    const std::int32_t sum = __reduce_add_sync(same, change);
    const int leader = __ffs(static_cast<int>(same)) - 1;
    if (first != outside && static_cast<int>(threadIdx.x) % warp_size == leader) {
      atomicAdd(&clusters.change[first], sum);
    }
  }
}

__device__ void flip(const ClusterCrossover& kernel, std::int32_t variable, std::int64_t slot) {
  atomicXor(&kernel.state(variable, slot / warp_size), 1u << (slot % warp_size));
}

__device__ void flip_better(const ClusterCrossover& kernel, const ClusterCrossover::Pair& pair,
                            const Clusters& clusters, Counts& counts) {
  for (int site = static_cast<int>(threadIdx.x); site < clusters.n_sites; site += threads) {
    if (clusters.parent[site] == outside) continue;
    const std::int32_t first = first_of(clusters, site);
    const std::int32_t change = clusters.change[first] & ~1;
    if (change == 0 || (change > 0 && kernel.best.rows > 0)) continue;
    flip(kernel, kernel.model.variable[site], change < 0 ? pair.s : pair.t);
    if (site == first) atomicAdd(change < 0 ? &counts.of_s : &counts.of_t, -abs(change));
  }
}

__device__ void cross(const ClusterCrossover& kernel, const ClusterCrossover::Pair& pair,
                      const Clusters& clusters, Counts& counts) {
  if (threadIdx.x == 0) counts = {};
  __syncthreads();
  read_states(kernel, pair.s, pair.t, clusters, counts);
  __syncthreads();
  if (kernel.symmetric && 2 * counts.differing > kernel.model.n_variables) {
    take_agreeing(kernel, clusters);
    __syncthreads();
  }
  join_neighbors(kernel.model, clusters);
  __syncthreads();
  add_changes(kernel.model, clusters);
  __syncthreads();
  flip_better(kernel, pair, clusters, counts);
  __syncthreads();
  if (threadIdx.x != 0) return;
  kernel.energy[pair.s] += static_cast<double>(counts.of_s);
  if (kernel.best.rows == 0) kernel.energy[pair.t] += static_cast<double>(counts.of_t);
}

__global__ void __launch_bounds__(threads)
    cross_pairs(const __grid_constant__ ClusterCrossover kernel) {
  if (kernel.stopped()) return;
  extern __shared__ std::int32_t shared_room[];
  __shared__ Counts counts;
  const int n = kernel.model.n_sites;
  std::int32_t* const room =
      n <= ClusterCrossover::sites_without_room ? shared_room : &kernel.room(blockIdx.x, 0);
  for (std::int64_t number = blockIdx.x; number < kernel.slots(); number += gridDim.x) {
    const ClusterCrossover::Pair pair = kernel.pair_of(number);
    if (pair.s >= 0) cross(kernel, pair, {room, room + n, n}, counts);
    __syncthreads();
  }
}

}  // namespace

template <>
void launch(const ClusterCrossover& kernel, Queue& queue) {
  if (kernel.slots() <= 0) return;
  const int n = kernel.model.n_sites;
  const bool in_shared = n <= ClusterCrossover::sites_without_room;
  const std::size_t bytes = in_shared ? 2 * sizeof(std::int32_t) * static_cast<std::size_t>(n) : 0;
  reserve_shared(queue, cross_pairs, bytes, ClusterCrossover::name);
  const std::int64_t blocks = std::min(kernel.slots(), ClusterCrossover::teams);
  cross_pairs<<<static_cast<unsigned>(blocks), threads, bytes, stream_of(queue)>>>(kernel);
  check_launch(ClusterCrossover::name);
}

}  // namespace kiln::cuda
