// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kiln {

/// How a sweep chooses the new value of a variable. Both rules leave the Boltzmann law unchanged.
enum class SweepRule : std::uint8_t {
  metropolis,  ///< propose a change, accept it by its energy
  heat_bath,   ///< draw from the law of the variable given all others
};

}  // namespace kiln
