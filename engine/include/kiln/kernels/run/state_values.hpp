// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/export.hpp"
#include "kiln/kernels/run/state_block.hpp"

namespace kiln {

/// Slots that may hold zero bytes instead of a state: nothing was ever written there.
enum class EmptySlots : std::uint8_t { refused, allowed };

/// Whether slots 0 .. slots - 1 of a block in host memory hold states: values of its kind between
/// its bounds, each number once where it is a permutation. Reals may have any value: kernels
/// compute with them, and use none as an index.
KILN_API bool are_states(const StateBlock& host, std::int64_t slots, EmptySlots empty);

}  // namespace kiln
