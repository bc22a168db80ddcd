// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/sweeps/categorical_model.hpp"

namespace kiln {

/// Computes energies of all replicas of a Potts model from their states.
///
/// energy = (sum over sites, in site order, of 2 h(x) + sum of the weights of equal neighbours) /
/// 2; the inner sum is in the order of the row, in double, and comes first. Partial sums are formed
/// over blocks of `sites_per_part` sites and added in order. Class E for integral models (up to
/// 2^52: every coupling is summed twice) and, because the order is fixed, for real weights too.
struct KILN_API CategoricalEnergy {
  static constexpr const char* name = "categorical_energy";
  static constexpr const char* summary =
      "computes the energy of every replica of a Potts model from the state";
  static constexpr std::int32_t sites_per_part = 64;

  CategoricalView model;
  View2<const std::int8_t> state;     ///< [variable][slot]
  View1<double> energy;               ///< [slots], overwritten
  View1<const std::int32_t> rung_of;  ///< [slots]
  View1<const std::uint32_t>
      active_rungs;                     ///< [rungs], slots of rungs with 0 are skipped; empty: all
  const RunControl* control = nullptr;  ///< nothing is done once stopped; null: always

  KILN_HD bool selects(std::int64_t slot) const {
    return !active_rungs || active_rungs[rung_of[slot]] != 0;
  }
};

}  // namespace kiln
