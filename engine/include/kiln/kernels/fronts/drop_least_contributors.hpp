// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/fronts/nondominated_ranks.hpp"
#include "kiln/kernels/fronts/objective_points.hpp"

namespace kiln {

/// Scores that drop the points of least hypervolume contribution from the last front of a
/// population.
///
/// The first launch (`begin`) finds the front that does not fit into `keep` points, gives all
/// points score 1 and writes that front into `front`, in units of the box that it spans; all other
/// columns become +infinity there, which Hypervolume leaves out. Each further launch, after
/// Hypervolume with contributions of `front` against the reference `far`, drops the ceil(excess
/// points / rounds left) points of least contribution, ties from the last column: their score
/// becomes 0 and they leave `front`. After the last round all excess points are dropped.
///
/// A team of threads works on one group. Class E, given the contributions.
/// @par Source  Beume, Naujoks, Emmerich, Eur. J. Oper. Res. 181 (2007) 1653, for whole
/// generations.
struct KILN_API DropLeastContributors {
  static constexpr const char* name = "drop_least_contributors";
  static constexpr const char* summary =
      "drops the points with the smallest hypervolume contributions from a front";
  /// The reference in units of the box: far enough that the ends of the front stay.
  static constexpr double far = 2;

  View2<const double> value;  ///< [objectives][points]
  PointGroups groups;
  View1<const std::int32_t> rank;    ///< [points]
  std::int64_t keep = 0;             ///< points to keep in each group
  bool begin = true;                 ///< whether this is the first launch
  std::int64_t rounds_left = 1;      ///< including this one; not read by the first launch
  View2<double> front;               ///< [objectives][points]
  View1<const double> contribution;  ///< [points], of Hypervolume; not read by the first launch
  View1<double> score;               ///< [points]
  View1<std::int32_t> excess;        ///< [groups], number of excess points
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;

  template <class Team>
  KILN_HD void operator()(const Team& team, std::int64_t group) const {
    if (!control->active(step_offset)) return;
    if (begin) {
      prepare(team, group);
    } else {
      drop(team, group);
    }
  }

 private:
  template <class Team>
  KILN_HD void prepare(const Team& team, std::int64_t group) const {
    const std::int64_t first = groups.begin(group), end = groups.end(group);
    double before = 0, here = 0;
    std::int32_t split = 0;
    for (;; ++split) {
      double beyond = 0;
      here = 0;
      for (std::int64_t c = first + team.rank(); c < end; c += team.size()) {
        here += rank[c] == split ? 1 : 0;
        beyond += rank[c] > split && rank[c] != NondominatedRanks::no_front ? 1 : 0;
      }
      here = team.sum(here);
      beyond = team.sum(beyond);
      if (before + here > static_cast<double>(keep) || beyond == 0) break;
      before += here;
    }
    for (std::int64_t k = 0; k < value.rows; ++k) write_row(team, group, k, split);
    for (std::int64_t c = first + team.rank(); c < end; c += team.size()) score[c] = 1;
    if (team.rank() == 0) {
      const double too_many = before + here - static_cast<double>(keep);
      excess[group] = too_many > 0 ? static_cast<std::int32_t>(too_many) : 0;
    }
    team.sync();
  }

  template <class Team>
  KILN_HD void write_row(const Team& team, std::int64_t group, std::int64_t k,
                         std::int32_t split) const {
    const std::int64_t first = groups.begin(group), end = groups.end(group);
    double least = exact::infinity(), most = exact::infinity();  // most of -f
    for (std::int64_t c = first + team.rank(); c < end; c += team.size()) {
      if (rank[c] != split) continue;
      if (value(k, c) < least) least = value(k, c);
      if (-value(k, c) < most) most = -value(k, c);
    }
    least = team.least(least);
    most = -team.least(most);
    const double range = most > least ? exact::sub(most, least) : 1;
    for (std::int64_t c = first + team.rank(); c < end; c += team.size()) {
      const double moved = exact::sub(value(k, c), least);
      front(k, c) = rank[c] == split ? exact::div(moved, range) : exact::infinity();
    }
  }

  template <class Team>
  KILN_HD void drop(const Team& team, std::int64_t group) const {
    const std::int64_t first = groups.begin(group), end = groups.end(group);
    const std::int64_t due = (excess[group] + rounds_left - 1) / rounds_left;
    team.sync();
    for (std::int64_t n = 0; n < due; ++n) {
      double least = exact::infinity();
      for (std::int64_t c = first + team.rank(); c < end; c += team.size()) {
        if (front(0, c) < exact::infinity() && contribution[c] < least) least = contribution[c];
      }
      least = team.least(least);
      double last = 1;  // minus the column
      for (std::int64_t c = first + team.rank(); c < end; c += team.size()) {
        if (!(front(0, c) < exact::infinity()) || contribution[c] != least) continue;
        if (-static_cast<double>(c) < last) last = -static_cast<double>(c);
      }
      last = team.least(last);
      if (last > 0) break;
      const auto gone = static_cast<std::int64_t>(-last);
      if (team.rank() == 0) {
        score[gone] = 0;
        for (std::int64_t k = 0; k < value.rows; ++k) front(k, gone) = exact::infinity();
        --excess[group];
      }
      team.sync();
    }
  }
};

}  // namespace kiln
