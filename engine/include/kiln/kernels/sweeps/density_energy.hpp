// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/density.hpp"
#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/team.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/hamiltonian/chain_state.hpp"
#include "kiln/kernels/sweeps/density_ref.hpp"

namespace kiln {

/// Computes energies, and optionally gradients, of a density at the positions of all chains.
///
/// The order of the sum of each part is backend-specific (class D); a gradient is that of
/// weights.base * base + weights.term * term. Values that are not finite are stored unchanged in
/// the parts; an energy that is NaN is stored as +infinity, so that it is never best.
struct KILN_API DensityEnergy {
  static constexpr const char* name = "density_energy";
  static constexpr const char* summary =
      "computes the energy and the gradient of a density at the position of every chain";
  static constexpr const char* accuracy = "D";

  DensityRef density;
  View2<const double> position;  ///< [dimension][slots]
  std::int64_t replicas = 0;
  View1<double> energy;               ///< [slots], base + term
  View1<double> base, term;           ///< [slots]; empty: not computed
  PartWeights weights;                ///< of the gradient, the same for all
  View2<double> gradient;             ///< [dimension][slots]; null data: not computed
  View1<double> forget_gradient;      ///< [slots], set to NaN: ChainState's weights; may be empty
  View1<const std::int32_t> rung_of;  ///< [slots]
  View1<const std::uint32_t>
      active_rungs;                     ///< [rungs], slots of rungs with 0 are skipped; empty: all
  const RunControl* control = nullptr;  ///< may be null: always active
  ChainLayout layout = ChainLayout::thread;
  View1<double> scratch;  ///< [slots * scratch_size()]

  /// Doubles of scratch memory per chain: position, gradient, and the density's workspace.
  KILN_HD static constexpr std::int64_t scratch_size(std::int64_t dimension,
                                                     std::int64_t workspace) {
    return 2 * dimension + workspace;
  }
  KILN_HD std::int64_t chain_count() const { return replicas; }
  KILN_HD bool active() const { return control == nullptr || control->stop == DeviceStop::none; }
  KILN_HD bool active(std::int64_t slot) const {
    return !active_rungs || active_rungs[rung_of[slot]] != 0;
  }

  template <class Density, class Team>
  KILN_HD void run(const Density& target, const Team& team, std::int64_t slot,
                   double* memory) const;
  template <class Density>
  KILN_HD void run_in_registers(const Density& target, std::int64_t slot, double* work) const;
};

namespace hmc {

/// One chain of DensityEnergy; x and g are vectors of this team, g may be null.
template <class Density, class Team>
KILN_HD void density_energy(const DensityEnergy& kernel, const Density& density, const Team& team,
                            std::int64_t slot, double* x, double* g, double* work) {
  const int d = dimension_of(density);
  KILN_UNROLL
  for (int i = team.rank(); i < d; i += team.size()) x[i] = kernel.position(i, slot);
  team.sync();
  EnergyParts e;
  if (kernel.gradient.data != nullptr) {
    e = density.template evaluate<Want::both>(team, DensityPoint{x, kernel.weights, g, work});
    KILN_UNROLL
    for (int i = team.rank(); i < d; i += team.size()) kernel.gradient(i, slot) = g[i];
  } else {
    e = density.template evaluate<Want::energy>(team,
                                                DensityPoint{x, kernel.weights, nullptr, work});
  }
  if (team.rank() != 0) return;
  const double total = e.total();
  kernel.energy[slot] = total == total ? total : exact::infinity();
  if (kernel.base) kernel.base[slot] = e.base;
  if (kernel.term) kernel.term[slot] = e.term;
  if (kernel.forget_gradient) {
    kernel.forget_gradient[slot] = exact::not_a_number();
  }
}

}  // namespace hmc

template <class Density, class Team>
KILN_HD void DensityEnergy::run(const Density& target, const Team& team, std::int64_t slot,
                                double* memory) const {
  if (!active(slot)) return;
  const int d = dimension_of(target);
  hmc::density_energy(*this, target, team, slot, memory, memory + d, memory + 2 * d);
}

template <class Density>
KILN_HD void DensityEnergy::run_in_registers(const Density& target, std::int64_t slot,
                                             double* work) const {
  if (!active(slot)) return;
  double x[thread_vector_length<Density>], g[thread_vector_length<Density>];
  hmc::density_energy(*this, target, SingleTeam{}, slot, x, g, work);
}

}  // namespace kiln
