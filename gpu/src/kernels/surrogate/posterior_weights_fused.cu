// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/posterior_weights.hpp"

#include "kernels/team_launch.cuh"

namespace kiln::cuda {

template <>
void launch(const PosteriorWeights& kernel, Queue& queue) {
  launch_with_work<256>(kernel, kernel.inverse_factor.items, queue);
}

}  // namespace kiln::cuda
