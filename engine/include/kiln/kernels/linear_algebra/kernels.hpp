// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/component.hpp"

// Batches of matrices and of minimisations.
#define KILN_LINEAR_ALGEBRA_KERNELS(KERNEL) \
  KERNEL(MatrixProduct)                     \
  KERNEL(BatchedCholesky)                   \
  KERNEL(BatchedTriangularSolve)            \
  KERNEL(FactorAppend)                      \
  KERNEL(LbfgsStep)

namespace kiln {

KILN_COMPONENT(LinearAlgebraComponent, "linear_algebra", KILN_LINEAR_ALGEBRA_KERNELS)

}  // namespace kiln
