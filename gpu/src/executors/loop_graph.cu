// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_check.hpp"
#include "executors/loop_graph.hpp"

namespace kiln::cuda {
namespace {

__device__ bool stopped(const RunControl* control) {
  return __ldcg(reinterpret_cast<const std::uint32_t*>(&control->stop)) !=
         static_cast<std::uint32_t>(DeviceStop::none);
}

__global__ void begin_loop(cudaGraphConditionalHandle loop, LoopState* state,
                           const std::uint64_t* slots, const RunControl* control) {
  const std::uint64_t launch = state->launches;
  const std::uint64_t left =
      *const_cast<const volatile std::uint64_t*>(slots + launch % loop_slots);
  state->launches = launch + 1;
  state->left = left;
  cudaGraphSetConditional(loop, left > 0 && !stopped(control) ? 1 : 0);
}

__global__ void end_iteration(cudaGraphConditionalHandle loop, LoopState* state,
                              const RunControl* control) {
  const std::uint64_t left = state->left - 1;
  state->left = left;
  cudaGraphSetConditional(loop, left > 0 && !stopped(control) ? 1 : 0);
}

// CUDA 13 has the function of CUDA 12 with edge data alone.
cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                     cudaGraphNodeParams* parameters) {
#if CUDART_VERSION >= 13000
  return cudaGraphAddNode(node, graph, after, nullptr, 1, parameters);
#else
  return cudaGraphAddNode(node, graph, after, 1, parameters);
#endif
}

}  // namespace

LoopGraph make_loop_graph(LoopState* state, const std::uint64_t* slots, const RunControl* control) {
  LoopGraph loop;
  cuda_check(cudaGraphCreate(&loop.graph, 0), "create the graph of a loop");
  try {
    cuda_check(cudaGraphConditionalHandleCreate(&loop.handle, loop.graph, 0, 0),
               "create the condition of a loop");
    void* arguments[] = {&loop.handle, &state, &slots, &control};
    cudaKernelNodeParams begin = {};
    begin.func = reinterpret_cast<void*>(begin_loop);
    begin.gridDim = begin.blockDim = dim3(1);
    begin.kernelParams = arguments;
    cudaGraphNode_t first = nullptr;
    cuda_check(cudaGraphAddKernelNode(&first, loop.graph, nullptr, 0, &begin),
               "add the first node of a loop");
    cudaGraphNodeParams node = {};
    node.type = cudaGraphNodeTypeConditional;
    node.conditional.handle = loop.handle;
    node.conditional.type = cudaGraphCondTypeWhile;
    node.conditional.size = 1;
    cuda_check(add_node(&loop.loop, loop.graph, &first, &node), "add the node of a loop");
    loop.body = node.conditional.phGraph_out[0];
  } catch (...) {
    static_cast<void>(cudaGraphDestroy(loop.graph));
    throw;
  }
  return loop;
}

void enqueue_end_of_iteration(const LoopGraph& loop, LoopState* state, const RunControl* control,
                              cudaStream_t stream) {
  end_iteration<<<1, 1, 0, stream>>>(loop.handle, state, control);
  cuda_check(cudaGetLastError(), "end an iteration of a loop");
}

}  // namespace kiln::cuda
