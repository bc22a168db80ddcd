// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/rows/standardize.hpp"

#include "row_passes.hpp"

namespace kiln::cpu {

template <>
void launch(const Standardize& kernel, Queue& queue) {
  if (!kernel.valid()) throw InvalidArgument("kernel.standardize", Standardize::refusal);
  const StandardizedRows job{kernel};
  if (!kernel.frozen) return reduce_rows(job, queue);
  const RowDivision of(kernel.value.rows, kernel.value.columns);
  pool_of(queue).for_each(of.rows * of.groups, [&](std::int64_t task) {
    const std::int64_t row = task / of.groups, group = task % of.groups;
    rewrite_row(job, row, group * RowDivision::chunks_of_group * RowTree::chunk,
                std::min(of.columns, of.end_of_chunks(group) * RowTree::chunk), job.given(row));
  });
}

}  // namespace kiln::cpu
