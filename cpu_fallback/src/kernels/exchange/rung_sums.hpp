// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "kiln/kernels/exchange/ladder_statistics.hpp"

namespace kiln::cpu {

// Adds a call to the sums of a rung. part_of(ladder) is what the replica of a ladder at the rung
// adds.
template <class PartOf>
inline void add_rung(const LadderStatistics& kernel, std::int64_t rung,
                     const LadderStatistics::Reference& reference, const PartOf& part_of) {
  // Lanes without a ladder hold zeros, and adding those changes nothing: leave them out.
  const auto used =
      static_cast<std::size_t>(std::min<std::int64_t>(kernel.ladders, LadderStatistics::lanes));
  constexpr std::size_t lanes_of_cells = LadderStatistics::cells_of_rung;
  std::array<LadderStatistics::Part, LadderStatistics::lanes> part;
  std::fill_n(part.begin(), std::bit_ceil(used), LadderStatistics::nothing());
  for (std::int64_t ladder = 0; ladder < kernel.ladders; ++ladder) {
    LadderStatistics::Part& lane = part[static_cast<std::size_t>(ladder % LadderStatistics::lanes)];
    lane = LadderStatistics::combine(lane, part_of(ladder));
  }
  for (std::size_t half = std::bit_ceil(used) / 2; half > 0; half /= 2) {
    if (2 * half == lanes_of_cells && kernel.cells_of_ladders()) {
      for (std::size_t j = 0; j < half; ++j) {
        kernel.add_ladders(rung, static_cast<int>(j), part[2 * j], part[2 * j + 1]);
      }
    }
    for (std::size_t t = 0; t < half; ++t) {
      part[t] = LadderStatistics::combine(part[t], part[t + half]);
    }
  }
  kernel.add(rung, reference, part[0]);
}

}  // namespace kiln::cpu
