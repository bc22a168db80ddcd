// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/admit_energies.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {

template <>
void launch(const AdmitEnergies& kernel, Queue& queue) {
  launch_for_each(kernel, kernel.energy.columns, queue);
}

}  // namespace kiln::cuda
