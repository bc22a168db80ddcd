// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "kiln/kernels/rows/gather_rows.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

constexpr int rows_at_once = 4;

// A row is cut into segments of units of some bytes; as many neighbouring threads take a segment.
struct Segments {
  std::int64_t units = 0;  // of a row
  std::int64_t of_row = 1;
  int lanes = 1;  // a power of two
};

// A thread takes a unit of some segments at once: those of neighbouring rows are far from each
// other, and each has to be waited for.
template <class Unit>
__global__ void __launch_bounds__(block_size)
    gather(const __grid_constant__ GatherRows kernel, const __grid_constant__ Segments segments) {
  const int lane = static_cast<int>(threadIdx.x) % segments.lanes;
  const int of_block = block_size / segments.lanes;  // segments at a time
  const std::int64_t tasks = kernel.id.size * segments.of_row;
  for (std::int64_t begin = std::int64_t{blockIdx.x} * of_block * rows_at_once; begin < tasks;
       begin += std::int64_t{gridDim.x} * of_block * rows_at_once) {
    std::int64_t row[rows_at_once], unit[rows_at_once], id[rows_at_once];
#pragma unroll
    for (int r = 0; r < rows_at_once; ++r) {
      const std::int64_t task =
          begin + r * of_block + static_cast<int>(threadIdx.x) / segments.lanes;
      row[r] = segments.of_row == 1 ? task : task / segments.of_row;
      unit[r] = (task - row[r] * segments.of_row) * segments.lanes + lane;
      if (task >= tasks) unit[r] = segments.units;  // there is none
      id[r] = task < tasks ? kernel.id[row[r]] : 0;
    }
    Unit held[rows_at_once];
#pragma unroll
    for (int r = 0; r < rows_at_once; ++r) {
      held[r] = Unit{};
      if (!kernel.is_row(id[r]) || unit[r] >= segments.units) continue;
      held[r] =
          reinterpret_cast<const Unit*>(kernel.table.data + id[r] * kernel.table.stride)[unit[r]];
    }
#pragma unroll
    for (int r = 0; r < rows_at_once; ++r) {
      if (unit[r] >= segments.units) continue;
      reinterpret_cast<Unit*>(kernel.result.data + row[r] * kernel.result.stride)[unit[r]] =
          held[r];
      if (unit[r] == 0 && kernel.missing != nullptr && !kernel.is_row(id[r])) {
        atomicAdd(reinterpret_cast<unsigned long long*>(kernel.missing), 1ull);
      }
    }
  }
}

template <class Unit>
void launch_units(const GatherRows& kernel, Queue& queue) {
  Segments segments;
  segments.units = kernel.table.columns / static_cast<std::int64_t>(sizeof(Unit));
  segments.lanes = static_cast<int>(
      std::bit_ceil(static_cast<unsigned>(std::clamp<std::int64_t>(segments.units, 1, warp_size))));
  segments.of_row =
      std::max<std::int64_t>(1, (segments.units + segments.lanes - 1) / segments.lanes);
  const std::int64_t threads = kernel.id.size * segments.of_row * segments.lanes;
  const unsigned blocks =
      blocks_for((threads + rows_at_once - 1) / rows_at_once, std::int64_t{1} << 24);
  gather<Unit><<<blocks, block_size, 0, stream_of(queue)>>>(kernel, segments);
  check_launch(GatherRows::name);
}

}  // namespace

template <>
void launch(const GatherRows& kernel, Queue& queue) {
  if (kernel.id.size <= 0) return;
  // Every address and stride is a multiple of the unit.
  const std::uintptr_t all = reinterpret_cast<std::uintptr_t>(kernel.table.data) |
                             reinterpret_cast<std::uintptr_t>(kernel.result.data) |
                             static_cast<std::uintptr_t>(
                                 kernel.table.columns | kernel.table.stride | kernel.result.stride);
  if (all % 16 == 0) return launch_units<uint4>(kernel, queue);
  if (all % 8 == 0) return launch_units<std::uint64_t>(kernel, queue);
  if (all % 4 == 0) return launch_units<std::uint32_t>(kernel, queue);
  launch_units<unsigned char>(kernel, queue);
}

}  // namespace kiln::cuda
