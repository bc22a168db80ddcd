// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/run.hpp"

namespace kiln::hmc {

/// Lets the replicas begin in `starts` states, over and over: replica r where replica
/// r modulo `starts` was put. One of these whose energy is not finite takes the place of a replica
/// that has one.
/// @throws ObjectiveError `objective.start` if none has.
void begin_chains(Run& run, std::int64_t starts);

}  // namespace kiln::hmc
