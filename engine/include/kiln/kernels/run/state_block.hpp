// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/space.hpp"

namespace kiln {

/// One block of a batch as kernels see it: its memory and the meaning of its values.
struct StateBlock {
  void* data = nullptr;
  std::int64_t variables = 0;
  std::int64_t slots = 0;  ///< multiple of 32
  Layout layout = Layout::packed32;
  BlockKind kind = BlockKind::spin;
  double lower = 0;
  double upper = 0;
  const double* box = nullptr;  ///< [2][variables], bounds of each; null: all have the bounds above

  KILN_HD double lower_of(std::int64_t variable) const {
    return box == nullptr ? lower : box[variable];
  }
  KILN_HD double upper_of(std::int64_t variable) const {
    return box == nullptr ? upper : box[variables + variable];
  }
  /// Of the values of all slots.
  double bytes() const {
    const double values = static_cast<double>(variables) * static_cast<double>(slots);
    switch (layout) {
      case Layout::packed32:
        return values / 8;
      case Layout::i8:
        return values;
      case Layout::i32:
      case Layout::f32:
        return 4 * values;
      case Layout::f64:
        return 8 * values;
    }
    return 0;
  }
  KILN_HD std::int64_t words() const { return slots / 32; }
  View2<std::uint32_t> packed() const {
    return {static_cast<std::uint32_t*>(data), variables, words(), words()};
  }
  template <class T>
  KILN_HD T* as() const {
    return static_cast<T*>(data);
  }

  /// The canonical value (spin -1/+1, bit 0/1, index, number) of a variable of a slot.
  KILN_HD double get(std::int64_t variable, std::int64_t slot) const {
    const std::int64_t at = variable * slots + slot;
    switch (layout) {
      case Layout::packed32: {
        const std::uint32_t word = as<const std::uint32_t>()[variable * words() + slot / 32];
        const bool bit = ((word >> (slot % 32)) & 1u) != 0;
        return kind == BlockKind::spin ? (bit ? -1.0 : 1.0) : (bit ? 1.0 : 0.0);
      }
      case Layout::i8:
        return static_cast<double>(as<const std::int8_t>()[at]);
      case Layout::i32:
        return static_cast<double>(as<const std::int32_t>()[at]);
      case Layout::f32:
        return static_cast<double>(as<const float>()[at]);
      case Layout::f64:
        return as<const double>()[at];
    }
    return 0;
  }

  /// Stores a canonical value. Not for packed32, where 32 slots share a word: see with_bit().
  KILN_HD void set(std::int64_t variable, std::int64_t slot, double value) const {
    const std::int64_t at = variable * slots + slot;
    switch (layout) {
      case Layout::packed32:
        break;
      case Layout::i8:
        as<std::int8_t>()[at] = static_cast<std::int8_t>(value);
        break;
      case Layout::i32:
        as<std::int32_t>()[at] = static_cast<std::int32_t>(value);
        break;
      case Layout::f32:
        as<float>()[at] = static_cast<float>(value);
        break;
      case Layout::f64:
        as<double>()[at] = value;
        break;
    }
  }

  /// Checks the block of a kernel that writes single values; its launchers call it.
  /// @throws InvalidArgument (`kernel.packed`) for packed32: set() would do nothing.
  KILN_API void require_single_values(const char* kernel) const;

  /// The bit that packed32 stores for a canonical value: 1 for spin -1 and for binary 1.
  KILN_HD bool bit_of(double value) const {
    return kind == BlockKind::spin ? value < 0 : value > 0.5;
  }
};

}  // namespace kiln
