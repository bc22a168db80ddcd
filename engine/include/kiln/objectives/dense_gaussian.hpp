// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/objective.hpp"

namespace kiln {

/// U(x) = x^T P x / 2 with a dense P: the negative log density of a normal distribution of mean 0
/// and precision P. Gradients of all chains are one matrix product (MatrixProduct), in double.
///
/// @param name            of the objective
/// @param precision       [dimension][dimension], symmetric
/// @param dimension       number of variables
/// @param leapfrog_limit  leapfrogs of a transition: see BatchedTransition
/// @throws InvalidArgument `objective.shape` if the sizes do not fit, `objective.value` for values
/// that are not finite, a matrix that is not symmetric, or a limit below 1.
KILN_API std::shared_ptr<const Objective> make_dense_gaussian(std::string name,
                                                              std::vector<double> precision,
                                                              std::int64_t dimension,
                                                              std::int32_t leapfrog_limit = 64);

}  // namespace kiln
