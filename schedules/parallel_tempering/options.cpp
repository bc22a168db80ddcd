// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "kiln/schedules/parallel_tempering.hpp"

namespace kiln {

const OptionTable<ParallelTemperingOptions>& ParallelTemperingOptions::table() {
  using O = ParallelTemperingOptions;
  constexpr double huge = std::numeric_limits<double>::max();
  constexpr std::int64_t many = std::int64_t{1} << 53;
  static const auto table =
      OptionTable<O>()
          .integer("rungs", &O::rungs, 0, ReplicaSwap::max_rungs, "", "0 .. 1024", "automatic",
                   "Temperatures of a ladder, and so replicas; 0 guesses from the number of "
                   "variables. The result says how many the problem wants: about 2 barriers + 1.")
          .real("beta_min", &O::beta_min, 0, huge, "1/energy", ">= 0", "automatic",
                "Inverse temperature of the hottest rung; 0 chooses one at which most moves are "
                "accepted.")
          .real("beta_max", &O::beta_max, 0, huge, "1/energy", ">= 0", "automatic",
                "Inverse temperature of the coldest rung; 0 chooses one at which few uphill moves "
                "are left.")
          .choice("ladder", &O::ladder, {"adaptive", "geometric", "linear", "list"}, "adaptive",
                  "How the rungs lie between the ends. Adaptive begins geometric and moves them in "
                  "rounds until all neighbours exchange equally often.")
          .reals("betas", &O::betas, 0, huge, "1/energy",
                 "a comma-separated list, each >= 0 and greater than the one before", "none",
                 "Inverse temperatures for ladder=list, the hottest first.")
          .integer("burn_in", &O::burn_in, -1, many, "sweeps", ">= -1", "automatic",
                   "Sweeps in which the ladder adapts and nothing is measured; -1 takes a quarter "
                   "of --sweeps, or 2000.")
          .integer("adaptation_rounds", &O::adaptation_rounds, 1, 40, "", "1 .. 40", "6",
                   "Rounds of the burn-in, each twice as long as the one before; fewer if the "
                   "burn-in is too short for them.")
          .integer("sweeps_per_swap", &O::sweeps_per_swap, 1, 4096, "sweeps", "1 .. 4096", "1",
                   "Sweeps between two swap phases, or between two looks at the cadence.")
          .choice("pairs", &O::pairs, {"even_odd", "random_adjacent", "sequential", "all_pairs"},
                  "even_odd",
                  "Which rungs try to swap in a phase. Even and odd pairs in turn carry replicas "
                  "straight along the ladder; the others are for comparison.")
          .choice("cadence", &O::cadence, {"fixed", "adaptive", "stochastic"}, "fixed",
                  "When there is a swap phase: at every look, at an interval that adapts during "
                  "the burn-in, or with swap_probability.")
          .integer("interval_min", &O::interval_min, 1, many, "looks", ">= 1", "1",
                   "Shortest interval of the adaptive cadence.")
          .integer("interval_max", &O::interval_max, 1, many, "looks", ">= 1", "64",
                   "Longest interval of the adaptive cadence.")
          .real("swap_target", &O::swap_target, 0, 1, "", "0 .. 1", "0.23",
                "Acceptance rate of swaps that the adaptive cadence aims at.")
          .real("swap_gain", &O::swap_gain, 1, huge, "", ">= 1", "1.25",
                "Factor by which the adaptive cadence changes its interval.")
          .integer("swap_window", &O::swap_window, 1, many, "phases", ">= 1", "20",
                   "Swap phases between two changes of the interval.")
          .real("swap_probability", &O::swap_probability, 0, 1, "", "0 .. 1", "1",
                "Probability of a swap phase with the stochastic cadence.")
          .choice("cluster_moves", &O::cluster_moves, {"automatic", "on", "off"}, "automatic",
                  "Isoenergetic cluster moves between the replicas of two ladders at equal "
                  "temperature. Automatic has them for pairwise models whose variables have at "
                  "most 6 neighbours on average; rungs where clusters percolate are closed.")
          .integer("cluster_interval", &O::cluster_interval, 1, INT32_MAX, "looks", ">= 1", "10",
                   "Looks (see sweeps_per_swap) between two cluster moves.");
  return table;
}

}  // namespace kiln
