// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/advance_tick.hpp"

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const AdvanceTick& kernel, Queue&) {
  kernel();
}

}  // namespace kiln::cpu
