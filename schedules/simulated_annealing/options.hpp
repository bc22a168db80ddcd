// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kiln/schedules/simulated_annealing.hpp"

namespace kiln {

/// Moves the former fields that are set into the policy of `options.cooling` and adds everything
/// that is wrong with the options to `complaints`.
void settle(SimulatedAnnealingOptions& options, std::vector<std::string>& complaints);

/// Adds a complaint if the options of group 0 and of a later group cannot share a batch.
void complain_unless_shared(const SimulatedAnnealingOptions& first,
                            const SimulatedAnnealingOptions& other,
                            std::vector<std::string>& complaints);

/// The sweeps over which the cooling measures the acceptance rate; 0 if it does not.
std::int64_t window_of(const SimulatedAnnealingOptions& options);

/// Whether beta depends only on the place in a round, by equal steps or factors (or automatically).
bool cools_by_position(const SimulatedAnnealingOptions& options);

}  // namespace kiln
