// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/hd.hpp"
#include "kiln/device/views.hpp"

namespace kiln {

/// A graph to colour, on the device; see ColoringModel.
struct ColoringView {
  std::int32_t vertices = 0;
  std::int32_t values = 2;
  bool fewest = false;
  View1<const std::int64_t> row_begin;  ///< [vertices + 1]
  View1<const std::int32_t> neighbor;   ///< both directions of every edge

  /// Energy of a colouring with `colors` colours and `conflicts` edges between equal colours.
  KILN_HD double energy_of(std::int64_t conflicts, std::int32_t colors) const {
    if (!fewest) return static_cast<double>(conflicts);
    return conflicts == 0 ? static_cast<double>(colors) : static_cast<double>(vertices + conflicts);
  }
};

}  // namespace kiln
