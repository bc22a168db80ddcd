// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/rows/top_k.hpp"

#include <algorithm>
#include <vector>

#include "kiln/errors.hpp"

#include "launch.hpp"

namespace kiln::cpu {
namespace {

struct KeyedColumn {
  std::uint64_t key = 0;
  std::int64_t column = 0;
  bool operator<(const KeyedColumn& other) const {  // comes first
    return key != other.key ? key > other.key : column < other.column;
  }
};

void select_in_row(const TopK& kernel, std::int64_t row) {
  std::vector<KeyedColumn> all(static_cast<std::size_t>(kernel.value.columns));
  for (std::int64_t c = 0; c < kernel.value.columns; ++c) {
    all[static_cast<std::size_t>(c)] = {TopK::key_of(kernel.value(row, c)), c};
  }
  const std::int64_t taken = std::min(kernel.k(), kernel.value.columns);
  const auto end = all.begin() + taken;
  if (taken < kernel.value.columns) std::nth_element(all.begin(), end, all.end());
  std::sort(all.begin(), end);
  for (std::int64_t i = 0; i < kernel.k(); ++i) {
    kernel.put(row, i, i < taken ? all[static_cast<std::size_t>(i)].column : TopK::no_column);
  }
}

}  // namespace

template <>
void launch(const TopK& kernel, Queue& queue) {
  if (!kernel.valid()) throw InvalidArgument("kernel.top_k", TopK::refusal);
  if (kernel.k() == 0) return;
  pool_of(queue).for_each(kernel.value.rows, [&](std::int64_t row) { select_in_row(kernel, row); });
}

}  // namespace kiln::cpu
