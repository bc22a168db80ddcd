// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/acquisition_values.hpp"

#include "team_launch.hpp"

namespace kiln::cpu {

template <>
void launch(const AcquisitionValues& kernel, Queue& queue) {
  launch_for_items(kernel, kernel.mean.size, queue);
}

}  // namespace kiln::cpu
