// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/reference_association.hpp"

#include "group_sort.cuh"

namespace kiln::cuda {
namespace {

constexpr int warps = block_size / warp_size;
constexpr std::int64_t max_objectives = 512;  // whose coordinates fit into shared memory

// A warp has a point, a lane every 32nd line.
__global__ void __launch_bounds__(block_size)
    associate(const __grid_constant__ ReferenceAssociation kernel) {
  if (!kernel.active()) return;
  extern __shared__ double coordinates_of_block[];
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t objectives = kernel.value.rows;
  double* const coordinates = coordinates_of_block + warp * objectives;
  const auto x = [&](std::int64_t k) { return coordinates[k]; };
  const PointGroups& groups = kernel.groups;
  for (std::int64_t group = blockIdx.y; group < groups.groups; group += gridDim.y) {
    const std::int64_t begin = groups.begin(group), end = groups.end(group);
    for (std::int64_t point = begin + blockIdx.x * std::int64_t{warps} + warp; point < end;
         point += gridDim.x * std::int64_t{warps}) {
      for (std::int64_t k = lane; k < objectives; k += warp_size) {
        coordinates[k] = kernel.normalized(group, k, point);
      }
      __syncwarp();
      double nearest = exact::infinity();
      int line = -1;
      for (std::int64_t which = lane; which < kernel.direction.columns; which += warp_size) {
        const double square = kernel.square_distance(x, which);
        if (square < nearest) {
          nearest = square;
          line = static_cast<int>(which);
        }
      }
      for (int step = warp_size / 2; step > 0; step /= 2) {
        const double other = __shfl_xor_sync(full_warp, nearest, step);
        const int other_line = __shfl_xor_sync(full_warp, line, step);
        // A lane without a line has -1 and infinity, which no line has.
        if (other < nearest || (other == nearest && other_line < line)) {
          nearest = other;
          line = other_line;
        }
      }
      if (lane == 0) {
        kernel.line[point] = line;
        kernel.distance[point] = exact::sqrt(nearest);
      }
      __syncwarp();  // coordinates are no longer read
    }
  }
}

}  // namespace

template <>
void launch(const ReferenceAssociation& kernel, Queue& queue) {
  if (kernel.groups.groups <= 0 || kernel.groups.size <= 0) return;
  const std::int64_t objectives = kernel.value.rows;
  if (objectives > max_objectives) {
    throw InvalidArgument("kernel.objectives",
                          "reference_association takes at most " + std::to_string(max_objectives) +
                              " objectives on a GPU, not " + std::to_string(objectives));
  }
  const auto bytes = static_cast<std::size_t>(warps * objectives) * sizeof(double);
  associate<<<group_grid(kernel.groups, warps), block_size, bytes, stream_of(queue)>>>(kernel);
  check_launch(ReferenceAssociation::name);
}

}  // namespace kiln::cuda
