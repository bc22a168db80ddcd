// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/bayesian_optimizer.hpp"
#include "kiln/queue.hpp"

namespace kiln {

/// Allocates for a moment as much as a BayesianSearch holds at most until each of its studies has
/// `observations` points: on a queue that counts. Trust regions are taken to be unequal, one of
/// each study with all points but the designs of the others.
void count_search(Queue& queue, const BayesianProblem& problem,
                  const BayesianOptimizationOptions& options,
                  const std::vector<std::uint64_t>& keys, std::int64_t observations);

}  // namespace kiln
