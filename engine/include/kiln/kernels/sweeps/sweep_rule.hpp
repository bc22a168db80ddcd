// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kiln {

/// The update rule of a variable in a sweep. Both leave the Boltzmann distribution invariant.
enum class SweepRule : std::uint8_t {
  metropolis,  ///< a proposed change is taken with probability min(1, exp(-beta dE))
  heat_bath,   ///< a new value is drawn from the conditional distribution of the variable given all
               ///< others: for two values the other one with probability 1 / (1 + exp(beta dE))
};

}  // namespace kiln
