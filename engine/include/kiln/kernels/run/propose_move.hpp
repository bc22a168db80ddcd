// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/run/draw_ids.hpp"
#include "kiln/kernels/run/state_block.hpp"

namespace kiln {

/// The data to undo a proposed move: the places and, for a single variable, its value before.
struct MoveUndo {
  View1<std::int32_t> first;   ///< [slots], variable, or first place of a reversed segment
  View1<std::int32_t> second;  ///< [slots], last place of a reversed segment
  View1<double> value;         ///< [slots], the variable's value before the move
};

/// Changes one variable of every replica (or one segment of a permutation) as a proposal.
///
/// All proposals are symmetric, so the Metropolis rule needs no correction: spins and bits flip;
/// categories and integers change to another value, all equally likely; reals step by a uniform
/// width whose scale is drawn from 2^0 .. 2^-20 of the range and are reflected at the bounds;
/// permutations reverse a segment (2-opt). It serves objectives that are evaluated as a whole.
/// Class E.
struct KILN_API ProposeMove {
  static constexpr const char* name = "propose_move";
  static constexpr const char* summary =
      "proposes a move of each replica: changes one variable, or reverses a segment of a "
      "permutation";

  StateBlock block;           ///< not packed32
  std::int64_t variable = 0;  ///< of the block; ignored by permutations
  std::uint32_t attempt = 0;  ///< number of the attempt within the sweep: names the draws
  MoveUndo undo;
  DrawIds draw_ids;
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;

  KILN_HD void operator()(std::int64_t slot) const {
    if (!control->active(step_offset)) return;
    const Words4 words = this->words(slot);
    if (block.kind == BlockKind::permutation) {
      const auto n = static_cast<std::uint32_t>(block.variables);
      const auto a = static_cast<std::int32_t>(below(words[0], n));
      const auto b = static_cast<std::int32_t>(below(words[1], n));
      undo.first[slot] = a < b ? a : b;
      undo.second[slot] = a < b ? b : a;
      reverse(block, slot, undo.first[slot], undo.second[slot]);
      return;
    }
    const double before = block.get(variable, slot);
    undo.first[slot] = static_cast<std::int32_t>(variable);
    undo.value[slot] = before;
    block.set(variable, slot, proposal(before, words));
  }

  /// The random words of the attempt.
  KILN_HD Words4 words(std::int64_t slot) const {
    return draw_quad(draw_ids.at(slot, control->step + step_offset, RngDomain::propose), attempt);
  }

  KILN_HD static void reverse(const StateBlock& block, std::int64_t slot, std::int64_t a,
                              std::int64_t b) {
    for (; a < b; ++a, --b) {
      const double x = block.get(a, slot), y = block.get(b, slot);
      block.set(a, slot, y);
      block.set(b, slot, x);
    }
  }

  KILN_HD double proposal(double before, const Words4& words) const {
    switch (block.kind) {
      case BlockKind::spin:
        return -before;
      case BlockKind::binary:
        return 1.0 - before;
      case BlockKind::category:
      case BlockKind::integer: {
        const auto others = static_cast<std::uint32_t>(block.upper - block.lower);
        if (others == 0) return before;
        const double step = static_cast<double>(below(words[0], others));
        const double other = block.lower + step;
        return other < before ? other : other + 1.0;
      }
      case BlockKind::real:
        return real_proposal(before, words);
      case BlockKind::permutation:
        break;
    }
    return before;
  }

  KILN_HD double real_proposal(double before, const Words4& words) const {
    const double lower = block.lower_of(variable), upper = block.upper_of(variable);
    const bool bounded = lower > -1e300 && upper < 1e300;
    const double range = bounded ? exact::sub(upper, lower) : 4.0;
    const double scale = exact::exp(exact::mul(-20.0 * 0.6931471805599453, open_unit(words[1])));
    const double u = exact::sub(exact::mul(2.0, open_unit(words[0])), 1.0);
    double x = exact::add(before, exact::mul(exact::mul(u, scale), range));
    // |step| <= range, so one reflection at either side is enough. An infinite bound is never
    // passed.
    if (x < lower) x = exact::sub(exact::mul(2.0, lower), x);
    if (x > upper) x = exact::sub(exact::mul(2.0, upper), x);
    return x < lower ? lower : x;
  }
};

}  // namespace kiln
