// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/schedules/simulated_annealing.hpp"

namespace kiln::cli {

inline constexpr std::int64_t sweeps_of_an_anneal = 100;

/// A schedule of so many anneals, two at least, each with a cooling policy and a range that no
/// other has, and each from random states.
SimulatedAnnealing different_anneals(std::int64_t groups);

}  // namespace kiln::cli
