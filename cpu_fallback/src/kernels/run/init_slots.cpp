// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/init_slots.hpp"

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const InitSlots& kernel, Queue&) {
  for (std::int64_t slot = 0; slot < kernel.key.size; ++slot) kernel(slot);
}

}  // namespace kiln::cpu
