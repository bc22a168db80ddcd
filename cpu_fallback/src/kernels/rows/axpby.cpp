// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/rows/axpby.hpp"

#include "row_passes.hpp"

namespace kiln::cpu {

template <>
void launch(const Axpby& kernel, Queue& queue) {
  if (!kernel.valid()) throw InvalidArgument("kernel.axpby", Axpby::refusal);
  if (kernel.has_matrix()) return reduce_rows(ProductOfRows{kernel}, queue);
  constexpr std::int64_t of_task = 1 << 14;
  pool_of(queue).for_each((kernel.y.size + of_task - 1) / of_task, [&](std::int64_t task) {
    const std::int64_t end = std::min(kernel.y.size, (task + 1) * of_task);
    for (std::int64_t i = task * of_task; i < end; ++i) kernel.update(i, kernel.x[i]);
  });
}

}  // namespace kiln::cpu
