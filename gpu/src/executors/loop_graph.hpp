// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kiln/device/run_control.hpp"

#include "stream.hpp"

namespace kiln::cuda {

/// What a loop keeps on the device between its launches.
struct LoopState {
  std::uint64_t launches = 0;  ///< so far
  std::uint64_t left = 0;      ///< iterations of this launch
};

/// Iterations of the launches of a loop, one slot for each in turn: the device takes them from
/// pinned memory, so that a launch has no parameters. No more launches than slots may be under way.
constexpr std::uint64_t loop_slots = 64;

/// A graph with a WHILE node: a kernel that takes the number of iterations, the node, and what
/// follows. Both graphs belong to `graph`, which the caller destroys.
///
/// Since CUDA 12.3. A graph with such a node has one instantiation and cannot be cloned.
struct LoopGraph {
  cudaGraph_t graph = nullptr;
  cudaGraph_t body = nullptr;
  cudaGraphNode_t loop = nullptr;  ///< what comes after the loop depends on it
  cudaGraphConditionalHandle handle = {};
};

/// @param state    on the device
/// @param slots    [loop_slots]
/// @throws CudaError
LoopGraph make_loop_graph(LoopState* state, const std::uint64_t* slots, const RunControl* control);

/// Enqueues the end of an iteration: whether another one follows. For the capture of a body.
void enqueue_end_of_iteration(const LoopGraph& loop, LoopState* state, const RunControl* control,
                              cudaStream_t stream);

}  // namespace kiln::cuda
