// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/nuts_transition.hpp"

#include <type_traits>

#include "kiln/densities/all.hpp"
#include "kiln/objectives/density_kernels.hpp"

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const NutsTransition& kernel, Queue& queue) {
  visit_density(kernel.density, [&](const auto& density) {
    CpuDensityKernels<std::decay_t<decltype(density)>>::nuts(kernel, density, queue);
  });
}

}  // namespace kiln::cpu
