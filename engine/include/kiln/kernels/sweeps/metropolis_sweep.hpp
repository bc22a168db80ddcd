// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/view_bytes.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/run/draw_ids.hpp"
#include "kiln/kernels/sweeps/draw_naming.hpp"
#include "kiln/kernels/sweeps/pairwise_model.hpp"
#include "kiln/kernels/sweeps/sweep_rule.hpp"

namespace kiln {

/// Makes one Metropolis sweep of every replica of a pairwise spin model at the replica's
/// temperature.
///
/// Every site of the model is tried once, in site order: with dE = -2 s_i (h_i + sum_j J_ij s_j)
/// the spin is flipped if dE <= 0 or r < floor(2^32 exp(-beta dE)), r a 32-bit word named by (key
/// of the slot, sweep, replica of the slot, site): with DrawNaming::words that of
/// RngDomain::metropolis, with the other namings that of draw_named(). exp is exact::exp in
/// double. By SweepRule::heat_bath it is flipped if r < floor(2^32 / (1 + exp(beta dE))). A beta
/// that is no number counts as infinity.
///
/// Class E: same states on every backend, for every launch shape and number of threads. Energies
/// are updated exactly if the model is integral, and left alone otherwise (then launch
/// PairwiseEnergy).
/// @par Source  Metropolis et al., J. Chem. Phys. 21 (1953) 1087; Glauber, J. Math. Phys. 4 (1963)
/// 294, for the heat bath.
struct KILN_API MetropolisSweep {
  static constexpr const char* name = "metropolis_sweep";
  static constexpr const char* summary =
      "makes one Metropolis or heat-bath sweep of every replica of a pairwise model";

  PairwiseView model;
  View2<std::uint32_t> state;         ///< packed32 [variable][word], updated in place
  View1<double> energy;               ///< [slots], stored units; integral models only
  View1<std::uint64_t> accepted;      ///< [slots], accepted flips are added; may be empty
  View1<const double> beta;           ///< [rungs], 1/energy in the user's units; may be +inf or NaN
  View1<const std::int32_t> rung_of;  ///< [slots]
  DrawIds draw_ids;                   ///< [slots], identity of the draws of each slot
  double inverse_scale = 1;           ///< 1 / (stored energy per unit of the user's energy)
  const RunControl* control = nullptr;  ///< step and stop flag
  std::uint32_t step_offset = 0;        ///< number of the sweep within the tick
  SweepRule rule = SweepRule::metropolis;
  View1<const std::uint32_t> active_rungs =
      {};  ///< [rungs], slots of rungs with 0 are left alone; empty: all

  std::uint32_t sweeps = 1;  ///< in a row
  std::int64_t beta_stride =
      0;  ///< sweep s uses the betas from s * beta_stride on; 0: all the same
  /// Planes and shared noise are fast where each word of 32 slots has one key, one rung and
  /// replicas 32 k .. 32 k + 31 in order.
  DrawNaming naming = DrawNaming::words;
  /// Whether the energies are those of the states. A kernel may then evaluate new energies instead
  /// of adding up changes; both are exact.
  bool energies_hold = false;

  /// Model and identities once, states and energies there and back, however many sweeps.
  double bytes() const {
    return model.bytes() + 2 * bytes_of(state) + 2 * bytes_of(energy) + 2 * bytes_of(accepted) +
           bytes_of(rung_of) + draw_ids.bytes();
  }
  KILN_HD std::uint64_t number_of(std::uint32_t sweep) const { return step_offset + sweep; }
  KILN_HD View1<const double> beta_of(std::uint32_t sweep) const {
    return {beta.data + sweep * beta_stride, beta.size};
  }
  /// One of the sweeps in a row.
  KILN_HD MetropolisSweep only(std::uint32_t sweep) const {
    MetropolisSweep one = *this;
    one.beta = beta_of(sweep);
    one.step_offset += sweep;
    one.sweeps = 1;
    return one;
  }
  KILN_HD bool rests(std::int64_t slot) const {
    return active_rungs.size > 0 && active_rungs[rung_of[slot]] == 0;
  }
};

}  // namespace kiln
