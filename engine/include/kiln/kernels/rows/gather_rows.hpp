// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/rows/kernels.hpp"

namespace kiln {

/// Copies chosen rows of a table: row i of the result is row id[i] of the table.
///
/// Rows are bytes, so they hold values of any type; with a multiple of 16 bytes at addresses that
/// are multiples of 16 they move the fastest. An id that is no row gives a row of zeros, and is
/// counted. Class E.
struct KILN_API GatherRows {
  static constexpr const char* name = "gather_rows";
  static constexpr const char* summary = "copies the rows of a table that a list names";

  View2<const std::byte> table;     ///< [rows][bytes of a row], stride in bytes
  View1<const std::int64_t> id;     ///< [rows of the result]
  View2<std::byte> result;          ///< [rows of the result][bytes of a row], not in the table
  std::int64_t* missing = nullptr;  ///< += number of ids that are no row; may be null

  /// The table of values as bytes.
  template <class T>
  static View2<const std::byte> bytes_of_rows(View2<const T> rows) {
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    return {reinterpret_cast<const std::byte*>(rows.data), rows.rows, rows.columns * size,
            rows.stride * size};
  }
  template <class T>
  static View2<std::byte> bytes_of_rows(View2<T> rows) {
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    return {reinterpret_cast<std::byte*>(rows.data), rows.rows, rows.columns * size,
            rows.stride * size};
  }

  KILN_HD bool is_row(std::int64_t number) const { return number >= 0 && number < table.rows; }
  double bytes() const {
    return static_cast<double>(id.size) * (2.0 * static_cast<double>(table.columns) + 8.0);
  }
};

}  // namespace kiln
