// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/fronts/objective_points.hpp"
#include "kiln/kernels/fronts/scalarization.hpp"

namespace kiln {

/// Replaces residents of subproblems by children that solve them better (MOEA/D), one generation at
/// a time.
///
/// A pool is a group of columns: a resident for each subproblem, then as many children. Each child
/// bids for at most `replacements` neighbours of its subproblem, those that gain most by it, ties
/// by index. Each subproblem takes the best bid, ties by index. Better means a smaller violation,
/// then a smaller scalarised value in the box of the group; a NaN is worst. Values and violations
/// of children move with them; `source` lists the states to move. Class E.
/// @par Source  Zhang, Li, IEEE Trans. Evol. Comput. 11 (2007) 712, with the replacement limit of
/// Li, Zhang, ibid. 13 (2009) 284. Bids make the update the same for any order of the children.
struct KILN_API DecompositionUpdate {
  static constexpr const char* name = "decomposition_update";
  static constexpr const char* summary =
      "replaces the resident of a subproblem by a child that solves the subproblem better";
  static constexpr int max_replacements = 4;

  PointGroups groups;                   ///< pools of 2 x subproblems
  View2<double> value;                  ///< [objectives][columns]
  View1<double> violation;              ///< [columns]
  View2<const double> weight;           ///< [objectives][subproblems]
  View2<const std::int32_t> neighbors;  ///< [neighbours][subproblems], including the subproblem
  View2<const double> ideal, nadir;     ///< [objectives][groups]
  Scalarization scalarization;
  std::int32_t replacements = 2;  ///< 1 .. max_replacements
  View2<std::int32_t> bids;       ///< [max_replacements][groups x subproblems], scratch
  /// [at least groups x subproblems]: child or -1, numbered as in SelectSurvivors
  View1<std::int32_t> source;
  View1<std::uint64_t> accepted;  ///< [subproblems], counts accepted children; may be empty
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;

  KILN_HD bool active() const { return control->active(step_offset); }
  KILN_HD std::int64_t problems() const { return groups.size / 2; }

  /// First pass, one call for each child.
  KILN_HD void bid(std::int64_t child) const {
    const std::int64_t group = child / problems(), member = child % problems();
    const std::int64_t column = groups.begin(group) + problems() + member;
    double gains[max_replacements] = {};
    std::int32_t chosen[max_replacements] = {-1, -1, -1, -1};
    for (std::int64_t t = 0; t < neighbors.rows; ++t) {
      const std::int32_t problem = neighbors(t, member);
      const double gain = gain_of(group, problem, column);
      if (!(gain > gains[replacements - 1])) continue;
      std::int32_t place = replacements - 1;
      for (; place > 0 && gain > gains[place - 1]; --place) {
        gains[place] = gains[place - 1];
        chosen[place] = chosen[place - 1];
      }
      gains[place] = gain;
      chosen[place] = problem;
    }
    for (std::int32_t k = 0; k < max_replacements; ++k) bids(k, child) = chosen[k];
  }

  /// Second pass, one call for each subproblem.
  KILN_HD void settle(std::int64_t resident) const {
    const std::int64_t group = resident / problems(), problem = resident % problems();
    const std::int64_t begin = groups.begin(group), first = group * problems();
    std::int64_t best = -1;
    for (std::int64_t c = 0; c < problems(); ++c) {
      bool bids_for_it = false;
      for (std::int32_t k = 0; k < replacements; ++k) bids_for_it |= bids(k, first + c) == problem;
      if (!bids_for_it) continue;
      const std::int64_t column = begin + problems() + c;
      if (best < 0 || better(group, problem, column, begin + problems() + best)) best = c;
    }
    source[resident] = best < 0 ? -1 : static_cast<std::int32_t>(first + best);
    if (best < 0) return;
    const std::int64_t from = begin + problems() + best, to = begin + problem;
    for (std::int64_t k = 0; k < value.rows; ++k) value(k, to) = value(k, from);
    violation[to] = violation[from];
    if (accepted) ++accepted[resident];
  }

  /// The gain of a subproblem by a point: at most 0 for a loss, infinite for a resident with a NaN;
  /// a point with a NaN gains nothing.
  KILN_HD double gain_of(std::int64_t group, std::int64_t problem, std::int64_t column) const {
    const std::int64_t resident = groups.begin(group) + problem;
    const double before = violation[resident] > 0 ? violation[resident] : 0;
    const double after = violation[column] > 0 ? violation[column] : 0;
    const double old_value = scalar(group, problem, resident);
    const double new_value = scalar(group, problem, column);
    if (violation[column] != violation[column] || new_value != new_value) return 0;
    if (violation[resident] != violation[resident] || old_value != old_value) {
      return exact::infinity();
    }
    // A smaller violation outweighs every gain of feasible points.
    if (before != after) return exact::mul(exact::sub(before, after), 1e100);
    return exact::sub(old_value, new_value);
  }

 private:
  /// Whether child a is better for a subproblem than child b; neither has a NaN, since both bid.
  KILN_HD bool better(std::int64_t group, std::int64_t problem, std::int64_t a,
                      std::int64_t b) const {
    const double x = violation[a] > 0 ? violation[a] : 0;
    const double y = violation[b] > 0 ? violation[b] : 0;
    if (x != y) return x < y;
    return scalar(group, problem, a) < scalar(group, problem, b);
  }
  KILN_HD double scalar(std::int64_t group, std::int64_t problem, std::int64_t column) const {
    const auto y = [&](std::int64_t k) {
      return exact::div(exact::sub(value(k, column), ideal(k, group)),
                        exact::sub(nadir(k, group), ideal(k, group)));
    };
    return scalarization(value.rows, y, [&](std::int64_t k) { return weight(k, problem); });
  }
};

}  // namespace kiln
