// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/track_best.hpp"

#include <algorithm>

#include "launch.hpp"

namespace kiln::cpu {
namespace {

// Marks the slots of one word whose energy improved and notes the new best energies; finds those
// that have the wanted one.
std::uint32_t note_improved(const TrackBest& kernel, std::int64_t word) {
  std::uint32_t mask = 0;
  const std::int64_t end = std::min(word * 32 + 32, kernel.replicas);
  for (std::int64_t slot = word * 32; slot < end; ++slot) {
    if (kernel.replica_of.size > 0 && kernel.best_energy[slot] == kernel.control->wanted) {
      kernel.control->finder =
          std::min(kernel.control->finder,
                   BestLog::finder_of(kernel.replica_of[slot], kernel.rung_of[slot]));
    }
    if (!(kernel.energy[slot] < kernel.best_energy[slot])) continue;
    if (kernel.energy[slot] == -exact::infinity()) continue;  // no energy of a state
    mask |= 1u << (slot % 32);
    kernel.best_energy[slot] = kernel.energy[slot];
    kernel.best_step[slot] = kernel.control->step;
    kernel.control->best_key =
        std::min(kernel.control->best_key, exact::order_key(kernel.energy[slot]));
  }
  return mask;
}

void copy_improved(const StateBlock& from, const StateBlock& to,
                   View1<const std::uint32_t> improved, std::int64_t variable) {
  for (std::int64_t word = 0; word < from.words(); ++word) {
    const std::uint32_t mask = improved[word];
    if (mask == 0) continue;
    if (from.layout == Layout::packed32) {
      const std::int64_t at = variable * from.words() + word;
      std::uint32_t& kept = to.as<std::uint32_t>()[at];
      kept = (kept & ~mask) | (from.as<const std::uint32_t>()[at] & mask);
      continue;
    }
    for (std::int64_t slot = word * 32; slot < word * 32 + 32; ++slot) {
      if (((mask >> (slot % 32)) & 1u) != 0) to.set(variable, slot, from.get(variable, slot));
    }
  }
}

}  // namespace

template <>
void launch(const TrackBest& kernel, Queue& queue) {
  if (kernel.control->stop != DeviceStop::none) return;
  std::uint32_t any = 0;
  for (std::int64_t word = 0; word < kernel.improved.size; ++word) {
    kernel.improved[word] = note_improved(kernel, word);
    any |= kernel.improved[word];
  }
  if (any == 0) return;
  for (int b = 0; b < kernel.n_blocks; ++b) {
    pool_of(queue).for_each(kernel.state[b].variables, [&](std::int64_t variable) {
      copy_improved(kernel.state[b], kernel.best[b], kernel.improved, variable);
    });
  }
}

}  // namespace kiln::cpu
