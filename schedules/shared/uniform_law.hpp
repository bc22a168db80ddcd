// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/run.hpp"
#include "kiln/space.hpp"

namespace kiln {

/// Without a uniform law there is no beta = 0 to begin at.
bool has_unbounded_reals(const Space& space);

/// log Z(0): of the number of states, or of the volume of reals.
/// @pre !has_unbounded_reals(space)
double log_of_states(const Space& space);

/// What the states in which a run begins tell of Z at an inverse temperature, by their weights
/// exp(-beta E). A state of infinite energy has weight 0.
struct UniformLink {
  std::uint64_t known = 0;  ///< 0: the weights say too little, or the states are not uniform
  double log_z = 0;         ///< log Z(beta), over all states
  double variance = 0;      ///< of log_z
};

/// From the present states, which are to be those that the run drew. They say enough where at least
/// `least_draws` of them have a finite energy and their effective share is at least a half.
/// @param beta  in the user's units
UniformLink link_to_uniform(Run& run, double beta);
inline constexpr double least_draws = 32;

}  // namespace kiln
