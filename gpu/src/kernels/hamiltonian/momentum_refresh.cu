// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/momentum_refresh.hpp"

#include "kernels/run/slot_workers.cuh"

namespace kiln::cuda {

template <>
void launch(const MomentumRefresh& kernel, Queue& queue) {
  launch_for_slots(kernel, queue);
}

}  // namespace kiln::cuda
