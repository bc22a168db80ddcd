// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/energy_histogram.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "launch.hpp"

namespace kiln::cpu {
namespace {

constexpr std::int64_t slots_per_task = 4096;

void add(std::uint64_t& total, std::uint64_t value) {
  if (value != 0) std::atomic_ref(total).fetch_add(value, std::memory_order_relaxed);
}

// Counts of a task come together first, so that threads seldom meet in a cell.
void count_slots(const EnergyHistogram& kernel, std::int64_t first, std::int64_t end) {
  const std::int64_t cells = kernel.cells();
  std::uint64_t* const total = kernel.count.data;
  if (cells > EnergyHistogram::shared_cells) {
    for (std::int64_t slot = first; slot < end; ++slot) add(total[kernel.cell_of(slot)], 1);
    return;
  }
  std::array<std::uint64_t, EnergyHistogram::shared_cells> mine;
  std::fill_n(mine.begin(), cells, 0);
  for (std::int64_t slot = first; slot < end; ++slot) {
    ++mine[static_cast<std::size_t>(kernel.cell_of(slot))];
  }
  for (std::int64_t i = 0; i < cells; ++i) add(total[i], mine[static_cast<std::size_t>(i)]);
}

}  // namespace

template <>
void launch(const EnergyHistogram& kernel, Queue& queue) {
  if (!kernel.active()) return;
  const std::int64_t tasks = (kernel.replicas + slots_per_task - 1) / slots_per_task;
  pool_of(queue).for_each(tasks, [&](std::int64_t task) {
    const std::int64_t first = task * slots_per_task;
    count_slots(kernel, first, std::min(first + slots_per_task, kernel.replicas));
  });
}

}  // namespace kiln::cpu
