// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/run_context.hpp"

namespace kiln::hmc {

/// Lets the replicas begin in `starts` states, over and over: replica r where replica
/// r modulo `starts` was put. One of these whose energy is not finite takes the place of a replica
/// that has one.
/// @throws ObjectiveError `objective.start` if none has.
void begin_chains(WorkContext& run, std::int64_t starts);

/// Brings all replicas down from where they are until a step of L-BFGS gains less than half a unit
/// of energy per coordinate: about as low as the bulk of a density lies above its mode. From far
/// out, where a density falls off slowly, steps that fit its bulk would take thousands of
/// transitions to come home. `rungs` is the number of rungs, `parameter` has the lambda of each by
/// turns, or is empty.
void descend_starts(WorkContext& run, std::int64_t rungs, const std::vector<double>& parameter,
                    std::int64_t steps);

}  // namespace kiln::hmc
