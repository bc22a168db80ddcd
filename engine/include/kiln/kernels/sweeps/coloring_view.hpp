// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/hd.hpp"
#include "kiln/device/view_bytes.hpp"
#include "kiln/device/views.hpp"

namespace kiln {

/// A graph to colour, on the device; see ColoringModel.
struct ColoringView {
  std::int32_t vertices = 0;
  std::int32_t values = 2;
  bool fewest = false;
  View1<const std::int64_t> row_begin;  ///< [vertices + 1]
  View1<const std::int32_t> neighbor;   ///< both directions of every edge
  std::int32_t max_neighbors = 0;       ///< of a vertex; 0: unknown

  /// What a pass over all edges reads at least.
  double bytes() const { return bytes_of(row_begin) + bytes_of(neighbor); }
  /// Energy of a colouring with `colors` colours and `conflicts` edges between equal colours.
  KILN_HD double energy_of(std::int64_t conflicts, std::int32_t colors) const {
    if (!fewest) return static_cast<double>(conflicts);
    return conflicts == 0 ? static_cast<double>(colors) : static_cast<double>(vertices + conflicts);
  }
};

/// The states of replicas as colours, in Layout::i32 or Layout::i8: one of both views is empty.
struct ColorStates {
  View2<std::int32_t> words = {};
  View2<std::int8_t> bytes = {};

  KILN_HD std::int32_t get(std::int64_t vertex, std::int64_t slot) const {
    return bytes.data != nullptr ? bytes(vertex, slot) : words(vertex, slot);
  }
  KILN_HD void set(std::int64_t vertex, std::int64_t slot, std::int32_t color) const {
    if (bytes.data != nullptr) {
      bytes(vertex, slot) = static_cast<std::int8_t>(color);
    } else {
      words(vertex, slot) = color;
    }
  }
};

}  // namespace kiln
