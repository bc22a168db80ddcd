// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/rows/row_states.hpp"
#include "kiln/device/rows/row_tree.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/rows/elements.hpp"
#include "kiln/kernels/rows/kernels.hpp"

namespace kiln {

/// Adds the product of a matrix and a column to a column: y = alpha A x + beta y; or without A a
/// column: y = alpha x + beta y.
///
/// beta = 0 does not read y, whatever lies there. Products of a row are rounded to double and
/// summed with compensation, in the order of the tree of kiln/device/rows/row_tree.hpp: alpha times
/// the sum is rounded once, and so are beta y and the sum of both. Class E.
struct KILN_API Axpby {
  static constexpr const char* name = "axpby";
  static constexpr const char* summary =
      "computes y = alpha A x + beta y for a matrix A and columns x and y, or without A";

  static constexpr const char* refusal =
      "axpby takes a matrix of float64 or float32 with a row for each number of y and a column for "
      "each of x, or x as long as y";

  /// [rows][columns], float64 or float32; without data and rows there is no A.
  Elements a;
  View1<const double> x;  ///< [columns], or [rows] without A
  View1<double> y;        ///< [rows]; overlaps neither x nor A, but without A it may be x
  double alpha = 1, beta = 0;
  View1<std::byte> room;  ///< room_bytes(rows, columns) with A; used by a GPU alone

  static std::int64_t room_bytes(std::int64_t rows, std::int64_t columns) {
    return row_room_bytes(rows, columns);
  }
  bool has_matrix() const { return a.data != nullptr || a.rows > 0; }
  bool valid() const {
    if (!has_matrix()) return x.size == y.size;
    return a.is_wide() && a.rows == y.size && a.columns == x.size;
  }
  /// alpha product + beta before, with one rounding each; beta = 0 leaves `before` out.
  KILN_HD double combine(double product, double before) const {
    const double scaled = exact::mul(alpha, product);
    return canonical(beta == 0 ? scaled : exact::add(scaled, exact::mul(beta, before)));
  }
  /// Writes an element of y; `product` is that of A x, or of x.
  KILN_HD void update(std::int64_t row, double product) const {
    y[row] = combine(product, beta == 0 ? 0.0 : y[row]);
  }
  double bytes() const {
    return a.bytes() + 8.0 * static_cast<double>(x.size) +
           (beta == 0 ? 8.0 : 16.0) * static_cast<double>(y.size);
  }
};

}  // namespace kiln
