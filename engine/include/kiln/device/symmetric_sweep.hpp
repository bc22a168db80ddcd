// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/team_rows.hpp"

namespace kiln {

/// Sweeps every pivot of a symmetric matrix: the triangle of A becomes that of -A^-1. With pivot p
/// and column c, a sweep replaces each other element m_ij by m_ij - c_i c_j / p, the column by c_i
/// / p and the pivot by -1 / p. Teams may have faster specialisations (kiln/cuda/tile_team.cuh),
/// with the same operations on each element.
/// @param team  the threads that call this function together
/// @param triangle  of A, replaced
/// @param n  rows of A
/// @param least  that a pivot must exceed
/// @param pivot  [n], the pivots: their product is the determinant
/// @param column  [n], scratch memory
/// @return whether all pivots were finite and greater than `least`; else the triangle is lost
/// @par Source  Goodnight, Am. Stat. 33 (1979) 149.
template <class Team>
KILN_HD bool sweep_all(const Team& team, const PackedTriangle& triangle, std::int64_t n,
                       double least, double* pivot, double* column) {
  using Rows = TeamRows<Team>;
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::int64_t i = team.rank(); i < n; i += team.size()) {
      column[i] = triangle.symmetric(i, k);
    }
    team.sync();
    const double p = column[k], inverse_of = 1 / p;
    if (!(p > least && p < exact::infinity())) return false;
    for (std::int64_t i = Rows::first(); i < n; i += Rows::step()) {
      double* const row = triangle.row(i);
      const double share = column[i] * inverse_of;
      if (i == k) {
        for (std::int64_t j = Rows::lane(); j < k; j += Rows::lanes()) {
          row[j] = column[j] * inverse_of;
        }
        if (Rows::lane() == 0) pivot[k] = p;
        if (Rows::lane() == k % Rows::lanes()) row[k] = -inverse_of;
        continue;
      }
      for (std::int64_t j = Rows::lane(); j <= i; j += Rows::lanes()) row[j] -= share * column[j];
      if (i > k && Rows::lane() == k % Rows::lanes()) row[k] = share;
    }
    team.sync();
  }
  return true;
}

}  // namespace kiln
