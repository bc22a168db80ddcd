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
#include "kiln/kernels/surrogate/point_columns.hpp"

namespace kiln {

/// Accepts or rejects the proposals of annealing replicas by their amount of domination (AMOSA).
///
/// The amount of domination of a over b is the product over the objectives in which they differ of
/// |a - b| in units of the range of the group.
/// * A proposal that the present point dominates is accepted with probability 1 / (1 + exp(d / T)),
///   d the mean amount over the present point and all archive members that dominate it. The same
///   holds for a proposal that only members dominate.
/// * If the proposal dominates the present point but members dominate the proposal, it is accepted
///   with the same probability for the smallest amount. Otherwise the replica moves to the member
///   of that amount with probability 1 / (1 + exp(-d)), or else stays.
/// * A nondominated proposal is always accepted.
///
/// Dominance is that of ObjectivePoints; where violations decide, the amount is their difference. T
/// = first x factor^(whole stages so far) x spread^(place of the replica in its group), the place
/// from 0 for the first to 1 for the last. A proposal with a NaN is never accepted; moves to
/// members do not count as accepted. One draw for each slot: RngDomain::dominance. Class E.
/// @par Source  Bandyopadhyay, Saha, Maulik, Deb, IEEE Trans. Evol. Comput. 12 (2008) 269; its
/// formulas print a product of amount and temperature, which would cool the wrong way.
struct KILN_API DominanceAcceptance {
  static constexpr const char* name = "dominance_acceptance";
  static constexpr const char* summary =
      "accepts or rejects the proposals of AMOSA by their amount of domination";

  std::int64_t replicas = 0;
  std::int64_t group_size = 1;
  View2<double> value;               ///< [objectives][slots], present states, updated
  View1<double> violation;           ///< [slots]
  ObjectivePoints points;            ///< pools of archive members, then proposals
  View1<const std::int32_t> rank;    ///< [columns]; members count if they are on front 0
  std::int64_t members = 0;          ///< archive members of each pool
  View2<const double> ideal, nadir;  ///< [objectives][groups], the range of each objective
  double first = 1;                  ///< initial temperature
  double log_factor = 0;             ///< logarithm of the factor from stage to stage
  double log_spread = 0;             ///< logarithm of the factor from the first replica to the last
  std::int64_t stage = 1;            ///< steps of a stage
  View1<std::int32_t> source;        ///< [slots], slot of the proposal or -1
  View1<std::int32_t> member;        ///< [slots], archive slot to move to, or -1
  View1<std::uint64_t> accepted;     ///< [slots]
  DrawIds draw_ids;
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;

  KILN_HD void operator()(std::int64_t slot) const {
    if (!control->active(step_offset)) return;
    const std::int64_t group = slot / group_size, begin = points.groups.begin(group);
    const std::int64_t proposal = begin + members + slot % group_size;
    source[slot] = member[slot] = -1;
    double total = 0, least = exact::infinity();
    std::int64_t dominators = 0, nearest = -1;
    for (std::int64_t c = begin; c < begin + members; ++c) {
      if (rank[c] != 0) continue;
      const double amount = amount_over(group, c, proposal);
      if (!(amount > 0)) continue;
      ++dominators;
      total = exact::add(total, amount);
      if (nearest < 0 || amount < least) {
        least = amount;
        nearest = c;
      }
    }
    const int order = compare(slot, proposal);
    const DrawName draws = draw_ids.at(slot, control->step + step_offset, RngDomain::dominance);
    const double u = open_unit(draw_word(draws, 0));
    if (order < 0 && dominators > 0) return choose(slot, proposal, nearest, least, u);
    if (order > 0) {
      total = exact::add(total, amount_of(group, slot, proposal));
      ++dominators;
    }
    const double mean = exact::div(total, static_cast<double>(dominators));
    if (dominators == 0 || u < chance(exact::div(mean, temperature(slot)))) move(slot, proposal);
  }

  KILN_HD double temperature(std::int64_t slot) const {
    const auto stages =
        // Whole ones. NOLINTNEXTLINE(bugprone-integer-division)
        static_cast<double>((control->step + step_offset) / static_cast<std::uint64_t>(stage));
    const double place = group_size > 1 ? exact::div(static_cast<double>(slot % group_size),
                                                     static_cast<double>(group_size - 1))
                                        : 0;
    return exact::mul(first, exact::exp(exact::add(exact::mul(log_factor, stages),
                                                   exact::mul(log_spread, place))));
  }

 private:
  /// 1 / (1 + e^x).
  KILN_HD static double chance(double x) {
    if (x > 700) return 0;
    return exact::div(1.0, exact::add(1.0, exact::exp(x)));
  }

  KILN_HD void choose(std::int64_t slot, std::int64_t proposal, std::int64_t nearest, double least,
                      double u) const {
    const double p = chance(exact::div(least, temperature(slot)));
    if (u < p) return move(slot, proposal);
    // The rest of the draw is uniform again after rescaling.
    const double rest = exact::div(exact::sub(u, p), exact::sub(1.0, p));
    if (!(rest < chance(-least))) return;
    const std::int64_t group = slot / group_size;
    member[slot] =
        static_cast<std::int32_t>(group * members + nearest - points.groups.begin(group));
    copy(slot, nearest);
  }
  KILN_HD void move(std::int64_t slot, std::int64_t proposal) const {
    if (is_nan(proposal)) return;
    source[slot] = static_cast<std::int32_t>(slot);
    ++accepted[slot];
    copy(slot, proposal);
  }
  KILN_HD void copy(std::int64_t slot, std::int64_t column) const {
    for (std::int64_t k = 0; k < value.rows; ++k) value(k, slot) = points.value(k, column);
    violation[slot] = points.violation[column];
  }
  KILN_HD bool is_nan(std::int64_t column) const {
    bool nan = points.violation[column] != points.violation[column];
    for (std::int64_t k = 0; k < value.rows; ++k) {
      nan |= points.value(k, column) != points.value(k, column);
    }
    return nan;
  }

  /// -1 if the proposal dominates the present point, 1 the other way round, else 0.
  KILN_HD int compare(std::int64_t slot, std::int64_t proposal) const {
    const auto now = [&](std::int64_t k) { return value(k, slot); };
    const auto next = [&](std::int64_t k) { return points.value(k, proposal); };
    return order_of(now, violation[slot], next, points.violation[proposal]);
  }
  template <class A, class B>
  KILN_HD int order_of(const A& a, double va, const B& b, double vb) const {
    bool a_nan = va != va, b_nan = vb != vb;
    for (std::int64_t k = 0; k < value.rows; ++k) {
      a_nan |= a(k) != a(k);
      b_nan |= b(k) != b(k);
    }
    if (a_nan || b_nan) return a_nan == b_nan ? 0 : a_nan ? -1 : 1;
    const double x = va > 0 ? va : 0, y = vb > 0 ? vb : 0;
    if (x != y) return x < y ? 1 : -1;
    if (x > 0) return 0;
    bool less = false, greater = false;
    for (std::int64_t k = 0; k < value.rows; ++k) {
      less |= a(k) < b(k);
      greater |= a(k) > b(k);
    }
    return less == greater ? 0 : less ? 1 : -1;
  }
  template <class A, class B>
  KILN_HD double amount(std::int64_t group, const A& a, double va, const B& b, double vb) const {
    const double x = va > 0 ? va : 0, y = vb > 0 ? vb : 0;
    if (x != y) return x < y ? exact::sub(y, x) : exact::sub(x, y);
    double product = 1;
    for (std::int64_t k = 0; k < value.rows; ++k) {
      const double difference = a(k) < b(k) ? exact::sub(b(k), a(k)) : exact::sub(a(k), b(k));
      const double range = exact::sub(nadir(k, group), ideal(k, group));
      if (difference > 0 && range > 0) product = exact::mul(product, exact::div(difference, range));
    }
    return product;
  }
  /// Amount of domination of a member over the proposal; 0 if it does not dominate.
  KILN_HD double amount_over(std::int64_t group, std::int64_t column, std::int64_t proposal) const {
    const auto a = [&](std::int64_t k) { return points.value(k, column); };
    const auto b = [&](std::int64_t k) { return points.value(k, proposal); };
    const double va = points.violation[column], vb = points.violation[proposal];
    return order_of(a, va, b, vb) > 0 ? amount(group, a, va, b, vb) : 0;
  }
  /// Amount of domination of the present point over the proposal, if it dominates.
  KILN_HD double amount_of(std::int64_t group, std::int64_t slot, std::int64_t proposal) const {
    const auto a = [&](std::int64_t k) { return value(k, slot); };
    const auto b = [&](std::int64_t k) { return points.value(k, proposal); };
    return amount(group, a, violation[slot], b, points.violation[proposal]);
  }
};

}  // namespace kiln
