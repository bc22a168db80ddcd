// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/hamiltonian/hmc_transition.hpp"
#include "kiln/kernels/hamiltonian/nuts_transition.hpp"
#include "kiln/kernels/sweeps/density_descent.hpp"
#include "kiln/kernels/sweeps/density_energy.hpp"
#include "kiln/kernels/sweeps/density_sweep.hpp"

namespace kiln {
class Queue;
}

namespace kiln::cuda {

/// The GPU's kernels of one density; see CpuDensityKernels. The layout comes with the kernel:
/// `thread` for densities of a fixed dimension up to 32 only, `lanes` for those that work by
/// coordinates; others take a warp.
///
/// Callers of a catalogue density link the one copy of gpu/src/densities, which is compiled with
/// fused multiply-add. kiln/cuda/density_kernels.cuh defines the members for all other densities.
template <class Density>
struct DensityKernels {
  static void energy(const DensityEnergy& kernel, const Density& density, Queue& queue);
  static void transition(const HmcTransition& kernel, const Density& density, Queue& queue);
  static void nuts(const NutsTransition& kernel, const Density& density, Queue& queue);
  static void descent(const DensityDescent& kernel, const Density& density, Queue& queue);
  static void sweep(const DensitySweep& kernel, const Density& density, Queue& queue);
};

}  // namespace kiln::cuda
