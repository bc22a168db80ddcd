// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/component.hpp"

// What any model needs beside matrix products: passes over the rows of matrices.
#define KILN_ROWS_KERNELS(KERNEL) \
  KERNEL(Elementwise)             \
  KERNEL(ReduceRows)              \
  KERNEL(Standardize)             \
  KERNEL(TopK)                    \
  KERNEL(GatherRows)              \
  KERNEL(Axpby)

namespace kiln {

KILN_COMPONENT(RowsComponent, "rows", KILN_ROWS_KERNELS)

}  // namespace kiln
