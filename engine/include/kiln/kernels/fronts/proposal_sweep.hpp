// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/export.hpp"
#include "kiln/kernels/fronts/objective_values.hpp"
#include "kiln/kernels/fronts/scalarize_objectives.hpp"
#include "kiln/kernels/fronts/vector_function_ref.hpp"
#include "kiln/kernels/run/accept_move.hpp"
#include "kiln/kernels/run/propose_move.hpp"

namespace kiln {

/// A Metropolis sweep of a weighted sum, or another scalarisation, of several objectives:
/// ProposeMove, ObjectiveValues, ScalarizeObjectives and AcceptMove for each variable in turn.
///
/// The bodies of these kernels touch one slot alone, so a slot goes through all of them and through
/// all variables without a wait for the others, in one launch instead of four for each variable.
/// All parts have the same states, control block and step offset; `values` writes what `scalarize`
/// reads, and that writes the trial energies that `accept` reads. Class D, as ObjectiveValues; on
/// one device the bits are those of the parts. GPUs give a slot to several threads while there are
/// few replicas: see ProposalTree.
struct KILN_API ProposalSweep {
  static constexpr const char* name = "proposal_sweep";
  static constexpr const char* summary =
      "makes a Metropolis sweep of scalarised objectives: proposes, evaluates and decides a move "
      "of each variable";
  static constexpr const char* accuracy = "D";

  VectorFunctionRef function;
  ProposeMove propose;            ///< its block, variable and attempt are set for each move
  ObjectiveValues values;         ///< its function is not used
  ScalarizeObjectives scalarize;  ///< energy: the trial energies
  AcceptMove accept;              ///< its block and attempt are set for each move
  std::int64_t replicas = 0;

  KILN_HD bool active() const { return propose.control->active(propose.step_offset); }

  /// Makes the sweep of one slot. What one part hands to the next stays in registers, but for the
  /// ends of segments of permutations.
  template <class Function>
  KILN_HD void evaluate(const Function& f, std::int64_t slot) const {
    ProposeMove move = propose;
    AcceptMove decision = accept;
    const SlotPoint state{values.state, values.n_blocks, slot};
    std::uint32_t attempt = 0;
    for (std::int32_t b = 0; b < values.n_blocks; ++b) {
      const StateBlock& block = values.state[b];
      move.block = decision.block = block;
      for (std::int64_t v = 0; v < block.variables; ++v, ++attempt) {
        move.variable = v;
        move.attempt = decision.attempt = attempt;
        const bool segment = block.kind == BlockKind::permutation;
        const double before = segment ? 0 : block.get(v, slot);
        if (segment) {
          move(slot);
        } else {
          block.set(v, slot, move.proposal(before, move.words(slot)));
        }
        if (decision.takes(slot, energy_at(f, state, slot))) continue;
        if (segment) {
          ProposeMove::reverse(block, slot, propose.undo.first[slot], propose.undo.second[slot]);
        } else {
          block.set(v, slot, before);
        }
      }
    }
  }

  /// The scalarised energy of a slot in a state of it, which is read as a SlotPoint is.
  template <class Function, class Point>
  KILN_HD double energy_at(const Function& f, const Point& state, std::int64_t slot) const {
    // A compiler that inlines f does not see that it gives all that are read.
    double objectives[max_objectives] = {}, constraints[max_constraints] = {};
    f(state, objectives, constraints);
    const double violated = total_violation(constraints, f.constraints());
    return scalarize.energy_of(slot, violated, [&](std::int64_t k) { return objectives[k]; });
  }

  /// Of all blocks.
  std::int64_t variables() const {
    std::int64_t n = 0;
    for (std::int32_t b = 0; b < values.n_blocks; ++b) n += values.state[b].variables;
    return n;
  }

  /// Whether each move changes one variable, so that the moves of a sweep are known before it:
  /// ProposalTree needs this. False with a permutation, or states in packed32.
  bool changes_single_variables() const {
    for (std::int32_t b = 0; b < values.n_blocks; ++b) {
      const StateBlock& block = values.state[b];
      if (block.kind == BlockKind::permutation || block.layout == Layout::packed32) return false;
    }
    return true;
  }
};

}  // namespace kiln
