// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernel_set.hpp"
#include "kiln/kernels/hamiltonian/hmc_transition.hpp"
#include "kiln/kernels/hamiltonian/nuts_transition.hpp"
#include "kiln/kernels/sweeps/density_descent.hpp"
#include "kiln/kernels/sweeps/density_energy.hpp"
#include "kiln/kernels/sweeps/density_sweep.hpp"
#include "kiln/objectives/bound_functor.hpp"

namespace kiln {

/// The kernels that every backend has for a density. To add a kernel, add its header and its name
/// here. A *density kernel* moves or reads many chains independently:
///
///     struct MyKernel {
///       static constexpr const char* name = "my_kernel";
///       DensityRef density;
///       ChainLayout layout;
///       View1<double> scratch;       // [slots * scratch_size()], of GPUs
///       KILN_HD static constexpr std::int64_t scratch_size(std::int64_t dimension,
///                                                          std::int64_t workspace);
///       KILN_HD std::int64_t chain_count() const;
///       KILN_HD bool active() const;          // false: the launch does nothing
///       template <class Density, class Team>  // one chain; memory: scratch_size() doubles
///       KILN_HD void run(const Density& target, const Team& team, std::int64_t slot,
///                        double* memory) const;
///     };
///
/// It may have `run_in_registers(target, slot, work)`, with its vectors in local arrays of
/// Density::fixed_dimension and the density's memory in `work`: GPUs then use one thread for each
/// chain of a short density (ChainLayout::thread). It may have `has_work()`, which the CPU calls
/// before it wakes its threads.
using DensityKernelList =
    KernelList<DensityEnergy, DensitySweep, DensityDescent, HmcTransition, NutsTransition>;

DensityKernelList kernels_of(DensityFamily);

/// A density made for one device.
using BoundDensity = BoundFunctor<DensityFamily>;

/// The CPU's kernels for one density type: chains in parallel on the threads of the queue, each
/// with a team of one. kiln/objectives/density_kernels_impl.hpp defines the member.
template <class Density>
struct CpuDensityKernels {
  template <class Kernel>
  static void run(const Kernel& kernel, const Density& density, Queue& queue);

  template <class Kernel>
  static void launch(const Kernel& kernel, const void* density, Queue& queue) {
    run(kernel, *static_cast<const Density*>(density), queue);
  }
};

/// All kernels of a density. Densities that come with Kiln are compiled once, in
/// problems/src/densities, where this is instantiated.
template <class Density>
FunctorKernels<DensityFamily> cpu_density_kernels();

}  // namespace kiln
