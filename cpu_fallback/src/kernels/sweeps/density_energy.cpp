// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/density_energy.hpp"

#include <type_traits>

#include "kiln/densities/all.hpp"
#include "kiln/objectives/density_kernels.hpp"

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const DensityEnergy& kernel, Queue& queue) {
  visit_density(kernel.density, [&](const auto& density) {
    CpuDensityKernels<std::decay_t<decltype(density)>>::energy(kernel, density, queue);
  });
}

}  // namespace kiln::cpu
