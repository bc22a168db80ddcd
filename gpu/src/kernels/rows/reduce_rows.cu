// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/rows/reduce_rows.hpp"

#include "kernels/rows/row_launch.cuh"

namespace kiln::cuda {

template <>
void launch(const ReduceRows& kernel, Queue& queue) {
  if (!kernel.valid()) throw InvalidArgument("kernel.reduce_rows", ReduceRows::refusal);
  with_job(kernel, [&](const auto& job) { launch_rows(job, kernel.room, queue); });
}

}  // namespace kiln::cuda
