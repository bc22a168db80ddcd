// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kiln/space.hpp"

namespace kiln {

class RunCore;

/// Puts each state in the place of the replica whose current energy is the worst, one after the
/// other; of equal ones the first slot, and one without a finite energy before all others. The
/// energy is that of the state evaluated, and the best states take note of it.
/// @throws InvalidArgument for a run that takes no states, for a state that is none of the problem
///   and for one without a finite energy. The run is then as it was.
void inject_states(RunCore& core, const std::vector<State>& states);

}  // namespace kiln
