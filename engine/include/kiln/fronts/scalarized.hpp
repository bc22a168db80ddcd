// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/export.hpp"
#include "kiln/fronts/front.hpp"
#include "kiln/kernels/fronts/scalarization.hpp"
#include "kiln/problem.hpp"

namespace kiln {

/// How to combine the objectives of a problem into one energy.
struct ScalarizationOptions {
  ScalarizationKind kind = ScalarizationKind::augmented_chebyshev;
  Points weights = {};    ///< [weight][objective], none negative, not all zero; group g of a batch
                          ///< uses number g modulo their count. Empty: as many evenly spread
                          ///< directions as groups; equal weights for one group
  FrontBox box = {};      ///< objectives are in its units; empty: the problem's box, or none
  double penalty = 1000;  ///< energy per unit of violation, >= 0
};

/// Makes a scalarised problem for schedules that minimise one energy. Each group of a batch has
/// different weights, so a run with many groups gives many points of the front. The result has a
/// front (of the best states of all replicas), and its objective value is the hypervolume; energies
/// and progress of the run are those of the scalarised objective.
/// @throws InvalidArgument `objective.outputs` for a problem of one objective,
/// `objective.weights` for weights of another length or that are negative or all zero.
/// @par Source  Miettinen, Nonlinear Multiobjective Optimization, 1999.
KILN_API Problem scalarized(const Problem& problem, ScalarizationOptions options = {});

}  // namespace kiln
