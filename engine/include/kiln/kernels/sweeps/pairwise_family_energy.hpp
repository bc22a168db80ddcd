// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/sweeps/pairwise_family_model.hpp"

namespace kiln {

/// Computes energies of all replicas of a family of pairwise models: those of A and of B, and A +
/// lambda B for the lambda of the problem.
///
/// A = (sum over sites, in site order, of s_i (h_i + local field_i)) / 2, likewise B; partial sums
/// are formed over blocks of `sites_per_part` sites and added in order. Class E, because the order
/// is fixed, for real coefficients too; integers are exact up to 2^52.
struct KILN_API PairwiseFamilyEnergy {
  static constexpr const char* name = "pairwise_family_energy";
  static constexpr const char* summary =
      "computes the energies A, B and A + lambda B of every replica of a family of pairwise models";
  static constexpr std::int32_t sites_per_part = 64;

  PairwiseFamilyView model;
  View2<const std::uint32_t> state;   ///< packed32 [variable][word]
  View1<double> energy;               ///< [slots], of the problem, overwritten
  View1<double> base;                 ///< [slots], A, overwritten
  View1<double> term;                 ///< [slots], B, overwritten
  View1<const std::int32_t> rung_of;  ///< [slots]
  View1<const std::uint32_t>
      active_rungs;                     ///< [rungs], slots of rungs with 0 are skipped; empty: all
  const RunControl* control = nullptr;  ///< nothing is done once stopped; null: always

  KILN_HD bool selects(std::int64_t slot) const {
    return !active_rungs || active_rungs[rung_of[slot]] != 0;
  }
  KILN_HD void write(std::int64_t slot, double twice_base, double twice_term) const {
    const double a = exact::mul(0.5, twice_base), b = exact::mul(0.5, twice_term);
    base[slot] = a;
    term[slot] = b;
    energy[slot] = PairwiseFamilyView::combine(a, b, model.target);
  }
};

}  // namespace kiln
