// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/views.hpp"
#include "kiln/kernels/run/state_block.hpp"

namespace kiln {

/// An array of any values whose last index is the slot: [row][slot], or [row][word of 32 slots] for
/// values of one bit. For kernels that move replicas.
struct SlotArray {
  void* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t stride = 0;  ///< values (words for values of one bit) from one row to the next
  std::int32_t bytes = 0;   ///< of a value: 1, 4 or 8; 0: one bit

  SlotArray() = default;
  KILN_HD SlotArray(void* data_, std::int64_t rows_, std::int64_t stride_, std::int32_t bytes_)
      : data(data_), rows(rows_), stride(stride_), bytes(bytes_) {}
  /// One value for each slot.
  template <class T>
  explicit SlotArray(View1<T> values) : SlotArray(values.data, 1, values.size, sizeof(T)) {
    static_assert(sizeof(T) == 1 || sizeof(T) == 4 || sizeof(T) == 8);
  }
  explicit SlotArray(const StateBlock& block)
      : SlotArray(block.data, block.variables, block.slots, 0) {
    switch (block.layout) {
      case Layout::packed32:
        stride = block.words();
        break;
      case Layout::i8:
        bytes = 1;
        break;
      case Layout::i32:
      case Layout::f32:
        bytes = 4;
        break;
      case Layout::f64:
        bytes = 8;
        break;
    }
  }

  KILN_HD bool packed() const { return bytes == 0; }
  /// A row of values of `bytes` bytes, or of words.
  template <class T>
  KILN_HD T* row(std::int64_t r) const {
    return static_cast<T*>(data) + r * stride;
  }
};

}  // namespace kiln
