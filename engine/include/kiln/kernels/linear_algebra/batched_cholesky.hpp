// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/linear_algebra/matrix_batch.hpp"

namespace kiln {

enum class FactorStatus : std::uint8_t {
  ok,
  jittered,    ///< the factor is that of the matrix with jitter on its diagonal
  indefinite,  ///< not positive definite with any tried jitter: the factor is NaN
  not_finite,  ///< a NaN or an infinity occurred: the factor is NaN
};

/// Factors many symmetric matrices A = L L^T independently.
///
/// Only the lower triangle of A is read; above its diagonal the factor is 0. A pivot of column j
/// counts as positive if it exceeds rounding, 4 n 2^-52 times the element of A on the diagonal. A
/// matrix with another pivot is tried again with first_jitter, 10 first_jitter, 100 first_jitter,
/// ... times the mean of its diagonal added to the diagonal, `retries` times; the other matrices of
/// the batch are not affected. A matrix without elements has determinant 1.
///
/// `factor` may be `matrix` for up to `resident` rows; else they must not overlap (InvalidArgument
/// on every backend). On a GPU one block factors a matrix of up to `resident` rows in shared
/// memory; several blocks factor a larger one in place of its factor, and one block repeats it with
/// jitter. A matrix has the same bits alone and in any batch.
///
/// Class D: sums have a backend-specific order.
/// @par Source  Golub, van Loan, Matrix Computations, 4.2.
struct KILN_API BatchedCholesky {
  static constexpr const char* name = "batched_cholesky";
  static constexpr const char* summary =
      "computes the Cholesky factors of many symmetric matrices, with jitter where necessary";
  static constexpr const char* accuracy = "D";
  static constexpr std::int64_t resident = 128;
  static constexpr const char* refusal =
      "batched_cholesky has matrix and factor in one place: more than 128 rows; expected at most "
      "128, or a separate factor";

  MatrixBatch<const double> matrix;  ///< [items] of [n][n]
  MatrixBatch<double> factor;        ///< [items] of [n][n]
  double first_jitter = 1e-10;       ///< in units of the mean of the diagonal
  std::int32_t retries = 7;

  // Results. An empty view is not computed.
  View1<double> jitter;                 ///< [items], the jitter finally added to the diagonal
  View1<double> log_determinant;        ///< [items], of A with its jitter; NaN without a factor
  View1<FactorStatus> status;           ///< [items]
  const RunControl* control = nullptr;  ///< may be null: always active
  std::uint32_t step_offset = 0;

  bool valid() const { return matrix.rows <= resident || matrix.data != factor.data; }
  KILN_HD bool active() const { return control == nullptr || control->active(step_offset); }

  /// The smallest positive pivot, for an element of the diagonal.
  KILN_HD static double min_pivot(std::int64_t n, double diagonal) {
    return 0x1p-50 * static_cast<double>(n) * diagonal;
  }

  /// The attempts at one matrix: the next jitter and the status.
  struct Attempts {
    double added = 0;
    std::int32_t done = 0;
    FactorStatus status = FactorStatus::ok;

    /// Records the pivot that ended an attempt. @return whether to try again.
    KILN_HD bool again(const BatchedCholesky& kernel, double pivot, double mean_diagonal) {
      const double size = pivot < 0 ? -pivot : pivot;
      status = size < exact::infinity() ? FactorStatus::indefinite : FactorStatus::not_finite;
      if (status == FactorStatus::not_finite || done >= kernel.retries || !(mean_diagonal > 0)) {
        return false;
      }
      added = done == 0 ? exact::mul(kernel.first_jitter, mean_diagonal) : exact::mul(10.0, added);
      ++done;
      return true;
    }
    KILN_HD void succeed() { status = done > 0 ? FactorStatus::jittered : FactorStatus::ok; }
    KILN_HD bool failed() const { return status > FactorStatus::jittered; }
  };

  KILN_HD void store(std::int64_t item, const Attempts& attempts, double log_of_determinant) const {
    if (jitter) jitter[item] = attempts.added;
    if (status) status[item] = attempts.status;
    if (log_determinant) {
      log_determinant[item] = attempts.failed() ? exact::not_a_number() : log_of_determinant;
    }
  }
};

}  // namespace kiln
