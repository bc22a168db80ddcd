// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/component.hpp"

// Populations in which replicas die and others are copied.
#define KILN_POPULATION_KERNELS(KERNEL) \
  KERNEL(PopulationStep)                \
  KERNEL(Resample)

namespace kiln {

KILN_COMPONENT(PopulationComponent, "population", KILN_POPULATION_KERNELS)

}  // namespace kiln
