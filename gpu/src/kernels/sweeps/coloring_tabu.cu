// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/cuda/team.cuh"
#include "kiln/kernels/sweeps/coloring_tabu.hpp"

#include "kernels/sweeps/coloring_tabu_shared.cuh"
#include "kernels/team_launch.cuh"

namespace kiln::cuda {
namespace {

using tabu::Shape;

template <class Count, int warps>
__global__ void __launch_bounds__(32 * warps)
    search_in_shared(const __grid_constant__ ColoringTabu kernel,
                     const __grid_constant__ Shape shape, std::int64_t replicas) {
  extern __shared__ __align__(16) std::uint32_t memory[];
  __shared__ tabu::Board<warps> board;
  if (!kernel.control->active(kernel.step_offset)) return;
  const BlockTeam team;
  for (std::int64_t replica = blockIdx.x; replica < replicas; replica += gridDim.x) {
    ColoringWalk now = kernel.begun(team, replica);
    std::uint64_t done = 0;
    if (now.conflicts > 0 && kernel.moves > 0) {
      team.sync();
      done = tabu::Search<Count, warps>(kernel, replica, shape, memory, board).run(now);
    }
    kernel.finish(team, replica, now, done);
    team.sync();
  }
}

template <class Count, int warps>
void launch_in_shared(const ColoringTabu& kernel, const Shape& shape, Queue& queue) {
  const std::int64_t replicas = kernel.walk.size;
  const auto bytes = static_cast<std::size_t>(shape.bytes());
  reserve_shared(queue, search_in_shared<Count, warps>, bytes, ColoringTabu::name);
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(replicas, 65535));
  search_in_shared<Count, warps>
      <<<blocks, 32 * warps, bytes, stream_of(queue)>>>(kernel, shape, replicas);
  check_launch(ColoringTabu::name);
}

// More warps where a move has more to look at: barriers cost as much as a few pairs of a thread.
template <class Count>
void launch_in_shared(const ColoringTabu& kernel, const Shape& shape, Queue& queue) {
  constexpr std::int64_t few = 1 << 13, many = 1 << 14;
  if (shape.table() < few) {
    launch_in_shared<Count, 2>(kernel, shape, queue);
  } else if (shape.table() < many) {
    launch_in_shared<Count, 4>(kernel, shape, queue);
  } else {
    launch_in_shared<Count, 8>(kernel, shape, queue);
  }
}

// Whether numbers of moves of a launch, and vertices, fit into 16 bits.
bool fits(const ColoringTabu& kernel, const Shape& shape, Queue& queue) {
  constexpr std::int64_t words = 0xFFFF;
  const std::int64_t n = shape.vertices;
  const std::int64_t longest = n * kernel.tenure_share / 1000 + kernel.tenure + kernel.moves;
  if (n >= words || shape.values >= words || longest > words) return false;
  if (kernel.model.neighbor.size > INT32_MAX) return false;
  return shape.bytes() + 1024 <= limits_of(queue).shared_bytes;
}

}  // namespace

template <>
void launch(const ColoringTabu& kernel, Queue& queue) {
  if (kernel.walk.size <= 0) return;
  const std::int32_t most = kernel.model.max_neighbors;
  const bool bytes = most > 0 && most < 256;
  const Shape shape{kernel.model.vertices, kernel.model.values, bytes ? 1 : 2};
  if (!fits(kernel, shape, queue)) {
    launch_for_warps(kernel, kernel.walk.size, queue);
  } else if (bytes) {
    launch_in_shared<std::uint8_t>(kernel, shape, queue);
  } else {
    launch_in_shared<std::uint16_t>(kernel, shape, queue);
  }
}

}  // namespace kiln::cuda
