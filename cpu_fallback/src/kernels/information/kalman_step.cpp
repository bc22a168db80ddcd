// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/kalman_step.hpp"

#include <algorithm>

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const KalmanStep& kernel, Queue& queue) {
  constexpr std::int64_t per_task = 8;
  const std::int64_t n = kernel.filters();
  pool_of(queue).for_each((n + per_task - 1) / per_task, [&](std::int64_t task) {
    const std::int64_t end = std::min(n, (task + 1) * per_task);
    for (std::int64_t i = task * per_task; i < end; ++i) kernel(i);
  });
}

}  // namespace kiln::cpu
