// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/gather_states.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

// A thread keeps its slot, and so its source, and goes over variables; a row of blocks shares them.
template <class Copy>
__device__ void for_each_variable(const GatherStates& kernel, Copy copy) {
  const std::int64_t slot = thread_index();
  // Slots are a multiple of 32, so all lanes of a warp stay or leave.
  if (slot >= kernel.to.slots) return;
  const std::int64_t source = kernel.source_of(slot);
  if (__ballot_sync(full_warp, source >= 0) == 0) return;
  for (std::int64_t v = blockIdx.y; v < kernel.to.variables; v += gridDim.y) copy(v, slot, source);
}

// The lanes of a warp are the 32 slots of one word. Neighbouring slots mostly come from neighbours,
// so their words are in cache.
__device__ void gather_words(const GatherStates& kernel) {
  const auto* const from = kernel.from.as<const std::uint32_t>();
  auto* const to = kernel.to.as<std::uint32_t>();
  const std::int64_t from_words = kernel.from.words(), to_words = kernel.to.words();
  for_each_variable(kernel, [&](std::int64_t variable, std::int64_t slot, std::int64_t source) {
    const unsigned taken = __ballot_sync(full_warp, source >= 0);
    bool bit = false;
    if (source >= 0) {
      const std::uint32_t word = from[variable * from_words + source / warp_size];
      bit = ((word >> (source % warp_size)) & 1u) != 0;
    }
    const unsigned bits = __ballot_sync(full_warp, bit);
    if (slot % warp_size != 0) return;
    const std::int64_t at = variable * to_words + slot / warp_size;
    to[at] = taken == full_warp ? bits : (to[at] & ~taken) | bits;
  });
}

template <class T>
__device__ void gather_values(const GatherStates& kernel) {
  const T* const from = kernel.from.as<const T>();
  T* const to = kernel.to.as<T>();
  for_each_variable(kernel, [&](std::int64_t variable, std::int64_t slot, std::int64_t source) {
    if (source >= 0)
      to[variable * kernel.to.slots + slot] = from[variable * kernel.from.slots + source];
  });
}

__global__ void __launch_bounds__(block_size) gather(const __grid_constant__ GatherStates kernel) {
  if (!kernel.active()) return;
  switch (kernel.to.layout) {
    case Layout::packed32:
      return gather_words(kernel);
    case Layout::i8:
      return gather_values<std::int8_t>(kernel);
    case Layout::i32:
      return gather_values<std::int32_t>(kernel);
    case Layout::f32:
      return gather_values<float>(kernel);
    case Layout::f64:
      return gather_values<double>(kernel);
  }
}

}  // namespace

template <>
void launch(const GatherStates& kernel, Queue& queue) {
  if (kernel.to.variables <= 0 || kernel.to.slots <= 0) return;
  const auto columns = static_cast<unsigned>((kernel.to.slots + block_size - 1) / block_size);
  const std::int64_t rows = std::max<std::int64_t>(1, 2 * filling_blocks / columns);
  const dim3 grid(columns, static_cast<unsigned>(std::min(rows, kernel.to.variables)));
  gather<<<grid, block_size, 0, stream_of(queue)>>>(kernel);
  check_launch(GatherStates::name);
}

}  // namespace kiln::cuda
