// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/component.hpp"

// Moves and energies of one state at a time: pairwise models, Potts models, colourings, densities.
#define KILN_SWEEPS_KERNELS(KERNEL) \
  KERNEL(MetropolisSweep)           \
  KERNEL(PairwiseEnergy)            \
  KERNEL(CategoricalSweep)          \
  KERNEL(CategoricalEnergy)         \
  KERNEL(TemperatureUpdate)         \
  KERNEL(BoltzmannProbabilities)    \
  KERNEL(ClusterMove)               \
  KERNEL(PairwiseFamilySweep)       \
  KERNEL(PairwiseFamilyEnergy)      \
  KERNEL(DensityEnergy)             \
  KERNEL(DensityDescent)            \
  KERNEL(DensitySweep)              \
  KERNEL(QuadraticEnergy)           \
  KERNEL(ColoringEnergy)            \
  KERNEL(ColoringSweep)             \
  KERNEL(ColoringTabu)

namespace kiln {

KILN_COMPONENT(SweepsComponent, "sweeps", KILN_SWEEPS_KERNELS)

}  // namespace kiln
