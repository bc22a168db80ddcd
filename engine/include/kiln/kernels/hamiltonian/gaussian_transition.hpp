// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/export.hpp"
#include "kiln/kernels/hamiltonian/batched_trajectory.hpp"
#include "kiln/kernels/hamiltonian/hamiltonian_accept.hpp"
#include "kiln/kernels/hamiltonian/leapfrog.hpp"
#include "kiln/kernels/hamiltonian/momentum_refresh.hpp"
#include "kiln/kernels/linear_algebra/matrix_product.hpp"
#include "kiln/kernels/sweeps/quadratic_energy.hpp"

/// Applies its argument to the name of each kernel that GaussianTransition::launch_parts()
/// launches: its twins declare their launchers by KILN_DECLARE_LAUNCHER.
#define KILN_GAUSSIAN_TRANSITION_PARTS(PART) \
  PART(MomentumRefresh)                      \
  PART(MatrixProduct) PART(QuadraticEnergy) PART(Leapfrog) PART(HamiltonianAccept)
#define KILN_DECLARE_LAUNCHER(KERNEL) \
  template <>                         \
  void launch(const KERNEL& kernel, Queue& queue);

namespace kiln {

/// A batched Hamiltonian transition of every chain in the potential x^T P x / 2: MomentumRefresh,
/// Leapfrog, HamiltonianAccept, and between them MatrixProduct and QuadraticEnergy for gradients
/// and energies. A GPU makes all of it in one launch where a block of 32 chains and the precision
/// matrix fit in shared memory, up to about 112 dimensions.
///
/// Class S6, as the products; on one device the bits are those of the parts.
struct KILN_API GaussianTransition : BatchedArguments {
  static constexpr const char* name = "gaussian_transition";
  static constexpr const char* summary =
      "makes a batched Hamiltonian transition of every chain in a Gaussian with a dense precision "
      "matrix";
  static constexpr const char* accuracy = "S6";

  View2<const double> precision;  ///< [dimension][dimension], symmetric

  template <class Kernel>
  KILN_HD Kernel part() const {
    return Kernel{*this};
  }
  /// The energies at `position`, whose product with P is in `gradient`: weights that too.
  KILN_HD QuadraticEnergy energy_at(const View2<double>& position, const View2<double>& gradient,
                                    const View1<double>& energy) const {
    QuadraticEnergy kernel;
    kernel.position = {position.data, position.rows, position.columns, position.stride};
    kernel.product = gradient;
    kernel.replicas = chains.replicas;
    kernel.weight = {chains.gradient_term_weight.data, chains.gradient_term_weight.size};
    kernel.energy = energy;
    kernel.control = chains.control;
    kernel.step_offset = chains.step_offset;
    return kernel;
  }

  /// Calls launch(kernel) for each part in turn.
  template <class Launch>
  void launch_parts(const Launch& launch) const {
    launch(part<MomentumRefresh>());
    differentiate(launch, chains.position, chains.gradient, chains.term);
    Leapfrog leapfrog = part<Leapfrog>();
    for (std::int32_t i = 0; i < limit; ++i) {
      leapfrog.index = i;
      launch(leapfrog);
      differentiate(launch, trajectory.proposal, trajectory.gradient,
                    i == limit - 1 ? trajectory.term : View1<double>{});
    }
    leapfrog.index = limit;
    launch(leapfrog);
    launch(part<HamiltonianAccept>());
  }

 private:
  // Without energies the product takes the weights in; with them it is needed plain first.
  template <class Launch>
  void differentiate(const Launch& launch, const View2<double>& position,
                     const View2<double>& gradient, const View1<double>& energy) const {
    MatrixProduct product;
    product.a = {precision.data, precision.rows, precision.columns, precision.stride};
    product.b = {position.data, position.rows, position.columns, position.stride};
    product.c = {gradient.data, gradient.rows, gradient.columns, gradient.stride};
    product.control = chains.control;
    product.step_offset = chains.step_offset;
    if (!energy) {
      product.epilogue.scale = {chains.gradient_term_weight.data, chains.gradient_term_weight.size};
    }
    launch(product);
    if (energy) launch(energy_at(position, gradient, energy));
  }
};

}  // namespace kiln
