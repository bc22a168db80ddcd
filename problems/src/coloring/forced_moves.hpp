// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kiln/export.hpp"

#include "pairwise/pairwise_objective.hpp"

namespace kiln::problems {

/// Whether Metropolis sweeps in the order of a plan may not reach every state of a model of spins.
///
/// They always accept a move of equal energy. If every variable of a component has such moves, a
/// sweep carries the walls between domains around in step: two walls on a ring never meet, and
/// averages depend on the first state. That holds on all rings, and by enumeration on many graphs
/// of up to nine vertices of even degree; components of more than eight variables that are not
/// rings are assumed to mix. A heat bath rejects half of these moves.
///
/// @param fields  [sites] of the plan, in the units of its weights; empty: none
KILN_TEST_API bool moves_may_be_forced(const PairwisePlan& plan, std::span<const double> fields);

/// The rule of a sweep of the tick: heat bath in every fourth sweep if moves may be forced.
inline SweepRule rule_without_force(bool may_be_forced, const SweepArgs& args) {
  return may_be_forced && args.step_offset % 4 == 0 ? SweepRule::heat_bath : args.rule;
}

}  // namespace kiln::problems
