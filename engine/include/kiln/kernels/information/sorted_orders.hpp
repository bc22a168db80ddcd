// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/information/kernels.hpp"

namespace kiln {

/// The order of each row of numbers: places of ascending values, equal values in ascending places.
///
/// Zeros are equal whatever their sign. No value is NaN. Class E.
struct KILN_API SortedOrders {
  static constexpr const char* name = "sorted_orders";
  static constexpr const char* summary = "sorts rows of numbers and gives their orders";

  View2<const double> values;  ///< [rows][n], n < 2^31
  View2<std::int32_t> order;   ///< [rows][n], written
  View1<std::uint8_t> room;    ///< room_bytes(n) bytes, aligned to 256, used by a GPU

  /// Room to sort `n` numbers at once: three copies of keys, two of places, and what a sort counts.
  static constexpr std::int64_t room_bytes(std::int64_t n) {
    return 34 * n + (std::int64_t{4} << 20);
  }
  double bytes() const { return 12.0 * static_cast<double>(values.rows * values.columns); }
};

}  // namespace kiln
