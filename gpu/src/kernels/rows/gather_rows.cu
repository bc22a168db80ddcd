// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "kiln/kernels/rows/gather_rows.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

constexpr int units_at_once = 4;

// A row is cut into segments of units of some bytes; some neighbouring threads take a segment.
struct Segments {
  std::int64_t units = 0;  // of a row
  std::int64_t of_row = 1;
  int lanes = 1;  // a power of two
};

template <class Unit>
__global__ void __launch_bounds__(block_size)
    gather(const __grid_constant__ GatherRows kernel, const __grid_constant__ Segments segments) {
  const int lane = static_cast<int>(threadIdx.x) % segments.lanes;
  const std::int64_t of_segment = std::int64_t{segments.lanes} * units_at_once;
  const std::int64_t tasks = kernel.id.size * segments.of_row;
  for (std::int64_t task = thread_index() / segments.lanes; task < tasks;
       task += thread_count() / segments.lanes) {
    const std::int64_t i = segments.of_row == 1 ? task : task / segments.of_row;
    const std::int64_t first = (task - i * segments.of_row) * of_segment + lane;
    const std::int64_t id = kernel.id[i];
    const bool is_row = kernel.is_row(id);
    const Unit* const from =
        reinterpret_cast<const Unit*>(kernel.table.data + (is_row ? id : 0) * kernel.table.stride);
    Unit* const to = reinterpret_cast<Unit*>(kernel.result.data + i * kernel.result.stride);
    Unit held[units_at_once];
#pragma unroll
    for (int u = 0; u < units_at_once; ++u) {
      const std::int64_t at = first + u * segments.lanes;
      held[u] = is_row && at < segments.units ? from[at] : Unit{};
    }
#pragma unroll
    for (int u = 0; u < units_at_once; ++u) {
      const std::int64_t at = first + u * segments.lanes;
      if (at < segments.units) to[at] = held[u];
    }
    if (!is_row && first == 0 && kernel.missing != nullptr) {
      atomicAdd(reinterpret_cast<unsigned long long*>(kernel.missing), 1ull);
    }
  }
}

template <class Unit>
void launch_units(const GatherRows& kernel, Queue& queue) {
  Segments segments;
  segments.units = kernel.table.columns / static_cast<std::int64_t>(sizeof(Unit));
  const std::int64_t quarter = (segments.units + units_at_once - 1) / units_at_once;
  segments.lanes = static_cast<int>(
      std::bit_ceil(static_cast<unsigned>(std::clamp<std::int64_t>(quarter, 1, warp_size))));
  const std::int64_t of_segment = std::int64_t{segments.lanes} * units_at_once;
  segments.of_row = std::max<std::int64_t>(1, (segments.units + of_segment - 1) / of_segment);
  const std::int64_t threads = kernel.id.size * segments.of_row * segments.lanes;
  gather<Unit><<<blocks_for(threads, std::int64_t{1} << 24), block_size, 0, stream_of(queue)>>>(
      kernel, segments);
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
