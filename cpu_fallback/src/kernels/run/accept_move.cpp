// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/accept_move.hpp"

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const AcceptMove& kernel, Queue&) {
  kernel.block.require_single_values(AcceptMove::name);
  for (std::int64_t slot = 0; slot < kernel.block.slots; ++slot) kernel(slot);
}

}  // namespace kiln::cpu
