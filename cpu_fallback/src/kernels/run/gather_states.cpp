// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/gather_states.hpp"

#include <vector>

#include "launch.hpp"

namespace kiln::cpu {
namespace {

void gather_words(const GatherStates& kernel, const std::vector<std::int64_t>& sources,
                  std::int64_t variable) {
  const auto* const from = kernel.from.as<const std::uint32_t>() + variable * kernel.from.words();
  auto* const to = kernel.to.as<std::uint32_t>() + variable * kernel.to.words();
  for (std::int64_t word = 0; word < kernel.to.words(); ++word) {
    std::uint32_t bits = to[word];
    for (unsigned lane = 0; lane < 32; ++lane) {
      const std::int64_t source = sources[static_cast<std::size_t>(word * 32 + lane)];
      if (source < 0) continue;
      const std::uint32_t bit = (from[source / 32] >> (source % 32)) & 1u;
      bits = (bits & ~(1u << lane)) | (bit << lane);
    }
    to[word] = bits;
  }
}

template <class T>
void gather_values(const GatherStates& kernel, const std::vector<std::int64_t>& sources,
                   std::int64_t variable) {
  const T* const from = kernel.from.as<const T>() + variable * kernel.from.slots;
  T* const to = kernel.to.as<T>() + variable * kernel.to.slots;
  for (std::int64_t slot = 0; slot < kernel.to.slots; ++slot) {
    const std::int64_t source = sources[static_cast<std::size_t>(slot)];
    if (source >= 0) to[slot] = from[source];
  }
}

}  // namespace

template <>
void launch(const GatherStates& kernel, Queue& queue) {
  if (!kernel.active()) return;
  std::vector<std::int64_t> sources(static_cast<std::size_t>(kernel.to.slots));
  bool any = false;
  for (std::int64_t slot = 0; slot < kernel.to.slots; ++slot) {
    const std::int64_t source = kernel.source_of(slot);
    sources[static_cast<std::size_t>(slot)] = source;
    any |= source >= 0;
  }
  if (!any) return;
  pool_of(queue).for_each(kernel.to.variables, [&](std::int64_t variable) {
    switch (kernel.to.layout) {
      case Layout::packed32:
        return gather_words(kernel, sources, variable);
      case Layout::i8:
        return gather_values<std::int8_t>(kernel, sources, variable);
      case Layout::i32:
        return gather_values<std::int32_t>(kernel, sources, variable);
      case Layout::f32:
        return gather_values<float>(kernel, sources, variable);
      case Layout::f64:
        return gather_values<double>(kernel, sources, variable);
    }
  });
}

}  // namespace kiln::cpu
