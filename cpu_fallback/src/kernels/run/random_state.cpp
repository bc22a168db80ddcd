// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/random_state.hpp"

#include "launch.hpp"

namespace kiln::cpu {
namespace {

void draw_packed_word(const RandomState& kernel, std::int64_t word) {
  const StateBlock& block = kernel.block;
  auto* words = block.as<std::uint32_t>();
  for (std::int64_t slot = word * 32; slot < word * 32 + 32; ++slot) {
    if (!kernel.selects(slot)) continue;
    const DrawName name = kernel.name_of(slot);
    const std::uint32_t mask = 1u << (slot % 32);
    for (std::int64_t v = 0; v < block.variables; ++v) {
      const auto index = static_cast<std::uint32_t>(kernel.first_variable + v);
      const bool bit = block.bit_of(kernel.value(v, draw_word(name, index)));
      std::uint32_t& target = words[v * block.words() + word];
      target = bit ? target | mask : target & ~mask;
    }
  }
}

void draw_slot(const RandomState& kernel, std::int64_t slot) {
  if (!kernel.selects(slot)) return;
  if (kernel.block.kind == BlockKind::permutation) {
    kernel.shuffle(slot);
    return;
  }
  const DrawName name = kernel.name_of(slot);
  for (std::int64_t v = 0; v < kernel.block.variables; ++v) {
    const auto index = static_cast<std::uint32_t>(kernel.first_variable + v);
    kernel.block.set(v, slot, kernel.value(v, draw_word(name, index)));
  }
}

}  // namespace

template <>
void launch(const RandomState& kernel, Queue& queue) {
  if (!kernel.control->active(0)) return;
  if (kernel.block.layout == Layout::packed32) {
    pool_of(queue).for_each(kernel.block.words(),
                            [&](std::int64_t word) { draw_packed_word(kernel, word); });
  } else {
    pool_of(queue).for_each(kernel.block.slots,
                            [&](std::int64_t slot) { draw_slot(kernel, slot); });
  }
}

}  // namespace kiln::cpu
