// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/sweeps/coloring_view.hpp"

namespace kiln {

/// Computes energies of all replicas of a colouring from their states: see
/// ColoringView::energy_of(). A team of threads works on one replica. Sums of integers below 2^53:
/// class E.
struct KILN_API ColoringEnergy {
  static constexpr const char* name = "coloring_energy";
  static constexpr const char* summary =
      "computes the energy of every colouring: the number of conflicts or the number of colours";

  ColoringView model;
  View2<const std::int32_t> state;    ///< [vertex][slot]
  View1<double> energy;               ///< [slots], overwritten
  View1<const std::int32_t> rung_of;  ///< [slots]
  View1<const std::uint32_t>
      active_rungs;                     ///< [rungs], slots of rungs with 0 are skipped; empty: all
  const RunControl* control = nullptr;  ///< nothing is done once stopped; null: always

  template <class Team>
  KILN_HD void operator()(const Team& team, std::int64_t slot) const {
    if (control != nullptr && !control->active(0)) return;
    if (active_rungs && active_rungs[rung_of[slot]] == 0) return;
    std::int64_t equal = 0;  // of both directions
    std::int32_t most = 0;
    for (std::int32_t v = team.rank(); v < model.vertices; v += team.size()) {
      const std::int32_t own = state(v, slot);
      if (own > most) most = own;
      for (std::int64_t e = model.row_begin[v]; e < model.row_begin[v + 1]; ++e) {
        equal += state(model.neighbor[e], slot) == own ? 1 : 0;
      }
    }
    const double ends = team.sum(static_cast<double>(equal));
    const double colors = 1 - team.least(-static_cast<double>(most));
    if (team.rank() != 0) return;
    energy[slot] =
        model.energy_of(static_cast<std::int64_t>(ends) / 2, static_cast<std::int32_t>(colors));
  }
};

}  // namespace kiln
