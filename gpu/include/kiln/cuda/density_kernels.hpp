// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/objectives/density_kernels.hpp"

namespace kiln::cuda {

/// The GPU's kernels for one density type; see CpuDensityKernels. The kernel states the layout:
/// `thread` for densities of a fixed dimension up to 32 and kernels that keep vectors in registers
/// only, `lanes` for densities that work by coordinates; others use a warp.
/// kiln/cuda/density_kernels.cuh defines the member.
template <class Density>
struct DensityKernels {
  template <class Kernel>
  static void run(const Kernel& kernel, const Density& density, Queue& queue);

  template <class Kernel>
  static void launch(const Kernel& kernel, const void* density, Queue& queue) {
    run(kernel, *static_cast<const Density*>(density), queue);
  }
};

/// All kernels of a density. Densities that come with Kiln are compiled once, in
/// problems/src/densities, where this is instantiated with fused multiply-add.
template <class Density>
FunctorKernels<DensityFamily> density_kernels();

}  // namespace kiln::cuda
