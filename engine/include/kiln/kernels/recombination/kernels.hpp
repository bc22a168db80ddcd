// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/component.hpp"

// What makes new states of two.
#define KILN_RECOMBINATION_KERNELS(KERNEL) KERNEL(ClusterCrossover)

namespace kiln {

KILN_COMPONENT(RecombinationComponent, "recombination", KILN_RECOMBINATION_KERNELS)

}  // namespace kiln
