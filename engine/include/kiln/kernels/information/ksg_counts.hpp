// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/information/kernels.hpp"
#include "kiln/kernels/information/ksg_points.hpp"

namespace kiln {

/// Counts the neighbours of each point in the blocks of coordinates, and adds up what the counts
/// say.
///
/// With a condition (z > 0): n_z, n_yz and n_xz, the others within the radius in z, in y and z, in
/// x and z. Without: n_y and n_x. Others within the radius are nearer than it (strictly), or, with
/// `extent_y` and `extent_x` (z = 0), not farther than the extent of the block.
///
/// A point has the value
///   psi(n_z + 1) - psi(n_yz + 1) - psi(n_xz + 1)   with a condition,
///   - psi(n_y + 1) - psi(n_x + 1)                  without,
///   - psi(n_y) - psi(n_x)                          with extents.
/// The digamma function comes from a table of integers in units of 2^-36, so sums are exact and do
/// not depend on their order: class E.
///
/// Without a condition x and y are counted among points in an order for each of them: `search` has
/// the axes of each coordinate of y and of x, points in the order of the first of the block. They
/// may be other points than those of the problem in the same places, as long as the block has the
/// same values (a surrogate of x has those of x).
/// @par Source  Kraskov, Stögbauer, Grassberger, Physical Review E 69 (2004) 066138; Frenzel,
/// Pompe, Physical Review Letters 99 (2007) 204101.
struct KILN_API KsgCounts {
  static constexpr const char* name = "ksg_counts";
  static constexpr const char* summary = "counts neighbours in blocks of coordinates";
  static constexpr int fraction_bits = 36;  ///< of the table
  static constexpr int square_bits = 28;    ///< of the sums of squares
  static constexpr std::int64_t max_points = std::int64_t{1} << 21;

  KsgPoints points;
  View2<const double> radius;              ///< [problem][n]; empty with extents
  View2<const double> extent_y, extent_x;  ///< [problem][n]; empty: the radius counts
  View2<const std::int32_t> search;        ///< [problem][y + x], axes; empty with a condition
  /// [problem][dims()], axes of the points in the order of time; for `theiler`
  View2<const std::int32_t> natural;
  View1<const std::int64_t> psi;  ///< [n + 1], psi(i + 1) in units of 2^-36
  View2<std::int64_t> sums;  ///< [problem][2], zero before: of values, of squares (2^-28), added to
  /// [problem * blocks()][n], of each point: n_z, n_yz, n_xz, or n_y, n_x; empty: not asked for
  View2<std::int32_t> counts;

  KILN_HD std::int32_t blocks() const { return points.z > 0 ? 3 : 2; }
  KILN_HD bool by_extents() const { return extent_y.rows > 0; }
  /// Of counts in the order of `counts`.
  KILN_HD std::int64_t value(const std::int32_t count[3]) const {
    if (points.z > 0) return psi[count[0]] - psi[count[1]] - psi[count[2]];
    const std::int32_t less = by_extents() ? 1 : 0;
    return -psi[count[0] - less] - psi[count[1] - less];
  }
  /// The square of a value, in units of 2^-square_bits; the value is rounded to 2^-14 before.
  KILN_HD static std::int64_t square(std::int64_t value) {
    const std::int64_t rounded = (value < 0 ? -value : value) >> (fraction_bits - square_bits / 2);
    return rounded * rounded;
  }
};

}  // namespace kiln
