// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/linear_algebra/factor_append.hpp"

#include "kernels/team_launch.cuh"

namespace kiln::cuda {

template <>
void launch(const FactorAppend& kernel, Queue& queue) {
  launch_for_groups(kernel, kernel.factor.items, queue);
}

}  // namespace kiln::cuda
