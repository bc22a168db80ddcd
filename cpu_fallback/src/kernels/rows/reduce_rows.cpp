// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/rows/reduce_rows.hpp"

#include "row_passes.hpp"

namespace kiln::cpu {

template <>
void launch(const ReduceRows& kernel, Queue& queue) {
  if (!kernel.valid()) throw InvalidArgument("kernel.reduce_rows", ReduceRows::refusal);
  with_job(kernel, [&](const auto& job) { reduce_rows(job, queue); });
}

}  // namespace kiln::cpu
