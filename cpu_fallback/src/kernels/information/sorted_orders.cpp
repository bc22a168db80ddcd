// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/sorted_orders.hpp"

#include "kernels/information/sort_places.hpp"
#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const SortedOrders& kernel, Queue& queue) {
  pool_of(queue).for_each(kernel.values.rows, [&](std::int64_t row) {
    if (kernel.values.columns == 0) return;
    sort_places(kernel.values.columns, &kernel.order(row, 0),
                [&](std::int64_t i) { return kernel.values(row, i); });
  });
}

}  // namespace kiln::cpu
