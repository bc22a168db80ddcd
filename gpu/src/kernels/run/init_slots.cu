// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/init_slots.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {

template <>
void launch(const InitSlots& kernel, Queue& queue) {
  launch_for_each(kernel, kernel.key.size, queue);
}

}  // namespace kiln::cuda
