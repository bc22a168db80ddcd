// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/component.hpp"

// Gaussian processes, acquisition functions and space-filling points.
#define KILN_SURROGATE_KERNELS(KERNEL) \
  KERNEL(GpCovariance)                 \
  KERNEL(AcquisitionValues)            \
  KERNEL(EvidenceGradient)             \
  KERNEL(PosteriorWeights)             \
  KERNEL(AcquisitionGradient)          \
  KERNEL(SpaceFillingPoints)           \
  KERNEL(PathwiseSamples)

namespace kiln {

KILN_COMPONENT(SurrogateComponent, "surrogate", KILN_SURROGATE_KERNELS)

}  // namespace kiln
