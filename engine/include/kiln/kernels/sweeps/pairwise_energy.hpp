// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/view_bytes.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/sweeps/pairwise_model.hpp"

namespace kiln {

/// Computes energies of all replicas of a pairwise model from their states.
///
/// energy = (sum over sites, in site order, of s_i (h_i + local field_i)) / 2, local field_i as in
/// PairwiseView; partial sums are formed over blocks of `sites_per_part` sites and added in order.
/// Class E for integral models (up to 2^52: every coupling is summed twice) and, because the order
/// is fixed, for real weights too.
struct KILN_API PairwiseEnergy {
  static constexpr const char* name = "pairwise_energy";
  static constexpr const char* summary =
      "computes the energy of every replica of a pairwise model from the state";
  static constexpr std::int32_t sites_per_part = 64;

  PairwiseView model;
  View2<const std::uint32_t> state;   ///< packed32 [variable][word]
  View1<double> energy;               ///< [slots], overwritten
  View1<const std::int32_t> rung_of;  ///< [slots]
  View1<const std::uint32_t>
      active_rungs;                     ///< [rungs], slots of rungs with 0 are skipped; empty: all
  const RunControl* control = nullptr;  ///< nothing is done once stopped; null: always

  double bytes() const { return model.bytes() + bytes_of(state) + bytes_of(energy); }
};

}  // namespace kiln
