// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/rows/gather_rows.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const GatherRows& kernel, Queue& queue) {
  const auto bytes = static_cast<std::size_t>(kernel.table.columns);
  const std::int64_t of_task =
      std::max<std::int64_t>(1, (1 << 16) / std::max<std::int64_t>(1, kernel.table.columns));
  std::atomic<std::int64_t> missing{0};
  pool_of(queue).for_each((kernel.id.size + of_task - 1) / of_task, [&](std::int64_t task) {
    const std::int64_t end = std::min(kernel.id.size, (task + 1) * of_task);
    for (std::int64_t i = task * of_task; i < end; ++i) {
      if (!kernel.is_row(kernel.id[i])) missing.fetch_add(1, std::memory_order_relaxed);
      if (bytes == 0) continue;
      if (kernel.is_row(kernel.id[i])) {
        std::memcpy(&kernel.result(i, 0), &kernel.table(kernel.id[i], 0), bytes);
      } else {
        std::memset(&kernel.result(i, 0), 0, bytes);
      }
    }
  });
  if (kernel.missing != nullptr) *kernel.missing += missing.load();
}

}  // namespace kiln::cpu
