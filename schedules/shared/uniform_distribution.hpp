// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/run_context.hpp"
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
  std::uint64_t known = 0;  ///< 0: there are too few weights, or the states are not uniform
  double log_z = 0;         ///< log Z(beta), over all states
  double variance = 0;      ///< of log_z
  double mean = 0;          ///< energy of the states, in the user's units
};

/// From the present states, which are to be those that the run drew, where at least `min_draws`
/// of them have a finite energy. Whether their weights say enough must not be asked of the draws
/// themselves: those that missed the heavy weights would look best, and log_z would be too low.
/// @param beta  in the user's units
/// @par Source  The correction for the logarithm is that of Oehlert, The American Statistician 46
/// (1992) 27, to second order.
UniformLink link_to_uniform(RunContext& run, double beta);
inline constexpr double min_draws = 32;

}  // namespace kiln
