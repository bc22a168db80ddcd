// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/mask_nonfinite.hpp"

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const MaskNonfinite& kernel, Queue&) {
  for (std::int64_t slot = 0; slot < kernel.energy.columns; ++slot) kernel(slot);
}

}  // namespace kiln::cpu
