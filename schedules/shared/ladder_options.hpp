// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "kiln/kernels/exchange/ladder_update.hpp"
#include "kiln/kernels/exchange/replica_swap.hpp"
#include "kiln/options.hpp"

#include "complaints.hpp"

// What the options of all schedules with ladders have in common: their table, what is wrong with
// them, and what they mean to the kernels. `O` has the members of ParallelTemperingOptions from
// `rungs` to `exchange`.
namespace kiln::ladder {

inline constexpr double huge = std::numeric_limits<double>::max();
inline constexpr std::int64_t many = std::int64_t{1} << 53;

/// Which rungs there are.
template <class O>
OptionTable<O>& add_rungs(OptionTable<O>& table) {
  return table
      .integer("rungs", &O::rungs, {0, ReplicaSwap::max_rungs, Automatic{0}}, "",
               "Temperatures of a ladder, and so replicas; 0 guesses from the number of "
               "variables. The result says how many the problem wants: about 2 barriers + 1.")
      .real("beta_min", &O::beta_min, {0, huge, Automatic{0}}, "1/energy",
            "Inverse temperature of the hottest rung; 0 chooses the hottest that the rungs can "
            "carry for a posterior, else one at which most moves are accepted.")
      .real("beta_max", &O::beta_max, {0, huge, Automatic{0}}, "1/energy",
            "Inverse temperature of the coldest rung; 0 takes 1 for a posterior, else one at which "
            "few uphill moves are left.")
      .choice("ladder", &O::ladder, {"adaptive", "geometric", "linear", "list"},
              "How the rungs lie between the ends. Adaptive begins geometric and moves them in "
              "rounds until all neighbours exchange equally often.")
      .reals("betas", &O::betas, {0, huge}, "1/energy", "none",
             "Inverse temperatures for ladder=list, the hottest first, each greater than the one "
             "before.");
}

/// When and how they exchange.
template <class O>
OptionTable<O>& add_exchange(OptionTable<O>& table) {
  return table
      .integer("burn_in", &O::burn_in, {-1, many, Automatic{-1}}, "sweeps",
               "Sweeps in which the ladder adapts and nothing is measured; -1 takes a quarter "
               "of --sweeps, or 2000.")
      .integer("adaptation_rounds", &O::adaptation_rounds, {1, 40}, "",
               "Rounds of the burn-in, each twice as long as the one before; fewer if the "
               "burn-in is too short for them.")
      .integer("sweeps_per_swap", &O::sweeps_per_swap, {1, 4096}, "sweeps",
               "Sweeps between two swap phases, or between two looks at the cadence.")
      .choice("pairs", &O::pairs, {"even_odd", "random_adjacent", "sequential", "all_pairs"},
              "Which rungs try to swap in a phase. Even and odd pairs in turn carry replicas "
              "straight along the ladder; the others are for comparison.")
      .choice("cadence", &O::cadence, {"fixed", "adaptive", "stochastic"},
              "When there is a swap phase: at every look, at an interval that adapts during "
              "the burn-in, or with swap_probability.")
      .integer("interval_min", &O::interval_min, {1, many}, "looks",
               "Shortest interval of the adaptive cadence.")
      .integer("interval_max", &O::interval_max, {1, many}, "looks",
               "Longest interval of the adaptive cadence.")
      .real("swap_target", &O::swap_target, {0, 1}, "",
            "Acceptance rate of swaps that the adaptive cadence aims at.")
      .real("swap_gain", &O::swap_gain, {1, huge}, "",
            "Factor by which the adaptive cadence changes its interval.")
      .integer("swap_window", &O::swap_window, {1, many}, "phases",
               "Swap phases between two changes of the interval.")
      .real("swap_probability", &O::swap_probability, {0, 1}, "",
            "Probability of a swap phase with the stochastic cadence.")
      .choice("exchange", &O::exchange, {"index", "state"},
              "What changes places: the rung numbers of two slots, or what the slots hold, so "
              "that each keeps its rung. The answer is the same to the bit.");
}

/// Complaints that every schedule with ladders has about its range and its exchange.
template <class O>
std::vector<std::string> complaints_about(const O& o) {
  std::vector<std::string> all = O::table().validate(o);
  complain_about_betas(all, o);
  if (o.ladder != "list" && !o.betas.empty()) all.push_back("betas need ladder=list");
  if (o.betas.size() > static_cast<std::size_t>(ReplicaSwap::max_rungs)) {
    all.push_back("a ladder has at most 1024 rungs");
  }
  if (!o.betas.empty() && o.rungs > 0 && static_cast<std::size_t>(o.rungs) != o.betas.size()) {
    all.push_back("rungs must equal the number of betas, or be left out");
  }
  complain_unless_ordered(all, "interval_min", static_cast<double>(o.interval_min), "interval_max",
                          static_cast<double>(o.interval_max));
  return all;
}

/// Whether each value is greater than the one before.
inline bool rises(const std::vector<double>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end();
}

PairMode mode_of(const std::string& pairs);
CadenceKind kind_of(const std::string& cadence);

template <class O>
SwapCadence cadence_of(const O& o) {
  SwapCadence cadence;
  cadence.kind = kind_of(o.cadence);
  cadence.least = static_cast<double>(o.interval_min);
  cadence.most = static_cast<double>(o.interval_max);
  if (cadence.kind == CadenceKind::adaptive) cadence.interval = cadence.least;
  cadence.target = o.swap_target;
  cadence.factor = o.swap_gain;
  cadence.window = o.swap_window;
  cadence.burn_in = static_cast<std::uint64_t>(o.burn_in);
  cadence.probability = o.swap_probability;
  return cadence;
}

/// Ticks that a burn-in takes: the one in which it ends is part of it.
std::int64_t burn_in_ticks(std::int64_t sweeps, std::int64_t sweeps_per_tick);

/// Rounds of n, 2 n, 4 n, ... ticks, and what is left of the burn-in without moves.
LadderPlan plan_rounds(std::int64_t ticks, std::int64_t max_rounds, bool moves);

inline constexpr std::int64_t default_burn_in = 2000;
std::int64_t guess_rungs(std::int64_t variables);

/// Values from one end to the other, both met exactly, at equal steps or equal factors. A single
/// one is `last`.
std::vector<double> equal_steps(double first, double last, std::int64_t n);
std::vector<double> equal_factors(double first, double last, std::int64_t n);

}  // namespace kiln::ladder
