// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/record_telemetry.hpp"

#include "kernels/grid.cuh"

// A warp adds a node of 256 slots. The last launch is one block: it adds the nodes of each group
// and merges the groups. It adds the nodes itself where they are few.
namespace kiln::cuda {
namespace {

constexpr int wide = RecordTelemetry::wide_lanes;
constexpr std::int64_t nodes_of_block = 64;  // that one block adds by itself
static_assert(RecordTelemetry::node_lanes == warp_size);

__device__ TelemetryPart shuffle_down(const TelemetryPart& part, int offset) {
  TelemetryPart other;
  other.count = __shfl_down_sync(full_warp, part.count, offset);
  other.sum = __shfl_down_sync(full_warp, part.sum, offset);
  other.square = __shfl_down_sync(full_warp, part.square, offset);
  other.least = __shfl_down_sync(full_warp, part.least, offset);
  other.most = __shfl_down_sync(full_warp, part.most, offset);
  other.accepted = __shfl_down_sync(full_warp, part.accepted, offset);
  other.not_finite = __shfl_down_sync(full_warp, part.not_finite, offset);
  other.best = __shfl_down_sync(full_warp, part.best, offset);
  other.replica = __shfl_down_sync(full_warp, part.replica, offset);
  other.slot = __shfl_down_sync(full_warp, part.slot, offset);
  return other;
}

// By a warp: lane l has the sum of all lanes l, l + offset, ... that are left; lane 0 has it all.
__device__ void add_lanes(TelemetryPart& part) {
  for (int offset = warp_size / 2; offset > 0; offset /= 2) {
    const TelemetryPart other = shuffle_down(part, offset);
    if (static_cast<int>(threadIdx.x) % warp_size < offset) RecordTelemetry::add(part, other);
  }
}

// By a block of `wide` threads, the same through shared memory.
template <class Part, class Add>
__device__ void add_threads(Part* shared, const Part& part, Add add) {
  const int me = static_cast<int>(threadIdx.x);
  shared[me] = part;
  for (int half = wide / 2; half > 0; half /= 2) {
    __syncthreads();
    if (me < half) add(shared[me], shared[me + half]);
  }
  __syncthreads();
}

// By a warp: a node, and the group where it is all of it.
__device__ void reduce_node(const RecordTelemetry& kernel, std::int64_t node, bool records) {
  const std::int64_t nodes = kernel.nodes(), group = node / nodes;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const std::int64_t end = (group + 1) * kernel.group_size;
  const std::int64_t first = group * kernel.group_size + node % nodes * RecordTelemetry::node_size;
  const double origin = kernel.origin_of(group);
  TelemetryPart part = TelemetryPart::nothing();
#pragma unroll 2
  for (std::int64_t i = lane; i < RecordTelemetry::node_size; i += warp_size) {
    if (first + i >= end) break;
    kernel.add_slot(part, first + i, origin);
    if (records) kernel.publish_replica(first + i);
  }
  __syncwarp();
  add_lanes(part);
  if (lane != 0) return;
  if (nodes == 1) {
    kernel.finish_group(group, part);
  } else {
    kernel.parts[node] = part;
  }
}

__device__ bool records_replicas(const RecordTelemetry& kernel) {
  return kernel.ring.level == TelemetryLevel::replicas && kernel.ring.keeps(kernel.state->epochs);
}

__global__ void __launch_bounds__(block_size)
    reduce_nodes(const __grid_constant__ RecordTelemetry kernel) {
  if (!kernel.due()) return;
  const bool records = records_replicas(kernel);
  const std::int64_t all = kernel.groups() * kernel.nodes();
  const std::int64_t warps = thread_count() / warp_size;
  for (std::int64_t node = thread_index() / warp_size; node < all; node += warps) {
    reduce_node(kernel, node, records);
  }
}

// By a warp.
__device__ void finish_by_warp(const RecordTelemetry& kernel, std::int64_t group) {
  const std::int64_t nodes = kernel.nodes();
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  TelemetryPart part = TelemetryPart::nothing();
  for (std::int64_t i = lane; i < nodes; i += warp_size) {
    RecordTelemetry::add(part, kernel.parts[group * nodes + i]);
  }
  add_lanes(part);
  if (lane == 0) kernel.finish_group(group, part);
}

// By the block.
__device__ void finish_by_block(const RecordTelemetry& kernel, std::int64_t group,
                                TelemetryPart* shared) {
  const std::int64_t nodes = kernel.nodes();
  TelemetryPart part = TelemetryPart::nothing();
  for (std::int64_t i = threadIdx.x; i < nodes; i += wide) {
    RecordTelemetry::add(part, kernel.parts[group * nodes + i]);
  }
  add_threads(shared, part, RecordTelemetry::add);
  if (threadIdx.x == 0) kernel.finish_group(group, shared[0]);
  __syncthreads();
}

template <bool with_nodes>
__global__ void __launch_bounds__(wide)
    finish_epoch(const __grid_constant__ RecordTelemetry kernel) {
  extern __shared__ std::uint64_t memory[];
  if (!kernel.due()) return;
  const int warp = static_cast<int>(threadIdx.x) / warp_size, warps = wide / warp_size;
  if constexpr (with_nodes) {
    const bool records = records_replicas(kernel);
    const std::int64_t all = kernel.groups() * kernel.nodes();
    for (std::int64_t node = warp; node < all; node += warps) reduce_node(kernel, node, records);
    __syncthreads();
  }
  if (kernel.nodes() > 1) {
    if (RecordTelemetry::lanes_of(kernel.nodes()) == wide) {
      auto* const shared = reinterpret_cast<TelemetryPart*>(memory);
      for (std::int64_t g = 0; g < kernel.groups(); ++g) finish_by_block(kernel, g, shared);
    } else {
      for (std::int64_t g = warp; g < kernel.groups(); g += warps) finish_by_warp(kernel, g);
    }
    __syncthreads();
  }
  if (kernel.groups() == 1) {
    if (threadIdx.x == 0) kernel.finish(kernel.sums[0].last);
    return;
  }
  auto* const shared = reinterpret_cast<TelemetryEpoch*>(memory);
  TelemetryEpoch epoch = RecordTelemetry::no_epoch();
  for (std::int64_t group = threadIdx.x; group < kernel.groups(); group += wide) {
    RecordTelemetry::merge(epoch, kernel.sums[group].last);
  }
  add_threads(shared, epoch, RecordTelemetry::merge);
  if (threadIdx.x == 0) kernel.finish(shared[0]);
}

}  // namespace

template <>
void launch(const RecordTelemetry& kernel, Queue& queue) {
  static_assert(sizeof(TelemetryPart) <= sizeof(TelemetryEpoch));
  constexpr std::size_t shared_bytes = wide * sizeof(TelemetryEpoch);
  const cudaStream_t stream = stream_of(queue);
  const std::int64_t nodes = kernel.groups() * kernel.nodes();
  const bool few = nodes <= nodes_of_block;
  const auto finish = few ? finish_epoch<true> : finish_epoch<false>;
  cuda_check(cudaFuncSetAttribute(finish, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(shared_bytes)),
             "allow a block of record_telemetry its shared memory");
  if (!few) {
    reduce_nodes<<<blocks_for(nodes * warp_size), block_size, 0, stream>>>(kernel);
    check_launch(RecordTelemetry::name);
  }
  finish<<<1, wide, shared_bytes, stream>>>(kernel);
  check_launch(RecordTelemetry::name);
}

}  // namespace kiln::cuda
