// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/admit_energies.hpp"

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const AdmitEnergies& kernel, Queue&) {
  for (std::int64_t slot = 0; slot < kernel.energy.columns; ++slot) kernel(slot);
}

}  // namespace kiln::cpu
