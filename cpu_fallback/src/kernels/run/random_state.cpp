// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/random_state.hpp"

#include <algorithm>
#include <bit>

#include "kiln/device/plane_draws.hpp"
#include "kiln/device/rng_domains.hpp"

#include "kernels/isa.hpp"
#include "launch.hpp"
#include "random_bits.hpp"

namespace kiln::cpu {
namespace {

constexpr std::int64_t variables_per_task = 1 << 16;

// Spins and bits of `variables_per_task` variables of 32 slots. RandomState::value() takes the
// highest bit of a word for both.
void draw_packed(const RandomState& kernel, RandomBits draw, std::int64_t word,
                 std::int64_t first) {
  const StateBlock& block = kernel.block;
  RandomBitsJob job;
  for (int l = 0; l < RandomBitsJob::lanes; ++l) {
    const std::int64_t slot = word * 32 + l;
    job.selected |= kernel.selects(slot) ? 1u << l : 0u;
    job.key[l] = kernel.draw_ids.key[slot];
    job.replica[l] = kernel.draw_ids.replica[slot];
  }
  if (job.selected == 0) return;
  const std::uint64_t step = kernel.control->step + kernel.step_offset;
  job.step_low = static_cast<std::uint32_t>(step);
  job.counter3 = counter_word3(RngDomain::initial_state, 0, step);
  job.first_index = kernel.first_variable;
  job.begin = first;
  job.end = std::min(first + variables_per_task, block.variables);
  job.words = block.as<std::uint32_t>() + word;
  job.word_stride = block.words();
  draw(job);
}

// The slots of a word that share planes, and the replica of each.
struct PlaneSlots {
  DrawName name;
  std::uint32_t selected = 0;  // bits of the slots
  bool in_order = true;        // slot l has bit l of a plane
  std::uint32_t replica[32] = {};

  std::uint32_t bits(std::uint32_t plane) const {
    if (in_order) return plane & selected;
    std::uint32_t all = 0;
    for (std::uint32_t left = selected; left != 0; left &= left - 1) {
      const int slot = std::countr_zero(left);
      all |= (plane >> replica[slot] % 32 & 1u) << slot;
    }
    return all;
  }
};

// Takes the slots that share planes with the first of `left` from it.
PlaneSlots take_plane_slots(const RandomState& kernel, std::int64_t word, std::uint32_t& left) {
  PlaneSlots slots;
  slots.name = kernel.name_of(word * 32 + std::countr_zero(left));
  for (std::uint32_t l = 0; l < 32; ++l) {
    const std::int64_t slot = word * 32 + l;
    slots.replica[l] = kernel.draw_ids.replica[slot];
    if ((left >> l & 1u) == 0 || kernel.draw_ids.key[slot] != slots.name.key) continue;
    if (slots.replica[l] / 32 != slots.name.replica / 32) continue;
    slots.selected |= 1u << l;
    slots.in_order = slots.in_order && slots.replica[l] % 32 == l;
  }
  left &= ~slots.selected;
  return slots;
}

// As draw_packed(), by planes.
void draw_planes_packed(const RandomState& kernel, std::int64_t word, std::int64_t first) {
  const StateBlock& block = kernel.block;
  std::uint32_t left = 0;
  for (std::uint32_t l = 0; l < 32; ++l) left |= kernel.selects(word * 32 + l) ? 1u << l : 0u;
  while (left != 0) {
    const PlaneSlots slots = take_plane_slots(kernel, word, left);
    const std::int64_t end = std::min(first + variables_per_task, block.variables);
    Words4 planes{};
    for (std::int64_t v = first; v < end; ++v) {
      const auto index = static_cast<std::uint32_t>(kernel.first_variable + v);
      if (v == first || index % 4 == 0) planes = draw_first_planes(slots.name, index / 4);
      std::uint32_t& target = block.as<std::uint32_t>()[v * block.words() + word];
      target = (target & ~slots.selected) | slots.bits(planes.word[index % 4]);
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
  if (!kernel.active()) return;
  if (kernel.block.layout == Layout::packed32) {
    const RandomBits draw = KILN_VARIANT_FOR_ISA(random_bits);
    const std::int64_t words = kernel.block.words();
    const std::int64_t parts =
        (kernel.block.variables + variables_per_task - 1) / variables_per_task;
    pool_of(queue).for_each(words * parts, [&](std::int64_t task) {
      const std::int64_t word = task % words, first = task / words * variables_per_task;
      if (kernel.naming == DrawNaming::planes) return draw_planes_packed(kernel, word, first);
      draw_packed(kernel, draw, word, first);
    });
  } else {
    pool_of(queue).for_each(kernel.block.slots,
                            [&](std::int64_t slot) { draw_slot(kernel, slot); });
  }
}

}  // namespace kiln::cpu
