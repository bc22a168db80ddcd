// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/cuda/stages.cuh"

#include "particle_stages.hpp"

namespace kiln::test {

KernelSet<ParticleComponent> particle_parts_on_cuda() {
  return KernelSet<ParticleComponent>(&cuda::launch_slots<Kick>, &cuda::launch_slots<Drift>,
                                      &cuda::launch_slots<Bounce>, &cuda::launch_slots<Jump>);
}

KernelSet<ComponentOf<Step>> particle_step_on_cuda() {
  return KernelSet<ComponentOf<Step>>(&cuda::launch_slots<Step>);
}

}  // namespace kiln::test
