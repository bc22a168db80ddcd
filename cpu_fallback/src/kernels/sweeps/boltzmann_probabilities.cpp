// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/boltzmann_probabilities.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "launch.hpp"

namespace kiln::cpu {

// A task takes some thousands of candidates, so that rows of two or three share a call and a
// scratch.
template <>
void launch(const BoltzmannProbabilities& kernel, Queue& queue) {
  if (!kernel.control->active(kernel.step_offset)) return;
  constexpr std::int64_t candidates_per_task = 4096;
  const std::int64_t rows_per_task =
      std::max<std::int64_t>(1, candidates_per_task / std::max<std::int64_t>(1, kernel.columns));
  const std::int64_t tasks = (kernel.rows + rows_per_task - 1) / rows_per_task;
  pool_of(queue).for_each(tasks, [&](std::int64_t task) {
    std::vector<double> weights(static_cast<std::size_t>(kernel.columns));
    std::array<double, 2 * BoltzmannProbabilities::partials> tree;
    const std::int64_t end = std::min(kernel.rows, (task + 1) * rows_per_task);
    for (std::int64_t row = task * rows_per_task; row < end; ++row) {
      kernel(row, weights.data(), tree.data());
    }
  });
}

}  // namespace kiln::cpu
