// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kiln/export.hpp"

#include "pairwise/pairwise_objective.hpp"

namespace kiln::problems {

/// Whether Metropolis sweeps in the order of a plan may not reach every state of a model of spins.
///
/// They never refuse a move that leaves the energy as it is. Where every variable of a component
/// has such moves, a sweep carries the walls between domains around in step: two walls on a ring
/// never meet, and averages depend on the first state. That is so on all rings, and by enumeration
/// on a good part of the graphs of up to nine vertices of even degree; components of more than
/// eight variables that are no rings are taken for mixing. A heat bath refuses half of these moves.
///
/// @param fields  [sites] of the plan, in the units of its weights; empty: none
KILN_TEST_API bool moves_may_be_forced(const PairwisePlan& plan, const std::vector<double>& fields);

/// Of the sweeps of a tick, those by heat bath where moves may be forced: every fourth.
inline SweepRule rule_without_force(bool may_be_forced, const SweepArgs& args) {
  return may_be_forced && args.step_offset % 4 == 0 ? SweepRule::heat_bath : args.rule;
}

}  // namespace kiln::problems
