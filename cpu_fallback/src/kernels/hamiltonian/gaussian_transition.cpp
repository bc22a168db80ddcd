// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/gaussian_transition.hpp"

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const MomentumRefresh& kernel, Queue& queue);
template <>
void launch(const MatrixProduct& kernel, Queue& queue);
template <>
void launch(const QuadraticEnergy& kernel, Queue& queue);
template <>
void launch(const Leapfrog& kernel, Queue& queue);
template <>
void launch(const HamiltonianAccept& kernel, Queue& queue);

template <>
void launch(const GaussianTransition& kernel, Queue& queue) {
  kernel.launch_parts([&](const auto& part) { launch(part, queue); });
}

}  // namespace kiln::cpu
