// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/evidence_gradient.hpp"

#include "team_launch.cuh"

namespace kiln::cuda {

template <>
void launch(const EvidenceGradient& kernel, Queue& queue) {
  launch_with_work<256>(kernel, kernel.items, queue);
}

}  // namespace kiln::cuda
