// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/record_draws.hpp"

#include <algorithm>

#include "launch.hpp"
#include "tuned.hpp"

namespace kiln::cpu {
namespace {

const Tunable record_draws_tasks(items_per_task("record_draws", "values", 4096,
                                                {256, 512, 1024, 2048, 4096, 8192, 16384, 32768}));

}  // namespace

template <>
void launch(const RecordDraws& kernel, Queue& queue) {
  const std::int64_t n = kernel.dimension * kernel.pools.members;
  const std::int64_t per_task = tuned_value(record_draws_tasks, queue, n);
  pool_of(queue).for_each((n + per_task - 1) / per_task, [&](std::int64_t task) {
    const std::int64_t end = std::min(n, (task + 1) * per_task);
    for (std::int64_t i = task * per_task; i < end; ++i) kernel(i);
  });
}

}  // namespace kiln::cpu
