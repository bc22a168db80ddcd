// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/hamiltonian/hmc_transition.hpp"
#include "kiln/kernels/hamiltonian/nuts_transition.hpp"
#include "kiln/kernels/sweeps/density_descent.hpp"
#include "kiln/kernels/sweeps/density_energy.hpp"
#include "kiln/kernels/sweeps/density_sweep.hpp"

namespace kiln {

class Queue;

/// How transitions of a density are enqueued: one set per density type and backend. The density
/// comes beside the kernel, whose DensityRef is not read; so a functor of a user goes the way of
/// the built-in ones.
///
/// The CPU's: chains in parallel on the threads of the queue, each with a team of one. This header
/// only declares the members: callers of a catalogue density link the one copy of
/// cpu_fallback/src/densities. kiln/objectives/density_kernels_impl.hpp defines them for all other
/// densities.
template <class Density>
struct CpuDensityKernels {
  static constexpr std::int64_t chains_per_task = 16;

  static void energy(const DensityEnergy& kernel, const Density& density, Queue& queue);
  static void transition(const HmcTransition& kernel, const Density& density, Queue& queue);
  static void nuts(const NutsTransition& kernel, const Density& density, Queue& queue);
  static void descent(const DensityDescent& kernel, const Density& density, Queue& queue);
  static void sweep(const DensitySweep& kernel, const Density& density, Queue& queue);

 private:
  template <class Body>
  static void for_chains(const Density& density, std::int64_t chains, std::int64_t scratch,
                         Queue& queue, const Body& body);
};

}  // namespace kiln
