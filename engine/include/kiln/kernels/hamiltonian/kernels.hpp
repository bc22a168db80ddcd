// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/component.hpp"

// Hamiltonian transitions of chains, and their adaptation.
#define KILN_HAMILTONIAN_KERNELS(KERNEL) \
  KERNEL(HmcTransition)                  \
  KERNEL(NutsTransition)                 \
  KERNEL(AddPoolMoments)                 \
  KERNEL(HmcAdapt)                       \
  KERNEL(RecordDraws)                    \
  KERNEL(GlmTransition)                  \
  KERNEL(MomentumRefresh)                \
  KERNEL(Leapfrog)                       \
  KERNEL(GaussianTransition)             \
  KERNEL(HamiltonianAccept)

namespace kiln {

KILN_COMPONENT(HamiltonianComponent, "hamiltonian", KILN_HAMILTONIAN_KERNELS)

}  // namespace kiln
