// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/rows/elementwise.hpp"

#include <algorithm>

#include "kiln/errors.hpp"

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const Elementwise& kernel, Queue& queue) {
  if (!kernel.valid()) throw InvalidArgument("kernel.elementwise", Elementwise::refusal);
  const Elements& value = kernel.value;
  const MutableElements& result = kernel.result;
  const std::int64_t elements = value.rows * value.columns;
  constexpr std::int64_t of_task = 1 << 14;
  pool_of(queue).for_each((elements + of_task - 1) / of_task, [&](std::int64_t task) {
    const std::int64_t end = std::min(elements, (task + 1) * of_task);
    std::int64_t row = task * of_task / value.columns, column = task * of_task % value.columns;
    for (std::int64_t i = task * of_task; i < end; ++i) {
      const double x = kernel.evaluate(value(row, column), row, column);
      write_element(result.at(row, column), result.type, x);
      if (++column == value.columns) ++row, column = 0;
    }
  });
}

}  // namespace kiln::cpu
