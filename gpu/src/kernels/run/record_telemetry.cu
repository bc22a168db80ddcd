// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/record_telemetry.hpp"

#include "kernels/grid.cuh"

// A warp adds a node of 256 slots. The last launch is one block: it adds the nodes of each group
// and merges the groups. It adds the nodes itself where they are few.
namespace kiln::cuda {
namespace {

constexpr int wide = RecordTelemetry::wide_lanes;
constexpr std::int64_t few_nodes = 16;  // that one block adds by itself
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

// By a block of `wide` threads, the same through shared memory. Threads from `used` on have
// nothing.
template <class Part, class Add>
__device__ void add_threads(Part* shared, const Part& part, std::int64_t used, Add add) {
  const int me = static_cast<int>(threadIdx.x);
  if (me < used) shared[me] = part;
  __syncthreads();
  for (int half = wide / 2; half > 0; half /= 2) {
    if (half >= used) continue;
    if (me < half && me + half < used) add(shared[me], shared[me + half]);
    __syncthreads();
  }
}

// By a warp: a node, and the group where it is all of it.
template <bool records>
__device__ void reduce_node(const RecordTelemetry& kernel, std::int64_t node) {
  const std::int64_t nodes = kernel.nodes(), group = node / nodes;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const std::int64_t end = (group + 1) * kernel.group_size;
  const std::int64_t first = group * kernel.group_size + node % nodes * RecordTelemetry::node_size;
  const double origin = kernel.origin_of(group);
  TelemetryPart part = TelemetryPart::nothing();
#pragma unroll
  for (int i = 0; i < RecordTelemetry::node_size / warp_size; ++i) {
    const std::int64_t slot = first + i * warp_size + lane;
    if (slot >= end) continue;
    kernel.add_slot(part, slot, origin);
    if constexpr (records) kernel.publish_replica(slot);
  }
  __syncwarp();
  add_lanes(part);
  if (lane != 0) return;
  if (nodes == 1 && kernel.task == RecordTelemetry::Task::epoch) {
    kernel.finish_group(group, part);
  } else {
    kernel.parts[node] = part;
  }
}

// By warps of which this is number `warp`.
__device__ void reduce_all_nodes(const RecordTelemetry& kernel, std::int64_t warp,
                                 std::int64_t warps) {
  const std::int64_t all = kernel.groups() * kernel.nodes();
  const bool records = kernel.task == RecordTelemetry::Task::epoch &&
                       kernel.ring.level == TelemetryLevel::replicas &&
                       kernel.ring.keeps(kernel.state->epochs);
  if (records) {
    for (std::int64_t node = warp; node < all; node += warps) reduce_node<true>(kernel, node);
  } else {
    for (std::int64_t node = warp; node < all; node += warps) reduce_node<false>(kernel, node);
  }
}

__global__ void __launch_bounds__(block_size)
    reduce_nodes(const __grid_constant__ RecordTelemetry kernel) {
  if (!kernel.due()) return;
  reduce_all_nodes(kernel, thread_index() / warp_size, thread_count() / warp_size);
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
  add_threads(shared, part, nodes, RecordTelemetry::add);
  if (threadIdx.x == 0) kernel.finish_group(group, shared[0]);
  __syncthreads();
}

// By the block.
__device__ void look_by_block(const RecordTelemetry& kernel, TelemetryPart* shared) {
  const std::int64_t all = kernel.groups() * kernel.nodes();
  TelemetryPart part = TelemetryPart::nothing();
  for (std::int64_t i = threadIdx.x; i < all; i += wide) {
    RecordTelemetry::add(part, kernel.parts[i]);
  }
  add_threads(shared, part, all, RecordTelemetry::add);
  if (threadIdx.x == 0) kernel.look(shared[0]);
}

// Where nodes are few a small block has as many threads as there are items to add.
template <bool with_nodes>
constexpr int threads_of = with_nodes ? block_size : wide;

template <bool with_nodes>
__global__ void __launch_bounds__(threads_of<with_nodes>)
    finish_epoch(const __grid_constant__ RecordTelemetry kernel) {
  extern __shared__ std::uint64_t memory[];
  if (!kernel.due()) return;
  if (kernel.task == RecordTelemetry::Task::log) {
    if (threadIdx.x == 0) kernel.hand_over_log();
    return;
  }
  constexpr int warps = threads_of<with_nodes> / warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  if constexpr (with_nodes) {
    reduce_all_nodes(kernel, warp, warps);
    __syncthreads();
  }
  if (kernel.task == RecordTelemetry::Task::look) {
    look_by_block(kernel, reinterpret_cast<TelemetryPart*>(memory));
    return;
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
  add_threads(shared, epoch, kernel.groups(), RecordTelemetry::merge);
  if (threadIdx.x == 0) kernel.finish(shared[0]);
}

}  // namespace

template <>
void launch(const RecordTelemetry& kernel, Queue& queue) {
  static_assert(sizeof(TelemetryPart) <= sizeof(TelemetryEpoch));
  static_assert(few_nodes <= block_size);
  const cudaStream_t stream = stream_of(queue);
  const std::int64_t nodes = kernel.groups() * kernel.nodes();
  if (nodes <= few_nodes || kernel.task == RecordTelemetry::Task::log) {
    finish_epoch<true><<<1, block_size, block_size * sizeof(TelemetryEpoch), stream>>>(kernel);
    return check_launch(RecordTelemetry::name);
  }
  reduce_nodes<<<blocks_for(nodes * warp_size), block_size, 0, stream>>>(kernel);
  check_launch(RecordTelemetry::name);
  constexpr int shared_bytes = wide * sizeof(TelemetryEpoch);
  cuda_check(cudaFuncSetAttribute(finish_epoch<false>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  shared_bytes),
             "allow a block of record_telemetry its shared memory");
  finish_epoch<false><<<1, wide, shared_bytes, stream>>>(kernel);
  check_launch(RecordTelemetry::name);
}

}  // namespace kiln::cuda
