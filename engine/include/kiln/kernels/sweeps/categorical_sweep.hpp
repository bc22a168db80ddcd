// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/view_bytes.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/run/draw_ids.hpp"
#include "kiln/kernels/sweeps/categorical_model.hpp"
#include "kiln/kernels/sweeps/sweep_rule.hpp"

namespace kiln {

/// Makes one sweep of every replica of a Potts model at the replica's temperature.
///
/// Every site of the model is tried once, in site order. Words are named by (key of the slot,
/// RngDomain::metropolis, sweep, replica of the slot, site), those of `decide_block` and
/// `propose_block` are independent.
/// * SweepRule::metropolis: other_value() of the proposing word is proposed and taken if
///   exact::accept(beta, local energy there - local energy here, deciding word).
/// * SweepRule::heat_bath: the new value is draw_value() of the local energies and the deciding
///   word.
///
/// Class E: same states on every backend, for every launch shape and number of threads. Energies
/// are updated exactly if the model is integral, and left alone otherwise (then launch
/// CategoricalEnergy).
/// @par Source  Potts, Proc. Camb. Phil. Soc. 48 (1952) 106; Metropolis et al., J. Chem. Phys. 21
///   (1953) 1087; Geman and Geman, IEEE Trans. PAMI 6 (1984) 721.
struct KILN_API CategoricalSweep {
  static constexpr const char* name = "categorical_sweep";
  static constexpr const char* summary =
      "makes one Metropolis or heat-bath sweep of every replica of a Potts model";
  static constexpr std::uint8_t decide_block = 0;
  static constexpr std::uint8_t propose_block = 1;

  CategoricalView model;
  SweepRule rule = SweepRule::metropolis;
  View2<std::int8_t> state;             ///< [variable][slot], updated in place
  View1<double> energy;                 ///< [slots], stored units; integral models only
  View1<std::uint64_t> accepted;        ///< [slots], changes of a value are added; may be empty
  View1<const double> beta;             ///< [rungs], 1/energy in the user's units; may be +inf
  View1<const std::int32_t> rung_of;    ///< [slots]
  DrawIds draw_ids;                     ///< [slots], identity of the draws of each slot
  double inverse_scale = 1;             ///< 1 / (stored energy per unit of the user's energy)
  const RunControl* control = nullptr;  ///< step and stop flag
  std::uint32_t step_offset = 0;        ///< number of the sweep within the tick
  View1<const std::uint32_t> active_rungs =
      {};  ///< [rungs], slots of rungs with 0 are left alone; empty: all

  double bytes() const {
    return model.bytes() + 2 * bytes_of(state) + 2 * bytes_of(energy) + 2 * bytes_of(accepted) +
           bytes_of(rung_of) + draw_ids.bytes();
  }
  KILN_HD bool rests(std::int64_t slot) const {
    return active_rungs.size > 0 && active_rungs[rung_of[slot]] == 0;
  }
  KILN_HD DrawName draws(std::int64_t slot, std::uint8_t block) const {
    DrawName draw = draw_ids.at(slot, control->step + step_offset, RngDomain::metropolis);
    draw.block = block;
    return draw;
  }
  KILN_HD double beta_of(std::int64_t slot) const {
    return exact::mul(beta[rung_of[slot]], inverse_scale);
  }
};

}  // namespace kiln
