// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/rows/standardize.hpp"

#include "kernels/rows/row_launch.cuh"

namespace kiln::cuda {
namespace {

template <class T>
void rewrite_given_rows(const StandardizedRows& job, Queue& queue) {
  RowPass<StandardizedRows> pass = row_pass(job);
  if (pass.rows <= 0 || pass.chunks <= 0) return;
  divide_rows(pass, queue);
  const unsigned blocks = row_grid(pass.rows * pass.groups);
  rewrite_groups<T, true, StandardizedRows><<<blocks, row_threads, 0, stream_of(queue)>>>(pass);
  check_launch(Standardize::name);
}

}  // namespace

template <>
void launch(const Standardize& kernel, Queue& queue) {
  if (!kernel.valid()) throw InvalidArgument("kernel.standardize", Standardize::refusal);
  const StandardizedRows job{kernel};
  if (!kernel.frozen) return launch_rows(job, kernel.room, queue);
  if (kernel.value.type == ElementType::float64) return rewrite_given_rows<double>(job, queue);
  rewrite_given_rows<float>(job, queue);
}

}  // namespace kiln::cuda
