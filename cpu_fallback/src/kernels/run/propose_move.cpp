// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/propose_move.hpp"

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const ProposeMove& kernel, Queue&) {
  kernel.block.require_single_values(ProposeMove::name);
  for (std::int64_t slot = 0; slot < kernel.block.slots; ++slot) kernel(slot);
}

}  // namespace kiln::cpu
