// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/walker_swap.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {

// A thread per group: its walkers come one after the other, and there are few of them.
template <>
void launch(const WalkerSwap& kernel, Queue& queue) {
  launch_for_each(kernel, kernel.counts.size, queue);
}

}  // namespace kiln::cuda
