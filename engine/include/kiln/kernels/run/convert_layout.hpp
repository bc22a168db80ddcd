// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/run/state_block.hpp"

namespace kiln {

/// Copies a block of states from one layout into another. Both have the same variables and slots.
/// Class E for values that both layouts can hold; f64 to f32 rounds to nearest.
struct KILN_API ConvertLayout {
  static constexpr const char* name = "convert_layout";
  static constexpr const char* summary =
      "copies the values of a block from one memory layout into another layout";

  StateBlock from;
  StateBlock to;

  /// The packed word of 32 slots of one variable.
  KILN_HD std::uint32_t pack(std::int64_t variable, std::int64_t word) const {
    std::uint32_t bits = 0;
    for (int r = 0; r < 32; ++r) {
      const bool bit = from.bit_of(from.get(variable, word * 32 + r));
      bits |= static_cast<std::uint32_t>(bit) << r;
    }
    return bits;
  }
};

}  // namespace kiln
