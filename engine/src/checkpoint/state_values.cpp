// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/state_values.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace kiln {
namespace {

bool is_value(const StateBlock& block, std::int64_t variable, double value) {
  if (block.kind == BlockKind::spin) return value == 1 || value == -1;
  return value >= block.lower_of(variable) && value <= block.upper_of(variable) &&
         value == std::floor(value);
}

bool is_empty(const StateBlock& block, std::int64_t slot) {
  for (std::int64_t v = 0; v < block.variables; ++v) {
    if (block.get(v, slot) != 0) return false;
  }
  return true;
}

bool is_state(const StateBlock& block, std::int64_t slot, std::vector<bool>& seen) {
  const bool once = block.kind == BlockKind::permutation;
  if (once) seen.assign(static_cast<std::size_t>(block.variables), false);
  for (std::int64_t v = 0; v < block.variables; ++v) {
    const double value = block.get(v, slot);
    if (!is_value(block, v, value)) return false;
    if (!once) continue;
    // Bounds of permutations are 0 and their length less 1.
    const auto number = static_cast<std::size_t>(value);
    if (seen[number]) return false;
    seen[number] = true;
  }
  return true;
}

}  // namespace

bool are_states(const StateBlock& host, std::int64_t slots, EmptySlots empty) {
  if (host.kind == BlockKind::real || host.layout == Layout::packed32) return true;
  std::vector<bool> seen;
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    if (is_state(host, slot, seen)) continue;
    if (empty == EmptySlots::refused || !is_empty(host, slot)) return false;
  }
  return true;
}

}  // namespace kiln
