// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/linear_algebra/matrix_product.hpp"

namespace kiln {
class Queue;
}

namespace kiln::cuda {

/// Whether a device of this compute capability multiplies packed factors: only 9.x has warp-group
/// instructions, and only code for sm_90a, which the build may lack.
bool has_packed_products(int compute_major);
bool has_packed_products(Queue& queue);

/// Enqueues a product of a packed path (is_packed()), with factors that it packs into the scratch
/// of the product. The product is valid, not empty, and has enough scratch.
/// @pre has_packed_products(queue)
void launch_packed(const MatrixProduct& product, Queue& queue);

}  // namespace kiln::cuda
