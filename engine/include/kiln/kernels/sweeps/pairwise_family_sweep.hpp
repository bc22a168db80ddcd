// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/view_bytes.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/run/draw_ids.hpp"
#include "kiln/kernels/sweeps/pairwise_family_model.hpp"
#include "kiln/kernels/sweeps/sweep_rule.hpp"

namespace kiln {

/// Makes one sweep of every replica of a family of pairwise models, at the replica's temperature
/// and member lambda.
///
/// Every site is tried once, in site order, as metropolis_sweep does and with the same words:
/// dE = dA + lambda dB with dA = -2 s_i a_i, dB = -2 s_i b_i and a_i, b_i the local fields of both
/// models.
///
/// Class E, for real coefficients too. Energies are left alone: launch PairwiseFamilyEnergy.
/// @par Source  Metropolis et al., J. Chem. Phys. 21 (1953) 1087; Glauber, J. Math. Phys. 4 (1963)
/// 294, for the heat bath.
struct KILN_API PairwiseFamilySweep {
  static constexpr const char* name = "pairwise_family_sweep";
  static constexpr const char* summary =
      "makes one sweep of every replica of a family of pairwise models";

  PairwiseFamilyView model;
  SweepRule rule = SweepRule::metropolis;
  View2<std::uint32_t> state;           ///< packed32 [variable][word], updated in place
  View1<std::uint64_t> accepted;        ///< [slots], accepted flips are added; may be empty
  View1<const double> beta;             ///< [rungs], 1/energy in the user's units; may be +inf
  View1<const double> parameter;        ///< [rungs], lambda; empty: that of the problem
  View1<const std::int32_t> rung_of;    ///< [slots]
  DrawIds draw_ids;                     ///< [slots], identity of the draws of each slot
  double inverse_scale = 1;             ///< 1 / (stored energy per unit of the user's energy)
  const RunControl* control = nullptr;  ///< step and stop flag
  std::uint32_t step_offset = 0;        ///< number of the sweep within the tick
  View1<const std::uint32_t> active_rungs =
      {};  ///< [rungs], slots of rungs with 0 are left alone; empty: all

  double bytes() const {
    return model.bytes() + 2 * bytes_of(state) + 2 * bytes_of(accepted) + bytes_of(rung_of) +
           draw_ids.bytes();
  }
  KILN_HD bool rests(std::int64_t slot) const {
    return active_rungs.size > 0 && active_rungs[rung_of[slot]] == 0;
  }
  KILN_HD DrawName draws(std::int64_t slot) const {
    return draw_ids.at(slot, control->step + step_offset, RngDomain::metropolis);
  }
  KILN_HD double beta_of(std::int64_t slot) const {
    return exact::mul(beta[rung_of[slot]], inverse_scale);
  }
  KILN_HD double parameter_of(std::int64_t slot) const {
    return parameter ? parameter[rung_of[slot]] : model.target;
  }
  /// Whether a spin is flipped, from its local fields in A and B.
  KILN_HD bool flips(double base, double term, bool down, double beta_now, double lambda,
                     std::uint32_t word) const {
    const double local = PairwiseFamilyView::combine(base, term, lambda);
    const double delta = down ? exact::mul(2.0, local) : exact::mul(-2.0, local);
    return rule == SweepRule::heat_bath ? exact::accept_heat_bath(beta_now, delta, word)
                                        : exact::accept(beta_now, delta, word);
  }
};

}  // namespace kiln
