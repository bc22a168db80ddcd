// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/run_context.hpp"

namespace kiln {

/// Sweeps of a greedy descent at most.
inline constexpr std::int64_t descent_sweeps = 16;

/// Inverse temperatures, in the user's units, between which a schedule should work: what the
/// objective says or, where it does not know, what the energies of the present states suggest.
Objective::BetaRange beta_range_of(RunContext& run);

/// The ends of `ladders` ladders, where they are 0 and so left open. A ladder over a posterior ends
/// at 1, where its draws are those of the posterior, and begins as hot as so many rungs can carry;
/// over anything else it lies where a search should.
void settle_ladder_ends(RunContext& run, std::int64_t ladders, std::int64_t rungs, double& beta_min,
                        double& beta_max);

/// Whether sweeps are cheap enough for descend(): not where the host computes every value.
bool can_descend(const Problem& problem);

/// Some sweeps at beta = infinity that bring the present states to the next minimum, for
/// Schedule::descend() where can_descend(). `cold` [rungs] holds infinities.
/// @param sweeps_per_tick  that of Needs; 0: steps of the schedule are no sweeps, and these ones do
///                         not count
void descend_to_minimum(DescendContext& run, View1<const double> cold,
                        std::uint32_t sweeps_per_tick);

/// Allocates for descend_by_gradient(), where the objective can: in Schedule::allocate.
void prepare_descent(AllocateContext& run);

/// Brings chains of infinite beta down by their gradients, see Descends; does nothing where the
/// objective has none.
void descend_by_gradient(WorkContext& run, const DescentArgs& args);

}  // namespace kiln
