// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/front_progress.hpp"

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const FrontProgress& kernel, Queue&) {
  kernel();
}

}  // namespace kiln::cpu
