// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "kiln/cuda/queue.cuh"
#include "kiln/cuda/team.cuh"
#include "kiln/cuda/tree_launch.hpp"
#include "kiln/cuda/vector_function_kernels.hpp"
#include "kiln/errors.hpp"
#include "kiln/kernels/fronts/proposal_tree.hpp"

// The GPU's kernels of vector functions. Include this where a function is instantiated.
namespace kiln::cuda {
namespace detail {

inline constexpr int slots_of_block = 128;

// One thread per slot: values of neighbouring slots are adjacent.
template <class Kernel, class Function>
__global__ void __launch_bounds__(slots_of_block)
    evaluate_slots(const __grid_constant__ Kernel kernel,
                   const __grid_constant__ Function function) {
  if (!kernel.active()) return;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t slot = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       slot < kernel.replicas; slot += step) {
    kernel.evaluate(function, slot);
  }
}

// A team per slot. Shared memory has the memory of each tree of the block.
template <int levels, class Function>
__global__ void __launch_bounds__(slots_of_block)
    sweep_by_trees(const __grid_constant__ ProposalSweep kernel,
                   const __grid_constant__ Function function, std::int64_t variables) {
  using Tree = ProposalTree<levels>;
  using Team = LaneTeam<Tree::lanes>;
  if (!kernel.active()) return;
  extern __shared__ double memory_of_block[];
  const unsigned team = threadIdx.x / Tree::lanes;
  const std::int64_t slot =
      static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / Tree::lanes) + team;
  if (slot >= kernel.replicas) return;
  const unsigned first_lane = threadIdx.x % 32 - static_cast<unsigned>(Team::rank());
  const auto votes = [&](bool vote) { return __ballot_sync(Team::mask(), vote) >> first_lane; };
  Tree tree(kernel, slot, Team::rank(), variables,
            memory_of_block + team * (Tree::bytes(variables) / 8));
  tree.prepare();
  Team::sync();
  while (!tree.done()) {
    tree.evaluate(function);
    Team::sync();
    const unsigned decision = tree.decide();
    const unsigned taken = votes((decision & 1u) != 0), not_finite = votes((decision & 2u) != 0);
    Team::sync();
    tree.advance(taken, not_finite);
    Team::sync();
  }
  tree.finish();
}

// Whether teams make the sweep; if not, a thread of each slot has to.
template <class Function>
bool swept_by_trees(const ProposalSweep& kernel, const Function& function, Queue& queue) {
  const std::int64_t n = kernel.variables();
  if (n == 0 || !kernel.changes_single_variables()) return false;
  const TreeLaunch grid =
      TreeLaunch::of(kernel.replicas, queue.device_shape().parallel_units, [&](int levels) {
        return levels == 5 ? ProposalTree<5>::bytes(n) : ProposalTree<3>::bytes(n);
      });
  if (grid.levels == 0) return false;
  const auto sweep = grid.levels == 5 ? sweep_by_trees<5, Function> : sweep_by_trees<3, Function>;
  sweep<<<grid.blocks, grid.threads, grid.shared, stream_of(queue)>>>(kernel, function, n);
  return true;
}

}  // namespace detail

template <class Function>
template <class Kernel>
void VectorFunctionKernels<Function>::run(const Kernel& kernel, const Function& function,
                                          Queue& queue) {
  if (kernel.replicas <= 0) return;
  bool launched = false;
  if constexpr (std::is_same_v<Kernel, ProposalSweep>) {
    launched = detail::swept_by_trees(kernel, function, queue);
  }
  if (!launched) {
    const std::int64_t wanted =
        (kernel.replicas + detail::slots_of_block - 1) / detail::slots_of_block;
    const auto blocks = static_cast<unsigned>(wanted < 65536 ? wanted : 65536);
    detail::evaluate_slots<<<blocks, detail::slots_of_block, 0, stream_of(queue)>>>(kernel,
                                                                                    function);
  }
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    throw CudaError("cuda.launch", std::string(Kernel::name) + ": " + cudaGetErrorString(error));
  }
}

template <class Function>
FunctorKernels<VectorFunctionFamily> vector_function_kernels() {
  return FunctorKernels<VectorFunctionFamily>::from<VectorFunctionKernels<Function>>();
}

}  // namespace kiln::cuda
