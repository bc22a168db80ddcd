// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/math.hpp"
#include "kiln/device/team.hpp"
#include "kiln/kernels/linear_algebra/batched_cholesky.hpp"

namespace kiln {

/// Appends rows to lower factors in place, equivalent to factoring the matrices with these rows.
/// For a factor L of m rows and new rows (K, C) of its matrix, K the part beside it,
///   L21 = K L^-T   and   L22 = the factor of C - L21 L21^T.
///
/// A pivot counts as positive as in BatchedCholesky, for a matrix of m + q rows. The row of a
/// nonpositive pivot, and those after it, become NaN in the lower triangle; rows before it are
/// valid. No jitter is added. Only the lower triangle of the rows is read, nothing above the
/// diagonal of a factor is read or written, and counts are unchanged. An item needs room for all
/// its rows: counts[item] + q <= factor.rows; otherwise it is unchanged and `indefinite`.
///
/// An item costs (m + q)^2 q operations and memory traffic of m^2 / 2 elements.
///
/// Class D: sums have a backend-specific order.
/// @par Source  Golub, van Loan, Matrix Computations, 4.2.
struct KILN_API FactorAppend {
  static constexpr const char* name = "factor_append";
  static constexpr const char* summary = "appends rows to many lower Cholesky factors in place";
  static constexpr const char* accuracy = "D";
  static constexpr int block = 16;  ///< columns that are solved at a time

  MatrixBatch<double> factor;           ///< [items] of [capacity][capacity], lower
  View1<const std::int32_t> counts;     ///< [items], m: rows that are there
  MatrixBatch<const double> rows;       ///< [items] of [q][m + q or more], rows m, ..., m + q - 1
  View1<FactorStatus> status;           ///< [items]; an empty view is not computed
  const RunControl* control = nullptr;  ///< may be null: always active
  std::uint32_t step_offset = 0;

  KILN_HD bool active() const { return control == nullptr || control->active(step_offset); }

  template <class Team>
  KILN_HD void operator()(const Team& team, std::int64_t item) const {
    if (!active()) return;
    const Appended of{factor[item], rows[item], counts[item], rows.rows};
    FactorStatus result = FactorStatus::indefinite;
    if (of.count >= 0 && of.count + of.added <= factor.rows) {
      of.load(team);
      for (std::int64_t first = 0; first < of.count; first += block) {
        of.solve_block(team, first);
        of.take_off_block(team, first);
      }
      result = of.factor_corner(team);
    }
    if (status && team.rank() == 0) status[item] = result;
  }

 private:
  // The factor of one item and what is appended to it.
  struct Appended {
    View2<double> factor;
    View2<const double> rows;
    std::int64_t count, added;

    KILN_HD double& at(std::int64_t r, std::int64_t j) const { return factor(count + r, j); }

    template <class Team>
    KILN_HD void load(const Team& team) const {
      const std::int64_t wide = count + added;
      for (std::int64_t e = team.rank(); e < added * wide; e += team.size()) {
        const std::int64_t r = e / wide, j = e % wide;
        if (j <= count + r) at(r, j) = rows(r, j);
      }
      team.sync();
    }

    // Columns first, ... of the new rows, each row by one thread.
    template <class Team>
    KILN_HD void solve_block(const Team& team, std::int64_t first) const {
      const int width = static_cast<int>(count - first < block ? count - first : block);
      for (std::int64_t r = team.rank(); r < added; r += team.size()) {
        double x[block];
        KILN_UNROLL for (int j = 0; j < block; ++j) {
          if (j >= width) continue;
          double value = at(r, first + j);
          KILN_UNROLL for (int k = 0; k < j; ++k) value -= factor(first + j, first + k) * x[k];
          x[j] = value / factor(first + j, first + j);
          at(r, first + j) = x[j];
        }
      }
      team.sync();
    }

    // Takes columns that are solved off those to their right, the corner among them.
    template <class Team>
    KILN_HD void take_off_block(const Team& team, std::int64_t first) const {
      const std::int64_t end = first + block < count ? first + block : count;
      const std::int64_t wide = count + added - end;
      for (std::int64_t e = team.rank(); e < added * wide; e += team.size()) {
        const std::int64_t r = e / wide, j = end + e % wide;
        if (j > count + r) continue;
        double sum = 0;
        for (std::int64_t k = first; k < end; ++k) sum += factor(j, k) * at(r, k);
        at(r, j) -= sum;
      }
      team.sync();
    }

    // Column after column of the corner, each taken off what is to its right.
    template <class Team>
    KILN_HD FactorStatus factor_corner(const Team& team) const {
      for (std::int64_t c = 0; c < added; ++c) {
        const std::int64_t column = count + c;
        const double pivot = at(c, column);
        const double least = BatchedCholesky::min_pivot(count + added, rows(c, column));
        team.sync();  // all have read the pivot
        if (!(pivot > 0 && pivot > least && pivot < exact::infinity())) {
          give_up(team, c);
          return math::abs(pivot) < exact::infinity() ? FactorStatus::indefinite
                                                      : FactorStatus::not_finite;
        }
        const double root = math::sqrt(pivot);
        if (team.rank() == 0) at(c, column) = root;
        for (std::int64_t r = c + 1 + team.rank(); r < added; r += team.size()) {
          at(r, column) /= root;
        }
        team.sync();
        const std::int64_t left = added - c - 1;
        for (std::int64_t e = team.rank(); e < left * left; e += team.size()) {
          const std::int64_t r = c + 1 + e / left, s = c + 1 + e % left;
          if (s <= r) at(r, count + s) -= at(r, column) * at(s, column);
        }
        team.sync();
      }
      return FactorStatus::ok;
    }

    template <class Team>
    KILN_HD void give_up(const Team& team, std::int64_t from) const {
      const std::int64_t wide = count + added;
      for (std::int64_t e = team.rank(); e < (added - from) * wide; e += team.size()) {
        const std::int64_t r = from + e / wide, j = e % wide;
        if (j <= count + r) at(r, j) = exact::not_a_number();
      }
    }
  };
};

}  // namespace kiln
