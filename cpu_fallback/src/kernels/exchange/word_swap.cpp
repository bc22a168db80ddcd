// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/word_swap.hpp"

#include <algorithm>
#include <vector>

#include "launch.hpp"
#include "tuned.hpp"

namespace kiln::cpu {
namespace {

const Tunable word_swap_tasks(items_per_task("word_swap", "rows", 64,
                                             {8, 16, 32, 64, 128, 256, 512, 1024, 2048}));

// Two words of each row, and their bits that change places.
struct Exchange {
  std::int64_t lower, upper;
  std::uint32_t mask;
};

}  // namespace

template <>
void launch(const WordSwap& kernel, Queue& queue) {
  if (!kernel.active()) return;
  std::vector<Exchange> exchanges;
  for (std::int64_t number = 0; number < kernel.swapping.size; ++number) {
    const std::uint32_t mask = kernel.swapping[number];
    if (mask != 0) exchanges.push_back({number, kernel.upper_of(number), mask});
  }
  if (exchanges.empty()) return;
  const std::int64_t rows = kernel.state.rows;
  const std::int64_t rows_per_task = tuned_value(word_swap_tasks, queue, rows);
  pool_of(queue).for_each((rows + rows_per_task - 1) / rows_per_task, [&](std::int64_t task) {
    const std::int64_t end = std::min(rows, (task + 1) * rows_per_task);
    for (std::int64_t row = task * rows_per_task; row < end; ++row) {
      for (const Exchange& one : exchanges) {
        std::uint32_t &lower = kernel.state(row, one.lower), &upper = kernel.state(row, one.upper);
        const std::uint32_t change = (lower ^ upper) & one.mask;
        lower ^= change;
        upper ^= change;
      }
    }
  });
}

}  // namespace kiln::cpu
