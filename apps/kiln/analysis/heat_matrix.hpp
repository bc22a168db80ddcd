// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/map_links.hpp"

namespace kiln::cli {

/// The links of a map as a matrix, without a place or a colour.
struct HeatMatrix {
  std::vector<std::int32_t> sources;  ///< of the rows; {-1} for measures of one column
  std::vector<std::int32_t> targets;  ///< of the columns
  std::size_t left_out = 0;           ///< sources and targets beyond the largest matrix
  double top = 0;                     ///< the largest finite strength, nats; 0 where there is none

  /// The strongest link of a cell; null where there is none.
  const InformationLink* at(std::size_t row, std::size_t column) const {
    return cells[row * targets.size() + column];
  }
  std::vector<const InformationLink*> cells;  ///< [row][column]
};

/// @param most  rows, and columns: of more those with the strongest links are kept
HeatMatrix heat_matrix(const InformationMap& map, std::size_t most);

}  // namespace kiln::cli
