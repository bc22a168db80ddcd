// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"
#include "kiln/problems/ising.hpp"

namespace kiln {

/// A family of Ising models E_lambda(s) = A(s) + lambda B(s) over the same spins. Its member at
/// `target` is the problem; the other members help to reach it, or are sampled as well.
///
/// B may be a penalty, a transverse or random field that is switched off, or the difference of two
/// models (A + lambda (A' - A) leads from A to A').
struct PairwiseFamily {
  Ising base;         ///< A
  Ising term;         ///< B, with the same number of spins
  double target = 1;  ///< the lambda of the solved and reported member
  double low = 0;     ///< the start of a ladder over lambda unless the schedule sets another
};

/// Makes the problem of minimising E_target, verified from A and B. Its objective has the ability
/// `parameters`: schedules may give each replica a different lambda (replica-exchange does).
///
/// A and B are stored as integers if one power of two makes both integral; then all energies of
/// members with integer lambda are exact. A sweep costs as much as for a pairwise model with the
/// couplings of both, summed in double.
/// @throws InvalidArgument `problem.size` if there are no spins, or not as many in both models;
///   `problem.value` for a coefficient or a lambda that is not finite, or sums beyond 4e307; what
///   problems::canonicalize(Ising&) throws.
KILN_API Problem make_pairwise_family(PairwiseFamily family, std::string name = "pairwise_family");

}  // namespace kiln
