// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/component.hpp"

// What moves the oscillators of simulated bifurcation.
#define KILN_BIFURCATION_KERNELS(KERNEL) \
  KERNEL(BifurcationMatrix)              \
  KERNEL(BifurcationStart)               \
  KERNEL(BifurcationSteps)               \
  KERNEL(BifurcationReadout)

namespace kiln {

KILN_COMPONENT(BifurcationComponent, "bifurcation", KILN_BIFURCATION_KERNELS)

}  // namespace kiln
