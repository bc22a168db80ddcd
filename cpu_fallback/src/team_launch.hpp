// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "kiln/alarm.hpp"
#include "kiln/device/team.hpp"

#include "launch.hpp"

namespace kiln::cpu {

/// Runs kernel(team, 0), ..., kernel(team, groups - 1): one thread per group.
template <class Kernel>
void launch_for_groups(const Kernel& kernel, std::int64_t groups, Queue& queue) {
  pool_of(queue).for_each(groups, [&](std::int64_t group) { kernel(SingleTeam{}, group); });
}

/// Runs kernels that declare the scratch memory of a team. Groups may work for long, so the alarm
/// is checked before each.
template <class Kernel>
void launch_with_work(const Kernel& kernel, std::int64_t groups, Queue& queue) {
  constexpr std::int64_t per_task = 8;
  const auto size = static_cast<std::size_t>(kernel.work_size());
  const QueueThreads threads = pool_of(queue);
  threads.for_each((groups + per_task - 1) / per_task, [&](std::int64_t task) {
    const auto work = std::make_unique_for_overwrite<double[]>(size);
    const std::int64_t end = std::min(groups, (task + 1) * per_task);
    for (std::int64_t group = task * per_task; group < end; ++group) {
      if (threads.alarm != nullptr) end_if_due(*threads.alarm);
      kernel(SingleTeam{}, group, work.get());
    }
  });
}

/// Runs body(0), ..., body(n - 1), in any order.
template <class Body>
void launch_for_items(const Body& body, std::int64_t n, Queue& queue) {
  constexpr std::int64_t per_task = 256;
  pool_of(queue).for_each((n + per_task - 1) / per_task, [&](std::int64_t task) {
    const std::int64_t end = std::min(n, (task + 1) * per_task);
    for (std::int64_t i = task * per_task; i < end; ++i) body(i);
  });
}

}  // namespace kiln::cpu
