// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/fronts/variation_rules.hpp"
#include "kiln/kernels/run/draw_ids.hpp"
#include "kiln/kernels/run/state_block.hpp"

namespace kiln {

/// Creates children from parents by crossover, then mutation, for one block of states.
///
/// Parents are slots of one block and children slots of another; `parents` lists the parents of
/// each slot: rows 0 and 1 are the two parents, or for Crossover::differential rows 0 to 3 are the
/// target and its three donors. Children come in pairs, the even and the odd replica of two
/// neighbouring slots, which share the draws of their crossover and must have the same parents in
/// the same order. Without crossover the even one equals parent 0 and the odd one parent 1. A slot
/// whose first parent is negative is left alone.
///
/// Spins, bits and categories are exchanged (uniform) and reset. Reals and integers allow every
/// crossover but order, and integers are rounded afterwards; permutations allow order alone.
///
/// Draws are named by slot: RngDomain::vary, the step, and the variable (one quad of words for
/// each), in block 0 and 1 of the even replica for the crossover of a pair, in block 2 of the child
/// for its mutation. Class E: powers are those of exact_math.hpp.
struct KILN_API VariationOperator {
  static constexpr const char* name = "variation_operator";
  static constexpr const char* summary = "creates children from parents by crossover and mutation";

  StateBlock parent;
  StateBlock child;                   ///< of the same variables, in other memory
  View2<const std::int32_t> parents;  ///< [2, or 4 for differential][slots of child]
  VariationRule rule;
  DrawIds draw_ids;                 ///< of the children
  std::int64_t first_variable = 0;  ///< number of variables of the space in earlier blocks: draws
                                    ///< are numbered through all blocks
  std::int64_t all_variables = 0;   ///< of the space; 0: only this block
  View2<std::int32_t> work;  ///< [variables][slots of child] for Crossover::order, else empty
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;

  /// Number of calls of a launch: one per variable of a child, per word of 32 children if bits are
  /// packed, or per child that is a permutation.
  KILN_HD std::int64_t items() const {
    if (child.kind == BlockKind::permutation) return child.slots;
    return child.variables * (child.layout == Layout::packed32 ? child.words() : child.slots);
  }
  KILN_HD void operator()(std::int64_t item) const {
    if (!control->active(step_offset)) return;
    if (child.kind == BlockKind::permutation) return vary_permutation(item);
    if (child.layout != Layout::packed32) {
      const std::int64_t variable = item / child.slots, slot = item % child.slots;
      if (parents(0, slot) >= 0) child.set(variable, slot, varied(variable, slot));
      return;
    }
    const std::int64_t variable = item / child.words(), word = item % child.words();
    std::uint32_t& bits = child.as<std::uint32_t>()[item];
    for (int lane = 0; lane < 32; ++lane) {
      const std::int64_t slot = word * 32 + lane;
      if (parents(0, slot) < 0) continue;
      const std::uint32_t bit = child.bit_of(varied(variable, slot)) ? 1u : 0u;
      bits = (bits & ~(1u << lane)) | bit << lane;
    }
  }

 private:
  /// Draws of the crossover of a pair, or of the child itself without a partner.
  KILN_HD DrawName crossing(std::int64_t slot, std::uint8_t block) const {
    DrawName draws = draw_ids.at(slot, control->step + step_offset, RngDomain::vary);
    if (rule.crossover != Crossover::differential) draws.replica &= ~1u;
    draws.block = block;
    return draws;
  }
  KILN_HD bool is_first(std::int64_t slot) const { return draw_ids.replica[slot] % 2 == 0; }

  /// The value of a variable of a child.
  KILN_HD double varied(std::int64_t variable, std::int64_t slot) const {
    const auto index = static_cast<std::uint32_t>(first_variable + variable);
    const Words4 of_pair = draw_quad(crossing(slot, 0), 0);
    double x = parent.get(variable, parents(rule.inherits_first(is_first(slot)) ? 0 : 1, slot));
    if (rule.crosses(of_pair)) {
      const Words4 words = draw_quad(crossing(slot, 1), index);
      x = crossed(variable, slot, x, of_pair, words);
    }
    if (rule.mutate > 0) {
      DrawName draws = draw_ids.at(slot, control->step + step_offset, RngDomain::vary);
      draws.block = 2;
      x = rule.mutated(child.kind, x, child.lower_of(variable), child.upper_of(variable),
                       draw_quad(draws, index));
    }
    return child.kind == BlockKind::integer
               ? rounded(x, child.lower_of(variable), child.upper_of(variable))
               : x;
  }

  KILN_HD double crossed(std::int64_t variable, std::int64_t slot, double x, const Words4& of_pair,
                         const Words4& words) const {
    if (rule.crossover == Crossover::differential) {
      const std::int64_t all = all_variables > 0 ? all_variables : child.variables;
      const bool forced =
          below(of_pair[1], static_cast<std::uint32_t>(all)) == first_variable + variable;
      if (!forced && !happens(rule.cross_variable, words[0])) return x;
      return rule.differential(x, parent.get(variable, parents(1, slot)),
                               parent.get(variable, parents(2, slot)),
                               parent.get(variable, parents(3, slot)), child.lower_of(variable),
                               child.upper_of(variable));
    }
    if (!happens(rule.cross_variable, words[0])) return x;
    const double a = parent.get(variable, parents(0, slot));
    const double b = parent.get(variable, parents(1, slot));
    if (rule.crossover == Crossover::uniform) return is_first(slot) ? b : a;
    return rule.simulated_binary(a, b, is_first(slot), child.lower_of(variable),
                                 child.upper_of(variable), words);
  }

  /// A segment of the child comes from one parent, the rest in the order of the other one,
  /// beginning after the segment.
  KILN_HD void vary_permutation(std::int64_t slot) const {
    if (parents(0, slot) < 0) return;
    const std::int64_t n = child.variables;
    const auto count = static_cast<std::uint32_t>(n);
    const std::int64_t own = parents(is_first(slot) ? 0 : 1, slot);
    const std::int64_t other = parents(is_first(slot) ? 1 : 0, slot);
    for (std::int64_t i = 0; i < n; ++i) child.set(i, slot, parent.get(i, own));
    const Words4 of_pair = draw_quad(crossing(slot, 0), 0);
    if (rule.crosses(of_pair) && rule.crossover == Crossover::order) {
      const std::int64_t a = below(of_pair[1], count), b = below(of_pair[2], count);
      cross_by_order(slot, own, other, a < b ? a : b, a < b ? b : a);
    }
    if (!(rule.mutate > 0)) return;
    DrawName draws = draw_ids.at(slot, control->step + step_offset, RngDomain::vary);
    draws.block = 2;
    const Words4 words = draw_quad(draws, static_cast<std::uint32_t>(first_variable));
    if (!happens(rule.mutate, words[0])) return;
    std::int64_t from = below(words[1], count), to = below(words[2], count);
    if (from > to) {
      const std::int64_t swapped = from;
      from = to;
      to = swapped;
    }
    for (; from < to; ++from, --to) {
      const double x = child.get(from, slot);
      child.set(from, slot, child.get(to, slot));
      child.set(to, slot, x);
    }
  }

  KILN_HD void cross_by_order(std::int64_t slot, std::int64_t own, std::int64_t other,
                              std::int64_t first, std::int64_t last) const {
    const std::int64_t n = child.variables;
    for (std::int64_t i = 0; i < n; ++i) {
      work(static_cast<std::int64_t>(parent.get(i, own)), slot) = static_cast<std::int32_t>(i);
    }
    std::int64_t place = last;
    for (std::int64_t step = 1; step <= n; ++step) {
      const double value = parent.get((last + step) % n, other);
      const std::int32_t where = work(static_cast<std::int64_t>(value), slot);
      if (where >= first && where <= last) continue;
      place = (place + 1) % n;
      child.set(place, slot, value);
    }
  }
};

}  // namespace kiln
