// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/gather_states.hpp"

#include "grid.cuh"

namespace kiln::cuda {
namespace {

// Slots are a multiple of 32, so the lanes of a warp are the 32 slots of one word and all of them,
// or none, are inside. Neighbouring slots mostly come from neighbours, so their words are in cache.
__device__ void gather_words(const GatherStates& kernel) {
  const std::int64_t slots = kernel.to.slots;
  const std::int64_t n = kernel.to.variables * slots;
  const auto* const from = kernel.from.as<const std::uint32_t>();
  auto* const to = kernel.to.as<std::uint32_t>();
  for (std::int64_t i = thread_index(); i < n; i += thread_count()) {
    const std::int64_t variable = i / slots;
    const std::int64_t source = kernel.source_of(i - variable * slots);
    const unsigned taken = __ballot_sync(full_warp, source >= 0);
    if (taken == 0) continue;
    std::uint32_t word = 0;
    if (source >= 0) word = from[variable * kernel.from.words() + source / warp_size];
    const unsigned bits =
        __ballot_sync(full_warp, source >= 0 && ((word >> (source % warp_size)) & 1u) != 0);
    if (i % warp_size != 0) continue;
    const std::int64_t at = i / warp_size;
    to[at] = taken == full_warp ? bits : (to[at] & ~taken) | bits;
  }
}

template <class T>
__device__ void gather_values(const GatherStates& kernel) {
  const std::int64_t slots = kernel.to.slots;
  const std::int64_t n = kernel.to.variables * slots;
  const T* const from = kernel.from.as<const T>();
  T* const to = kernel.to.as<T>();
  for (std::int64_t i = thread_index(); i < n; i += thread_count()) {
    const std::int64_t variable = i / slots;
    const std::int64_t source = kernel.source_of(i - variable * slots);
    if (source >= 0) to[i] = from[variable * kernel.from.slots + source];
  }
}

__global__ void __launch_bounds__(block_size) gather(const __grid_constant__ GatherStates kernel) {
  if (kernel.control != nullptr && kernel.control->stop != DeviceStop::none) return;
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
  const std::int64_t n = kernel.to.variables * kernel.to.slots;
  if (n <= 0) return;
  gather<<<blocks_for(n), block_size, 0, stream_of(queue)>>>(kernel);
  check_launch(GatherStates::name);
}

}  // namespace kiln::cuda
