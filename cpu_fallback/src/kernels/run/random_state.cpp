// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/random_state.hpp"

#include <algorithm>

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
  const std::uint64_t step = kernel.control->step;
  job.step_low = static_cast<std::uint32_t>(step);
  job.counter3 = counter_word3(RngDomain::initial_state, 0, step);
  job.first_index = kernel.first_variable;
  job.begin = first;
  job.end = std::min(first + variables_per_task, block.variables);
  job.words = block.as<std::uint32_t>() + word;
  job.word_stride = block.words();
  draw(job);
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
    const RandomBits draw = KILN_VARIANT_FOR_ISA(random_bits);
    const std::int64_t words = kernel.block.words();
    const std::int64_t parts =
        (kernel.block.variables + variables_per_task - 1) / variables_per_task;
    pool_of(queue).for_each(words * parts, [&](std::int64_t task) {
      draw_packed(kernel, draw, task % words, task / words * variables_per_task);
    });
  } else {
    pool_of(queue).for_each(kernel.block.slots,
                            [&](std::int64_t slot) { draw_slot(kernel, slot); });
  }
}

}  // namespace kiln::cpu
