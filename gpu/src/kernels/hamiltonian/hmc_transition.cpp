// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/hmc_transition.hpp"

#include <type_traits>

#include "kiln/cuda/density_kernels.hpp"
#include "kiln/densities/all.hpp"

#include "launch.hpp"

namespace kiln::cuda {

template <>
void launch(const HmcTransition& kernel, Queue& queue) {
  visit_density(kernel.density, [&](const auto& density) {
    DensityKernels<std::decay_t<decltype(density)>>::transition(kernel, density, queue);
  });
}

}  // namespace kiln::cuda
