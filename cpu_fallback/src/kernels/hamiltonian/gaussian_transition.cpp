// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/gaussian_transition.hpp"

#include "launch.hpp"

namespace kiln::cpu {

KILN_GAUSSIAN_TRANSITION_PARTS(KILN_DECLARE_LAUNCHER)

template <>
void launch(const GaussianTransition& kernel, Queue& queue) {
  kernel.launch_parts([&](const auto& part) { launch(part, queue); });
}

}  // namespace kiln::cpu
