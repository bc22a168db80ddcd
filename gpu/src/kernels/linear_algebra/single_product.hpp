// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/linear_algebra/matrix_product.hpp"

namespace kiln {
class Queue;
}

namespace kiln::cuda {

/// Enqueues a product in single precision. The product is valid and not empty.
void launch_single(const MatrixProduct& product, Queue& queue);

}  // namespace kiln::cuda
