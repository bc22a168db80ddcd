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
#include "kiln/kernels/run/draw_ids.hpp"

namespace kiln {

/// Scores that select members of a population spread over reference lines (NSGA-III).
///
/// Whole fronts are taken as long as they fit into `keep` points. Points of the first front that
/// does not fit are taken one after the other: from a line with the fewest points so far among
/// those with points left, ties by a draw. A line without points gets its nearest one, ties by
/// column; a line with points gets one by a draw. A NaN distance counts as infinite. Taken points,
/// and all of the fronts before, have score 1, the rest 0. A point without a line is not taken from
/// a front that does not fit.
///
/// Draws: RngDomain::niche with the key of the group and the step; block 0 for the line, block 1
/// for the point. A team of threads works on one group of at most 2^20 points. Class E.
/// @par Source  Deb, Jain, IEEE Trans. Evol. Comput. 18 (2014) 577.
struct KILN_API NicheScores {
  static constexpr const char* name = "niche_scores";
  static constexpr const char* summary =
      "scores points so that the selected points spread over the reference lines";

  PointGroups groups;
  std::int64_t keep = 0;           ///< points to keep in each group
  View1<const std::int32_t> rank;  ///< [points]
  View1<const std::int32_t> line;  ///< [points], from ReferenceAssociation; -1: none
  View1<const double> distance;    ///< [points]
  std::int64_t lines = 0;
  View1<double> score;             ///< [points]
  View1<std::int32_t> taken;       ///< [groups x lines], scratch
  View1<std::int32_t> left;        ///< [groups x lines], scratch
  View1<const std::uint64_t> key;  ///< [slots], of DrawIds
  std::int64_t group_slots = 1;    ///< slots of a group, which uses the key of the first
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;

  template <class Team>
  KILN_HD void operator()(const Team& team, std::int64_t group) const {
    if (!control->active(step_offset)) return;
    const std::int64_t begin = groups.begin(group), end = groups.end(group);
    double before = 0;
    const std::int32_t split = splitting_front(team, begin, end, before);
    for (std::int64_t c = begin + team.rank(); c < end; c += team.size()) {
      score[c] = rank[c] < split ? 1 : 0;
    }
    for (std::int64_t l = team.rank(); l < lines; l += team.size()) {
      std::int32_t before_split = 0, on_split = 0;
      for (std::int64_t c = begin; c < end; ++c) {
        if (line[c] != l) continue;
        before_split += rank[c] < split ? 1 : 0;
        on_split += rank[c] == split ? 1 : 0;
      }
      taken[group * lines + l] = before_split;
      left[group * lines + l] = on_split;
    }
    team.sync();
    for (auto n = static_cast<std::int64_t>(before); n < keep; ++n) {
      if (!take_one(team, group, split)) break;
    }
  }

 private:
  // The first front that does not fit, or the end of all fronts, and the number of points before
  // it.
  template <class Team>
  KILN_HD std::int32_t splitting_front(const Team& team, std::int64_t begin, std::int64_t end,
                                       double& before) const {
    for (std::int32_t front = 0;; ++front) {
      double here = 0, beyond = 0;
      for (std::int64_t c = begin + team.rank(); c < end; c += team.size()) {
        here += rank[c] == front ? 1 : 0;
        beyond += rank[c] > front && rank[c] != NondominatedRanks::no_front ? 1 : 0;
      }
      here = team.sum(here);
      beyond = team.sum(beyond);
      if (before + here > static_cast<double>(keep)) return front;
      before += here;
      if (beyond == 0) return front + 1;
    }
  }

  // Treats NaN as infinite: a line with only NaN distances must give a point, too.
  KILN_HD double distance_of(std::int64_t point) const {
    const double d = distance[point];
    return d == d ? d : exact::infinity();
  }
  KILN_HD std::uint32_t word(std::int64_t group, std::uint8_t block, std::int64_t of) const {
    const DrawName draws{key[group * group_slots], control->step + step_offset,
                         static_cast<std::uint32_t>(of), RngDomain::niche, block};
    return draw_word(draws, 0);
  }
  // A word and a number below 2^20, as one double that orders by the word first.
  KILN_HD static double ordered(std::uint32_t word, std::int64_t number) {
    return static_cast<double>((static_cast<std::uint64_t>(word) << 20) +
                               static_cast<std::uint64_t>(number));
  }
  KILN_HD static std::int64_t number_of(double order) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(order) & 0xFFFFF);
  }

  template <class Team>
  KILN_HD bool take_one(const Team& team, std::int64_t group, std::int32_t split) const {
    const std::int64_t first = group * lines, begin = groups.begin(group), end = groups.end(group);
    double fewest = exact::infinity();
    for (std::int64_t l = team.rank(); l < lines; l += team.size()) {
      if (left[first + l] > 0 && taken[first + l] < fewest) fewest = taken[first + l];
    }
    fewest = team.least(fewest);
    if (!(fewest < exact::infinity())) return false;
    double order = exact::infinity();
    for (std::int64_t l = team.rank(); l < lines; l += team.size()) {
      if (left[first + l] == 0 || taken[first + l] != fewest) continue;
      const double own = ordered(word(group, 0, l), l);
      if (own < order) order = own;
    }
    const std::int64_t chosen = number_of(team.least(order));
    const auto is_left = [&](std::int64_t c) {
      return rank[c] == split && line[c] == chosen && score[c] == 0;
    };
    double nearest = exact::infinity();
    if (fewest == 0) {
      for (std::int64_t c = begin + team.rank(); c < end; c += team.size()) {
        if (is_left(c) && distance_of(c) < nearest) nearest = distance_of(c);
      }
      nearest = team.least(nearest);
    }
    double point = exact::infinity();
    for (std::int64_t c = begin + team.rank(); c < end; c += team.size()) {
      if (!is_left(c) || (fewest == 0 && distance_of(c) != nearest)) continue;
      const double own = ordered(fewest == 0 ? 0 : word(group, 1, c - begin), c - begin);
      if (own < point) point = own;
    }
    point = team.least(point);
    if (team.rank() == 0) {
      score[begin + number_of(point)] = 1;
      ++taken[first + chosen];
      --left[first + chosen];
    }
    team.sync();
    return true;
  }
};

}  // namespace kiln
