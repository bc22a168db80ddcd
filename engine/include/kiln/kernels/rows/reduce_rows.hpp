// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/device/rows/row_tree.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/rows/elements.hpp"
#include "kiln/kernels/rows/kernels.hpp"

namespace kiln {

/// A reduction of a row to one value or some.
enum class RowReduction : std::int32_t {
  sum,           ///< of the values
  dot,           ///< of the values times those of `other`, each product rounded to double
  squared_norm,  ///< sum of the squares, each rounded to double
  norm,          ///< Euclidean, without overflow or underflow of squares
  moments,       ///< mean, and variance: the mean of the squared deviations
  softmax,       ///< exp(x - m) / sum(exp(x - m)) for each value x, m the largest
};

/// Reduces each row of a matrix to one or two numbers, or to the softmax of the row.
///
/// Sums are in double precision. sum, dot and squared_norm are compensated: the error is at most
/// 2^-53 |sum| + n^2 2^-105 sum|x| for n terms as they were rounded. moments merge the means and
/// squared deviations of chunks (Chan, Golub, LeVeque), in units of a power of two that keep
/// squares finite; the error of a mean is that of a sum without compensation, some 2^-53 of the
/// largest magnitude. The order is that of a tree that depends on the number of columns alone, so
/// any launch and any number of threads give the same bits (kiln/device/rows/row_tree.hpp). Class
/// E.
///
/// An empty row has sum, dot and norms 0; its moments are NaN, status not_finite.
/// @par Source  Ogita, Rump, Oishi, SIAM J. Sci. Comput. 26 (2005) 1955; Chan, Golub, LeVeque, Am.
/// Stat. 37 (1983) 242; Anderson, ACM Trans. Math. Softw. 44 (2017) 12.
struct KILN_API ReduceRows {
  static constexpr const char* name = "reduce_rows";
  static constexpr const char* summary =
      "reduces each row to a sum, dot product, norm or moments, or computes its softmax";
  static constexpr std::int32_t finite = 0;      ///< as a status
  static constexpr std::int32_t not_finite = 1;  ///< a result is infinite or NaN

  static constexpr const char* refusal =
      "reduce_rows takes rows of float64 or float32, and for a dot product as many numbers in "
      "other";

  RowReduction reduction = RowReduction::sum;
  Elements value;  ///< [rows][columns], float64 or float32
  Elements other;  ///< for dot: [rows][columns]; a stride of 0 is one row for all
  /// [rows][1]; for moments [rows][2], mean and variance; for softmax [rows][columns], and a row
  /// that is not_finite (with NaN or +inf, of -inf alone) becomes 0. May be `value` in place.
  View2<double> result;
  View1<std::int32_t> status;  ///< [rows]; may be empty
  View1<std::byte> room;       ///< room_bytes(rows, columns); used by a GPU alone

  static std::int64_t room_bytes(std::int64_t rows, std::int64_t columns) {
    return row_room_bytes(rows, columns);
  }
  bool valid() const {
    if (!value.is_wide()) return false;
    return reduction != RowReduction::dot ||
           (other.is_wide() && (other.columns == value.columns || value.rows == 0));
  }
  KILN_HD void report(std::int64_t row, bool is_finite) const {
    if (status.size > 0) status[row] = is_finite ? finite : not_finite;
  }
  double bytes() const {
    return value.bytes() + (reduction == RowReduction::dot ? other.bytes() : 0.0) +
           8.0 * static_cast<double>(result.rows) * static_cast<double>(result.columns);
  }
};

}  // namespace kiln
