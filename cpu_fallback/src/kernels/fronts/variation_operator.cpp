// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/variation_operator.hpp"

#include <algorithm>

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const VariationOperator& kernel, Queue& queue) {
  if (!kernel.control->active(kernel.step_offset)) return;
  constexpr std::int64_t per_task = 256;
  const std::int64_t items = kernel.items();
  pool_of(queue).for_each((items + per_task - 1) / per_task, [&](std::int64_t task) {
    const std::int64_t end = std::min(items, (task + 1) * per_task);
    for (std::int64_t item = task * per_task; item < end; ++item) kernel(item);
  });
}

}  // namespace kiln::cpu
