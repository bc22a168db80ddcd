// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/evidence_gradient.hpp"

#include "team_launch.hpp"

namespace kiln::cpu {

template <>
void launch(const EvidenceGradient& kernel, Queue& queue) {
  launch_with_work(kernel, kernel.items, queue);
}

}  // namespace kiln::cpu
