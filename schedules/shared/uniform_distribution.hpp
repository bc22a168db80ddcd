// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/run_context.hpp"
#include "kiln/space.hpp"

namespace kiln {

/// Whether some reals have no bounds. A uniform distribution, and so beta = 0, does not exist then.
bool has_unbounded_reals(const Space& space);

/// log Z(0): of the number of states, or of the volume of reals.
/// @pre !has_unbounded_reals(space)
double log_of_states(const Space& space);

/// An estimate of Z at an inverse temperature from the weights exp(-beta E) of the initial states
/// of a run. A state of infinite energy has weight 0.
struct UniformLink {
  std::uint64_t known = 0;  ///< 0: there are too few weights, or the states are not uniform
  double log_z = 0;         ///< log Z(beta), over all states
  double variance = 0;      ///< of log_z
  double mean = 0;          ///< energy of the states, in the user's units
};

/// Estimates log Z(beta) from the initial states of a run, if at least `min_draws` of them have a
/// finite energy. The weights of the draws cannot show whether they suffice: draws that missed the
/// heavy weights look best, and give a log_z that is too low.
/// @pre the current states are the initial ones
/// @param beta  in the user's units
/// @par Source  The correction for the logarithm is that of Oehlert, The American Statistician 46
/// (1992) 27, to second order.
UniformLink link_to_uniform(RunContext& run, double beta);
inline constexpr double min_draws = 32;

}  // namespace kiln
