// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/vector_function.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/fronts/objective_points.hpp"

namespace kiln {

/// Computes the ideal and nadir points that normalise the first front of each group.
///
/// The ideal point is the smallest value that a first front ever had in each objective, including
/// the contents of `ideal` before the launch. The extreme point of an axis is the point of the
/// front, or of the previous launch, nearest to it: the least max_i (f_i - ideal_i) / w_i with w =
/// 1 on the axis and 1e-6 off it. The nadir lies where the hyperplane through the extreme points
/// cuts the axes. If it does not cut all of them more than 1e-12 beyond the ideal, and at finite
/// values, the nadir is the worst value of the front, and one above the ideal if the front has no
/// extent there.
///
/// A team of threads works on one group. Class E.
/// @par Source  Deb, Jain, IEEE Trans. Evol. Comput. 18 (2014) 577.
struct KILN_API ReferenceFrame {
  static constexpr const char* name = "reference_frame";
  static constexpr const char* summary =
      "computes the ideal point and the nadir point of the first front of each group";

  View2<const double> value;  ///< [objectives][points], at most max_objectives
  PointGroups groups;
  View1<const std::int32_t> rank;  ///< [points]
  View2<double> ideal;             ///< [objectives][groups], +infinity before the first launch
  View2<double> nadir;             ///< [objectives][groups]
  View2<double> extreme;   ///< [objectives x objectives][groups], row axis * objectives + k;
                           ///< +infinity before the first launch
  bool intercepts = true;  ///< false: the nadir is the worst value of the front
  const RunControl* control = nullptr;  ///< may be null: always active
  std::uint32_t step_offset = 0;

  template <class Team>
  KILN_HD void operator()(const Team& team, std::int64_t group) const {
    if (control != nullptr && !control->active(step_offset)) return;
    const std::int64_t m = value.rows;
    for (std::int64_t k = 0; k < m; ++k) {
      double least = exact::infinity(),
             most = exact::infinity();  // most of -f: the team has minima
      for (std::int64_t c = groups.begin(group) + team.rank(); c < groups.end(group);
           c += team.size()) {
        if (rank[c] != 0) continue;
        if (value(k, c) < least) least = value(k, c);
        if (-value(k, c) < most) most = -value(k, c);
      }
      least = team.least(least);
      most = -team.least(most);
      if (team.rank() == 0) {
        if (least < ideal(k, group)) ideal(k, group) = least;
        const double above = exact::add(ideal(k, group), 1.0);
        nadir(k, group) = most > ideal(k, group) ? most : above;
      }
    }
    team.sync();
    if (!intercepts) return;
    for (std::int64_t axis = 0; axis < m; ++axis) find_extreme(team, group, axis);
    team.sync();
    if (team.rank() == 0) cut_axes(group);
    team.sync();
  }

 private:
  /// The distance of a point from an axis; at(k) gives its values.
  template <class At>
  KILN_HD double off_axis(std::int64_t group, std::int64_t axis, const At& at) const {
    double most = -exact::infinity();
    for (std::int64_t k = 0; k < value.rows; ++k) {
      const double moved = exact::sub(at(k), ideal(k, group));
      const double term = k == axis ? moved : exact::mul(moved, 1e6);
      if (term > most || term != term) most = term;  // a NaN stays
    }
    return most;
  }

  template <class Team>
  KILN_HD void find_extreme(const Team& team, std::int64_t group, std::int64_t axis) const {
    const std::int64_t m = value.rows;
    const auto of = [&](std::int64_t c) {
      return off_axis(group, axis, [&](std::int64_t k) { return value(k, c); });
    };
    double least = exact::infinity();
    for (std::int64_t c = groups.begin(group) + team.rank(); c < groups.end(group);
         c += team.size()) {
      if (rank[c] == 0 && of(c) < least) least = of(c);
    }
    least = team.least(least);
    double first = exact::infinity();
    for (std::int64_t c = groups.begin(group) + team.rank(); c < groups.end(group);
         c += team.size()) {
      if (rank[c] == 0 && of(c) == least && static_cast<double>(c) < first) {
        first = static_cast<double>(c);
      }
    }
    first = team.least(first);
    if (team.rank() != 0 || !(first < exact::infinity())) return;
    const double before =
        off_axis(group, axis, [&](std::int64_t k) { return extreme(axis * m + k, group); });
    if (before <= least) return;
    for (std::int64_t k = 0; k < m; ++k) {
      extreme(axis * m + k, group) = value(k, static_cast<std::int64_t>(first));
    }
  }

  /// Solves extreme points x = 1 for the reciprocals of the intercepts, by elimination with pivots.
  KILN_HD void cut_axes(std::int64_t group) const {
    const int m = static_cast<int>(value.rows);
    double a[max_objectives][max_objectives + 1];
    // Of each column; smaller pivots than 1e-9 of it are rounding
    double largest[max_objectives] = {};
    for (int r = 0; r < m; ++r) {
      for (int k = 0; k < m; ++k) {
        a[r][k] = exact::sub(extreme(r * m + k, group), ideal(k, group));
        if (magnitude(a[r][k]) > largest[k]) largest[k] = magnitude(a[r][k]);
      }
      a[r][m] = 1;
    }
    for (int column = 0; column < m; ++column) {
      int pivot = column;
      for (int r = column + 1; r < m; ++r) {
        if (magnitude(a[r][column]) > magnitude(a[pivot][column])) pivot = r;
      }
      if (!(magnitude(a[pivot][column]) > exact::mul(1e-9, largest[column]))) return;
      for (int k = 0; k <= m; ++k) {
        const double swapped = a[column][k];
        a[column][k] = a[pivot][k];
        a[pivot][k] = swapped;
      }
      for (int r = 0; r < m; ++r) {
        if (r == column) continue;
        const double factor = exact::div(a[r][column], a[column][column]);
        for (int k = column; k <= m; ++k) {
          a[r][k] = exact::sub(a[r][k], exact::mul(factor, a[column][k]));
        }
      }
    }
    double cut[max_objectives];
    for (int k = 0; k < m; ++k) {
      cut[k] = exact::div(a[k][k], a[k][m]);
      if (!(cut[k] > 1e-12) || !(cut[k] < exact::infinity())) return;
    }
    for (int k = 0; k < m; ++k) nadir(k, group) = exact::add(ideal(k, group), cut[k]);
  }
  KILN_HD static double magnitude(double x) { return x < 0 ? -x : x; }
};

}  // namespace kiln
