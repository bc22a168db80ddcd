// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/export.hpp"
#include "kiln/objective.hpp"
#include "kiln/problem.hpp"

namespace kiln {

/// The problem with a penalty: a run minimises the energy plus `weight` times `penalty`. The
/// objective value has it, too: added where the value is minimised, subtracted where it is
/// maximised. The problem has no best-known value, no bound and no suggested schedule any more.
///
/// The value is SolutionFunctions::verify, and each attempted move calls it and `penalty` on the
/// host. What can be said within a model or a formula is faster there: a quadratic penalty is a
/// matter of more terms of a QUBO, and of a formula `max(0, g)^2`.
///
/// @param problem  whose value can be recomputed (SolutionFunctions::verify)
/// @param penalty  of a state of the problem, in units of the energy; 0 where nothing is wrong
/// @param weight  above 0
/// @param thread_safe  whether several threads may call `penalty`
/// @throws InvalidArgument `problem.penalty` for a weight that is not above 0 or not finite, for
///   several objectives, for densities, and for constraints that the objective already holds as
///   penalties, as those of a formula.
KILN_API Problem penalized(const Problem& problem, HostFunction penalty, double weight,
                           bool thread_safe = true);

}  // namespace kiln
