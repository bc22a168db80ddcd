// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/delay_embedding.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {

template <>
void launch(const DelayEmbedding& kernel, Queue& queue) {
  launch_for_each(kernel, kernel.size(), queue);
}

}  // namespace kiln::cuda
