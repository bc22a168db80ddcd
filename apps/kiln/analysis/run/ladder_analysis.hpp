// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/backend.hpp"
#include "kiln/information/information_map.hpp"

#include "analysis/run/run_options.hpp"
#include "analysis/run/run_series.hpp"

namespace kiln::cli {

/// What a rung remembers of its energies.
struct RungMemory {
  double sweeps = 0;  ///< integrated autocorrelation time; NaN: the energy does not change
  InformationEstimate storage;  ///< what an energy says of the next one, an epoch later
};

/// The ladders of a tempering run: transfer entropies of energies between neighbouring rungs, an
/// epoch apart, all ladders together.
struct LadderAnalysis {
  std::int64_t ladders = 0, rungs = 0;
  std::int64_t epochs = 0, first_sweep = 0, sweeps_apart = 0;  ///< that the estimates are of
  bool is_early = false;    ///< later epochs, which are further apart, are left out
  bool is_thinned = false;  ///< the file has epochs that are closer together, too few of them
  std::vector<InformationLink> up;    ///< [gap], rung r says of rung r + 1
  std::vector<InformationLink> down;  ///< [gap], rung r + 1 says of rung r
  std::vector<RungMemory> memory;     ///< [rung]

  /// That no information flows anywhere in the ladder, from all links together (Stouffer's sum of
  /// normal scores): of many links that are each too weak to stand out.
  double p_value = 1;

  std::int64_t significant_links() const;
  std::int64_t last_sweep() const { return first_sweep + (epochs - 1) * sweeps_apart; }
};

/// The flow and the memory of rungs. @param series  of a run on ladders, two rungs or more
LadderAnalysis analyze_ladder(const ReplicaSeries& series, const RunAnalysisOptions& options,
                              Backend& backend);

/// Epochs below which analyze_ladder() has nothing to say.
constexpr std::int64_t min_epochs = 64;

}  // namespace kiln::cli
