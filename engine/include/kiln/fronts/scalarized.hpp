// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/export.hpp"
#include "kiln/fronts/front.hpp"
#include "kiln/kernels/fronts/scalarization.hpp"
#include "kiln/problem.hpp"

namespace kiln {

/// How a problem of several objectives is made one of a single energy.
struct ScalarizationOptions {
  ScalarizationKind kind = ScalarizationKind::augmented_chebyshev;
  Points weights = {};    ///< [weight][objective], none negative, not all zero; group g of a batch
                          ///< has number g modulo their number. Empty: as many directions as there
                          ///< are groups, spread evenly; equal weights for one group
  FrontBox box = {};      ///< objectives are in its units; empty: the problem's own, or else none
  double penalty = 1000;  ///< energy per unit of violation, >= 0
};

/// The same problem for schedules that minimise one energy: each group of a batch has weights of
/// its own, so that a run with many groups gives many points of the front. The result has a front
/// (of the best states of all replicas), and its objective value is the hypervolume; energies and
/// progress of the run are those of the scalarised objective.
/// @throws InvalidArgument `objective.outputs` for a problem of one objective,
/// `objective.weights` for weights of another length or that are negative or all zero.
/// @par Source  Miettinen, Nonlinear Multiobjective Optimization, 1999.
KILN_API Problem scalarized(const Problem& problem, ScalarizationOptions options = {});

}  // namespace kiln
