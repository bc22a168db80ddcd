// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/quadratic_energy.hpp"

#include "kernels/run/slot_workers.cuh"

namespace kiln::cuda {

template <>
void launch(const QuadraticEnergy& kernel, Queue& queue) {
  launch_for_slots(kernel, queue);
}

}  // namespace kiln::cuda
