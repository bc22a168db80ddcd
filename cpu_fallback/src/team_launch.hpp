// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "kiln/device/team.hpp"

#include "launch.hpp"

namespace kiln::cpu {

/// kernel(team, 0), ..., kernel(team, groups - 1): a group has one thread.
template <class Kernel>
void launch_for_groups(const Kernel& kernel, std::int64_t groups, Queue& queue) {
  pool_of(queue).for_each(groups, [&](std::int64_t group) { kernel(SingleTeam{}, group); });
}

/// body(0), ..., body(n - 1), in any order.
template <class Body>
void launch_for_items(const Body& body, std::int64_t n, Queue& queue) {
  constexpr std::int64_t per_task = 256;
  pool_of(queue).for_each((n + per_task - 1) / per_task, [&](std::int64_t task) {
    const std::int64_t end = std::min(n, (task + 1) * per_task);
    for (std::int64_t i = task * per_task; i < end; ++i) body(i);
  });
}

}  // namespace kiln::cpu
