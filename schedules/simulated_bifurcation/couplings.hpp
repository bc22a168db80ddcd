// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/sweeps/pairwise_model.hpp"
#include "kiln/run_context.hpp"

namespace kiln {

/// Sizes of the couplings and fields of a model, in stored units.
struct CouplingScale {
  /// Root mean square of the couplings over all ordered pairs of variables, times the square root
  /// of their number: the standard deviation of the force of random spins. Without couplings the
  /// root mean square of the fields; 1 if there are neither.
  double force = 1;
  /// Estimate of the largest |eigenvalue| of the coupling matrix, at least twice `force` if there
  /// are couplings: the edge of the semicircle law.
  double largest_eigenvalue = 0;
};

/// Measures them by a few passes over the rows, on the host. The result does not depend on device
/// and threads.
CouplingScale coupling_scale(const RunContext& run, const PairwiseView& model);

}  // namespace kiln
