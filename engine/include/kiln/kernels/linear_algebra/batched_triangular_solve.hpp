// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/linear_algebra/matrix_batch.hpp"

namespace kiln {

enum class TriangularForm : std::uint8_t {
  forward,   ///< L x = b
  backward,  ///< L^T x = b
  both,      ///< L L^T x = b
};

/// Solves triangular systems of many lower factors, each with many right-hand sides.
///
/// Elements above the diagonal of a factor are not read. `solution` may be `right`, else they must
/// not overlap. There is no test for a 0 on the diagonal: it makes infinities or NaN in its item
/// alone, and a nonfinite value in a right-hand side stays in its column. A column has the same
/// bits alone, among others and in any batch.
///
/// Class D: sums have a backend-specific order. The error of a column is that of a solution with a
/// factor perturbed by rounding: it grows with the condition of the factor.
/// @par Source  Golub, van Loan, Matrix Computations, 3.1.
struct KILN_API BatchedTriangularSolve {
  static constexpr const char* name = "batched_triangular_solve";
  static constexpr const char* summary =
      "solves many triangular systems, each system with many right-hand sides";
  static constexpr const char* accuracy = "D";

  TriangularForm form = TriangularForm::forward;
  MatrixBatch<const double> factor;     ///< [items] of [n][n], lower
  MatrixBatch<const double> right;      ///< [items] of [n][columns]
  MatrixBatch<double> solution;         ///< [items] of [n][columns]
  const RunControl* control = nullptr;  ///< may be null: always active
  std::uint32_t step_offset = 0;

  KILN_HD bool active() const { return control == nullptr || control->active(step_offset); }
};

/// A lower factor in the order of the solved unknowns: that of its rows, or for its transpose the
/// reverse, in which the transpose is a lower triangle too.
template <bool forward>
struct SolvingOrder {
  View2<const double> factor;

  KILN_HD std::int64_t row(std::int64_t p) const { return forward ? p : factor.rows - 1 - p; }
  /// The contribution of unknown q <= p to equation p.
  KILN_HD double operator()(std::int64_t p, std::int64_t q) const {
    return forward ? factor(p, q) : factor(row(q), row(p));
  }
};

}  // namespace kiln
