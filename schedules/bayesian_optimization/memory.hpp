// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/bayesian_optimizer.hpp"
#include "kiln/budget.hpp"
#include "kiln/queue.hpp"

namespace kiln {

/// Points that a study may come to by the budget: `batches` of `batch` where it gives no sweeps. A
/// sweep limit beside a time limit or a target is seldom reached: then 5000 at most.
std::int64_t planned_observations(const Budget& budget, std::int64_t batches, std::int64_t batch);

/// Allocates for a moment as much as a BayesianSearch holds at most until each of its studies has
/// `observations` points: on a queue that counts. Trust regions are taken to be unequal, one of
/// each study with all points but the designs of the others.
void count_search(Queue& queue, const BayesianProblem& problem,
                  const BayesianOptimizationOptions& options,
                  const std::vector<std::uint64_t>& keys, std::int64_t observations);

}  // namespace kiln
