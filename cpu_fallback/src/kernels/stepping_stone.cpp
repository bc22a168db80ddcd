// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/stepping_stone.hpp"

#include "../launch.hpp"

namespace kiln::cpu {

template <>
void launch(const SteppingStone& kernel, Queue& queue) {
  pool_of(queue).for_each(kernel.ladders, [&](std::int64_t ladder) {
    for (std::int64_t r = 0; r + 1 < kernel.rungs; ++r) kernel(ladder * (kernel.rungs - 1) + r);
  });
}

}  // namespace kiln::cpu
