// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/rows/row_states.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/rows/elements.hpp"
#include "kiln/kernels/rows/kernels.hpp"

namespace kiln {

/// Finds the k largest values of each row, largest first, with their columns.
///
/// Of equal values that in the lower column comes first; -0 equals +0. NaN is below -infinity.
/// Class E: the result is that of a stable sort.
/// @par Source  Alabi, Blanchard, Gordon, Steinbach, ACM J. Exp. Algorithmics 17 (2012) 4.2.
struct KILN_API TopK {
  static constexpr const char* name = "top_k";
  static constexpr const char* summary = "finds the k largest values of each row and their columns";
  static constexpr std::int64_t no_column = -1;

  static constexpr std::int64_t sorted_at_once = 4096;  ///< values that a GPU block sorts
  static constexpr std::int64_t max_selected = 2048;    ///< a larger k sorts the whole row
  static constexpr std::int64_t rows_at_once = 64;      ///< that digit passes select in
  static constexpr std::int64_t bins = std::int64_t{1} << 13;
  static constexpr const char* refusal =
      "top_k takes rows of float64 or float32, and results with a row for each of them";

  Elements value;               ///< [rows][columns], float64 or float32
  View2<double> largest;        ///< [rows][k]; NaN beyond the columns. May have no data
  View2<std::int64_t> column;   ///< [rows][k], the column of each; no_column beyond the columns
  std::int64_t rows_apart = 0;  ///< row times this is added to columns: ids of a whole table
  View1<std::byte> room;        ///< room_bytes(rows, columns, k); used by a GPU alone

  // A tree of largest keys, for rows that are longer than a GPU block sorts.
  static constexpr std::int64_t fan = 32;           ///< keys below a node
  static constexpr std::int64_t max_in_tree = 192;  ///< k that a GPU selects in a tree
  static constexpr std::int64_t top_nodes = 8192;   ///< of the highest level at most

  /// Keys of a level of the tree; those of level 0 are the values of a row.
  static constexpr std::int64_t level_size(std::int64_t columns, int level) {
    for (; level > 0; --level) columns = (columns + fan - 1) / fan;
    return columns;
  }
  /// The highest level; 0 for a row that a block sorts.
  static constexpr int top_level(std::int64_t columns) {
    if (columns <= sorted_at_once) return 0;
    int level = 1;
    while (level_size(columns, level) > top_nodes) ++level;
    return level;
  }
  /// Nodes of the levels from 1 up to below `level`.
  static constexpr std::int64_t nodes_below(std::int64_t columns, int level) {
    std::int64_t nodes = 0;
    for (int lower = 1; lower < level; ++lower) nodes += level_size(columns, lower);
    return nodes;
  }
  /// Rows that have a tree at the same time.
  static constexpr std::int64_t tree_rows(std::int64_t columns) {
    return std::max<std::int64_t>(1, (std::int64_t{1} << 24) / columns);
  }
  /// Candidates that are left at most, of which a block sorts out k.
  static constexpr std::int64_t capacity(std::int64_t columns, std::int64_t k) {
    return std::min(columns, k + k / 4 + 64);
  }
  /// Room of a row with digit passes: a state, a histogram and what is left to sort.
  static constexpr std::int64_t room_of_row = 256 + 8 * bins + 16 * sorted_at_once;
  static std::int64_t room_bytes(std::int64_t rows, std::int64_t columns, std::int64_t k) {
    if (columns <= sorted_at_once || k == 0) return 0;
    if (k > max_selected) return 34 * columns + (std::int64_t{4} << 20);
    if (k > max_in_tree) return std::min(rows, rows_at_once) * room_of_row;
    return std::min(rows, tree_rows(columns)) * 8 * nodes_below(columns, top_level(columns) + 1);
  }
  bool valid() const {
    return value.is_wide() && column.rows == value.rows &&
           (!largest.data || (largest.rows == value.rows && largest.columns == k()));
  }
  KILN_HD std::int64_t k() const { return column.columns; }
  /// Unsigned numbers of which the order is that of the values.
  KILN_HD static std::uint64_t key_of(double value) {
    return value != value ? 0 : exact::order_key(value + 0.0);  // -0 + 0 is +0
  }
  /// Writes place i of a row: the value of a column, or that there is none.
  KILN_HD void put(std::int64_t row, std::int64_t i, std::int64_t from) const {
    column(row, i) = from == no_column ? no_column : row * rows_apart + from;
    if (largest.data == nullptr) return;
    largest(row, i) = from == no_column ? exact::not_a_number() : canonical(value(row, from));
  }
  double bytes() const {
    return value.bytes() + 16.0 * static_cast<double>(column.rows) * static_cast<double>(k());
  }
};

}  // namespace kiln
