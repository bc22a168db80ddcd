// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/decomposition_update.hpp"

#include "team_launch.hpp"

namespace kiln::cpu {

template <>
void launch(const DecompositionUpdate& kernel, Queue& queue) {
  if (!kernel.active()) return;
  const std::int64_t n = kernel.groups.groups * kernel.problems();
  launch_for_items([&](std::int64_t child) { kernel.bid(child); }, n, queue);
  launch_for_items([&](std::int64_t resident) { kernel.settle(resident); }, n, queue);
}

}  // namespace kiln::cpu
