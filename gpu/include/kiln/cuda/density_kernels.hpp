// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/objectives/density_kernels.hpp"

namespace kiln::cuda {

/// The GPU's kernels on one type of density; see CpuDensityKernels. The layout comes with the
/// kernel: `thread` for densities of a fixed dimension up to 32 and kernels that keep vectors in
/// registers only, `lanes` for densities that work by coordinates; others take a warp.
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

/// All of them. Densities that come with Kiln are compiled once, in problems/src/densities, where
/// this is instantiated and fused multiply-add is on.
template <class Density>
FunctorKernels<DensityFamily> density_kernels();

}  // namespace kiln::cuda
