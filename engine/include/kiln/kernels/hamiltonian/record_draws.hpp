// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/hamiltonian/chain_state.hpp"

namespace kiln {

/// Streaming moments of every chain, in both halves of the draws: [2][dimension][chains].
struct ChainMoments {
  View1<double> mean;
  View1<double> square;  ///< sum of squares about the mean
};

/// Changes of the Hamiltonian of each kept chain from draw to draw, including those between kept
/// draws: [kept]. Steps over squares is the chain's E-BFMI.
struct HamiltonianMoments {
  View1<double> last, mean;
  View1<double> square;  ///< sum of squares about the mean
  View1<double> steps;   ///< sum of squared differences between consecutive values
};

/// Kept draws, [capacity][...][kept].
struct DrawTrace {
  std::int64_t kept = 0;                            ///< chains, the first of all
  std::int64_t capacity = 0;                        ///< draws of each
  std::int64_t thin = 1;                            ///< transitions from one to the next
  View1<double> position;                           ///< [capacity][dimension][kept]
  View1<double> energy, hamiltonian, acceptance;    ///< [capacity][kept]
  View1<std::int32_t> leapfrogs, depth, divergent;  ///< [capacity][kept]
};

/// Adds the draw of every chain to its moments after a transition, and to the trace if it is kept.
/// Draws of warmup are ignored. Class E.
struct KILN_API RecordDraws {
  static constexpr const char* name = "record_draws";
  static constexpr const char* summary =
      "adds the draw of every chain to the moments of the chain, and each kept draw to the trace";

  ChainPools pools;
  std::int64_t pool = 0;     ///< the recorded pool
  std::uint64_t warmup = 0;  ///< number of warmup transitions, which do not count
  std::uint64_t half = 0;    ///< draws of the first half of the moments
  std::int64_t dimension = 0;
  View2<const double> position;  ///< [dimension][slots]
  View1<const double> energy;    ///< [slots]
  TransitionStatistics statistics;
  ChainMoments moments;
  DrawTrace trace;
  HamiltonianMoments hamiltonians;
  View1<std::uint64_t> gradients;         ///< [members], after warmup
  View1<std::uint64_t> warmup_gradients;  ///< [members]
  View1<std::uint64_t> divergences;       ///< [members], after warmup
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;

  /// Element `index` of [dimension][members].
  KILN_HD void operator()(std::int64_t index) const {
    if (!control->active(step_offset)) return;
    const std::uint64_t step = control->step + step_offset;
    const std::int64_t i = index / pools.members, chain = index % pools.members;
    const std::int64_t slot = pools.slot(pool, chain);
    const bool warm = step < warmup;
    if (i == 0) count(chain, slot, warm);
    if (warm) return;
    const std::uint64_t draw = step - warmup;
    if (i == 0 && chain < trace.kept) add_hamiltonian(chain, draw, statistics.hamiltonian[slot]);
    const double x = position(i, slot);
    add(index, draw, x);
    const auto thin = static_cast<std::uint64_t>(trace.thin);
    const auto place = static_cast<std::int64_t>(draw / thin);
    if (chain >= trace.kept || draw % thin != 0 || place >= trace.capacity) return;
    trace.position[(place * dimension + i) * trace.kept + chain] = x;
    if (i == 0) keep(place * trace.kept + chain, slot);
  }

  /// Adds coordinate `index`, of [dimension][members], of a draw, from 0, to the moments.
  KILN_HD void add(std::int64_t index, std::uint64_t draw, double x) const {
    const bool first = draw < half;
    const std::int64_t at = first ? index : dimension * pools.members + index;
    const double n = static_cast<double>(first ? draw + 1 : draw - half + 1);
    const double from_old = x - moments.mean[at];
    const double mean = moments.mean[at] + from_old / n;
    moments.mean[at] = mean;
    moments.square[at] += from_old * (x - mean);
  }

 private:
  KILN_HD void count(std::int64_t chain, std::int64_t slot, bool warm) const {
    const auto spent = static_cast<std::uint64_t>(statistics.leapfrogs[slot]);
    if (warm) {
      warmup_gradients[chain] += spent;
      return;
    }
    gradients[chain] += spent;
    divergences[chain] += static_cast<std::uint64_t>(statistics.divergent[slot]);
  }

  KILN_HD void add_hamiltonian(std::int64_t chain, std::uint64_t draw, double h) const {
    if (draw > 0) {
      const double step = h - hamiltonians.last[chain];
      hamiltonians.steps[chain] += step * step;
    }
    hamiltonians.last[chain] = h;
    const double from_old = h - hamiltonians.mean[chain];
    const double mean = hamiltonians.mean[chain] + from_old / static_cast<double>(draw + 1);
    hamiltonians.mean[chain] = mean;
    hamiltonians.square[chain] += from_old * (h - mean);
  }

  KILN_HD void keep(std::int64_t at, std::int64_t slot) const {
    trace.energy[at] = energy[slot];
    trace.hamiltonian[at] = statistics.hamiltonian[slot];
    trace.acceptance[at] = statistics.acceptance[slot];
    trace.leapfrogs[at] = statistics.leapfrogs[slot];
    trace.depth[at] = statistics.depth[slot];
    trace.divergent[at] = statistics.divergent[slot];
  }
};

}  // namespace kiln
