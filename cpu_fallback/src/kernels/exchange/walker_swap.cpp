// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/walker_swap.hpp"

#include <algorithm>

#include "launch.hpp"

namespace kiln::cpu {
namespace {
constexpr std::int64_t groups_per_task = 64;
}

template <>
void launch(const WalkerSwap& kernel, Queue& queue) {
  const std::int64_t groups = kernel.counts.size;
  const std::int64_t tasks = (groups + groups_per_task - 1) / groups_per_task;
  pool_of(queue).for_each(tasks, [&](std::int64_t task) {
    const std::int64_t end = std::min(groups, (task + 1) * groups_per_task);
    for (std::int64_t group = task * groups_per_task; group < end; ++group) kernel(group);
  });
}

}  // namespace kiln::cpu
