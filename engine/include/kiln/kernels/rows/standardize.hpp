// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/rows/row_tree.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/rows/elements.hpp"
#include "kiln/kernels/rows/kernels.hpp"

namespace kiln {

/// Moves and scales each row to mean 0 and standard deviation 1. A row is a column of a table: its
/// values lie side by side, or `step` elements apart.
///
/// Values that are not finite are missing: statistics leave them out, and they become 0, the mean.
/// The standard deviation is that of the population (divisor n). Rows without deviation are not
/// divided. Statistics merge those of chunks as the moments of ReduceRows do, so neither offsets
/// nor magnitudes of values spoil them. Class E.
struct KILN_API Standardize {
  static constexpr const char* name = "standardize";
  static constexpr const char* summary =
      "moves and scales each row to mean 0 and standard deviation 1";
  static constexpr std::int64_t mean = 0, deviation = 1, count = 2;  ///< columns of statistics

  static constexpr const char* refusal = "standardize takes rows of float64 or float32";

  Elements value;        ///< [rows][columns], float64 or float32
  View2<double> result;  ///< [rows][columns], overwritten; may be `value`
  View2<double>
      statistics;         ///< [rows][3], written; with `frozen` read. NaN where nothing is finite
  bool frozen = false;    ///< takes mean and deviation as given
  bool divides = true;    ///< else rows are only moved
  View1<std::byte> room;  ///< room_bytes(rows, columns); used by a GPU alone

  static std::int64_t room_bytes(std::int64_t rows, std::int64_t columns) {
    return row_room_bytes(rows, columns);
  }
  bool valid() const { return value.is_wide(); }
  double bytes() const {
    return value.bytes() +
           8.0 * static_cast<double>(result.rows) * static_cast<double>(result.columns);
  }
};

}  // namespace kiln
