// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/view_bytes.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/run/draw_ids.hpp"
#include "kiln/kernels/sweeps/categorical_model.hpp"
#include "kiln/kernels/sweeps/coloring_view.hpp"

namespace kiln {

/// Makes one Metropolis sweep of every replica of a colouring with a given number of colours, at
/// the replica's temperature.
///
/// Every vertex is tried once, in order: other_value() of the proposing word is taken if
/// exact::accept(beta, conflicts there - conflicts here, deciding word). Words are those of
/// CategoricalSweep, with the vertex as index. A team of threads works on one replica. Class E;
/// energies are updated exactly.
/// @par Source  Metropolis et al., J. Chem. Phys. 21 (1953) 1087.
struct KILN_API ColoringSweep {
  static constexpr const char* name = "coloring_sweep";
  static constexpr const char* summary =
      "makes one Metropolis sweep of every replica of a colouring problem";
  static constexpr std::uint8_t decide_block = 0;
  static constexpr std::uint8_t propose_block = 1;

  ColoringView model;                 ///< with a given number of colours
  View2<std::int32_t> state;          ///< [vertex][slot], updated in place
  View1<double> energy;               ///< [slots]
  View1<std::uint64_t> accepted;      ///< [slots], changes are added
  View1<const double> beta;           ///< [rungs], 1/energy; may be +inf
  View1<const std::int32_t> rung_of;  ///< [slots]
  DrawIds draw_ids;
  double inverse_scale = 1;
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;
  View1<const std::uint32_t> active_rungs = {};  ///< [rungs], slots of rungs with 0 are left alone

  double bytes() const {
    return model.bytes() + 2 * bytes_of(state) + 2 * bytes_of(energy) + 2 * bytes_of(accepted) +
           bytes_of(rung_of) + draw_ids.bytes();
  }
  template <class Team>
  KILN_HD void operator()(const Team& team, std::int64_t slot) const {
    if (!control->active(step_offset)) return;
    if (active_rungs && active_rungs[rung_of[slot]] == 0) return;
    const double cold = exact::mul(beta[rung_of[slot]], inverse_scale);
    DrawName decide = draw_ids.at(slot, control->step + step_offset, RngDomain::metropolis);
    DrawName propose = decide;
    decide.block = decide_block;
    propose.block = propose_block;
    double total = 0;
    std::uint64_t changed = 0;
    for (std::int32_t v = 0; v < model.vertices; ++v) {
      const auto index = static_cast<std::uint32_t>(v);
      const std::int32_t own = state(v, slot);
      const std::int32_t to = other_value(own, model.values, draw_word(propose, index));
      const double rise = team.sum(change(team, slot, v, own, to));  // all have read the colour
      if (!exact::accept(cold, rise, draw_word(decide, index))) continue;
      if (team.rank() == 0) state(v, slot) = to;
      team.sync();
      total += rise;
      ++changed;
    }
    if (team.rank() != 0) return;
    energy[slot] += total;
    accepted[slot] += changed;
  }

 private:
  /// The change of the conflicts, over the neighbours of this thread.
  template <class Team>
  KILN_HD double change(const Team& team, std::int64_t slot, std::int32_t v, std::int32_t own,
                        std::int32_t to) const {
    std::int32_t rise = 0;
    const std::int64_t end = model.row_begin[v + 1];
    for (std::int64_t e = model.row_begin[v] + team.rank(); e < end; e += team.size()) {
      const std::int32_t other = state(model.neighbor[e], slot);
      rise += (other == to ? 1 : 0) - (other == own ? 1 : 0);
    }
    return static_cast<double>(rise);
  }
};

}  // namespace kiln
