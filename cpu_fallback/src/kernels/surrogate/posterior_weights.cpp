// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/posterior_weights.hpp"

#include "team_launch.hpp"

namespace kiln::cpu {

template <>
void launch(const PosteriorWeights& kernel, Queue& queue) {
  launch_with_work(kernel, kernel.inverse_factor.items, queue);
}

}  // namespace kiln::cpu
