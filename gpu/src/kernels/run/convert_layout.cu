// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/convert_layout.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

// Conversion happens when a batch changes hands, not in ticks, so one kernel for all pairs goes
// through the canonical value. Consecutive threads have consecutive slots: reads and writes are
// coalesced.
__global__ void __launch_bounds__(block_size)
    convert(const __grid_constant__ ConvertLayout kernel) {
  const std::int64_t slots = kernel.from.slots;
  const std::int64_t n = kernel.from.variables * slots;
  for (std::int64_t i = thread_index(); i < n; i += thread_count()) {
    const std::int64_t variable = i / slots;
    const std::int64_t slot = i - variable * slots;
    kernel.to.set(variable, slot, kernel.from.get(variable, slot));
  }
}

// Slots are a multiple of 32, so the lanes of a warp are the 32 slots of one word and all of them,
// or none, are inside.
__global__ void __launch_bounds__(block_size) pack(const __grid_constant__ ConvertLayout kernel) {
  const std::int64_t slots = kernel.from.slots;
  const std::int64_t n = kernel.from.variables * slots;
  auto* const words = kernel.to.as<std::uint32_t>();
  for (std::int64_t i = thread_index(); i < n; i += thread_count()) {
    const std::int64_t variable = i / slots;
    const double value = kernel.from.get(variable, i - variable * slots);
    const unsigned word = __ballot_sync(full_warp, kernel.from.bit_of(value));
    if (i % warp_size == 0) words[i / warp_size] = word;
  }
}

}  // namespace

template <>
void launch(const ConvertLayout& kernel, Queue& queue) {
  const std::int64_t n = kernel.from.variables * kernel.from.slots;
  if (n <= 0) return;
  if (kernel.to.layout == Layout::packed32) {
    pack<<<blocks_for(n), block_size, 0, stream_of(queue)>>>(kernel);
  } else {
    convert<<<blocks_for(n), block_size, 0, stream_of(queue)>>>(kernel);
  }
  check_launch(ConvertLayout::name);
}

}  // namespace kiln::cuda
