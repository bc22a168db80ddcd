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
/// @param order_of_betas  the rule for neighbouring values of `betas`
template <class O>
OptionTable<O>& add_rungs(
    OptionTable<O>& table,
    const std::string& order_of_betas = "Each value must be greater than the value before.") {
  return table
      .integer("rungs", &O::rungs, {0, ReplicaSwap::max_rungs, Automatic{0}}, "",
               "Number of rungs of a ladder; each rung has one replica.",
               "Automatic (0) takes the number of values of ladder=list. For other ladders "
               "automatic derives the number from the number of variables. The result reports the "
               "sufficient number of rungs: about 2 Lambda + 1, where Lambda is the sum of the "
               "swap rejection rates.")
      .real("beta_min", &O::beta_min, {0, huge, Automatic{0}}, "1/energy",
            "Inverse temperature of the hottest rung.",
            "Automatic (0) chooses a value at which most moves are accepted. For a posterior or a "
            "density, automatic estimates the smallest value for which the number of rungs is "
            "sufficient, but takes at least 0.01.")
      .real("beta_max", &O::beta_max, {0, huge, Automatic{0}}, "1/energy",
            "Inverse temperature of the coldest rung.",
            "Automatic (0) chooses a value at which few uphill moves are accepted. For a "
            "posterior or a density, automatic takes 1.")
      .choice(
          "ladder", &O::ladder, {"adaptive", "geometric", "linear", "list"},
          "Spacing of the rungs between beta_min and beta_max.",
          "`geometric` spaces the rungs by equal factors, and `linear` spaces the rungs by equal "
          "steps. `list` takes a list of values. `adaptive` starts with geometric spacing. After "
          "each round of the burn-in, `adaptive` moves the rungs so that all neighbouring rungs "
          "exchange equally often.")
      .reals("betas", &O::betas, {0, huge}, "1/energy", "none",
             "Inverse temperatures for ladder=list, in ascending order.",
             "The first value belongs to the hottest rung. " + order_of_betas);
}

/// When and how they exchange.
template <class O>
OptionTable<O>& add_exchange(OptionTable<O>& table) {
  return table
      .integer("burn_in", &O::burn_in, {-1, many, Automatic{-1}}, "sweeps",
               "Number of initial sweeps that adapt the ladder and enter no statistics.",
               "Automatic (-1) takes a quarter of --sweeps, or 2000 if --sweeps is not set.")
      .integer("adaptation_rounds", &O::adaptation_rounds, {1, 40}, "",
               "Maximum number of adaptation rounds in the burn-in.",
               "Each round is twice as long as the round before. A short burn-in has fewer rounds.")
      .integer("sweeps_per_swap", &O::sweeps_per_swap, {1, 4096}, "sweeps",
               "Number of sweeps between two cadence checks (decisions on a swap phase).",
               "At a cadence check the schedule decides whether a swap phase follows. With "
               "cadence=fixed every cadence check starts a swap phase.")
      .choice("pairs", &O::pairs, {"even_odd", "random_adjacent", "sequential", "all_pairs"},
              "Pairs of rungs that attempt to swap in a swap phase.",
              "`even_odd` alternates between the pairs (0, 1), (2, 3), ... and the pairs (1, 2), "
              "(3, 4), ..., so replicas cross the ladder quickly. `random_adjacent`, `sequential` "
              "and `all_pairs` are for comparison.")
      .choice("cadence", &O::cadence, {"fixed", "adaptive", "stochastic"},
              "Rule that determines when a swap phase takes place.",
              "With `fixed` every cadence check starts a swap phase. With `adaptive` the interval "
              "between swap phases adapts during the burn-in. With `stochastic` a cadence check "
              "starts a swap phase with probability swap_probability.")
      .integer("interval_min", &O::interval_min, {1, many}, "checks",
               "Minimum swap interval in cadence checks, for cadence=adaptive.",
               "A cadence check takes place every sweeps_per_swap sweeps.")
      .integer("interval_max", &O::interval_max, {1, many}, "checks",
               "Maximum swap interval in cadence checks, for cadence=adaptive.",
               "A cadence check takes place every sweeps_per_swap sweeps.")
      .real("swap_target", &O::swap_target, {0, 1}, "",
            "Target acceptance rate of swaps, for cadence=adaptive.")
      .real("swap_gain", &O::swap_gain, {1, huge}, "",
            "Factor by which cadence=adaptive lengthens or shortens the swap interval.")
      .integer("swap_window", &O::swap_window, {1, many}, "phases",
               "Number of swap phases between two changes of the swap interval.")
      .real("swap_probability", &O::swap_probability, {0, 1}, "",
            "Probability of a swap phase at a cadence check, for cadence=stochastic.",
            "A cadence check takes place every sweeps_per_swap sweeps.")
      .choice("exchange", &O::exchange, {"index", "state"},
              "Data that Kiln exchanges in memory when two replicas swap their rungs.",
              "With `index` Kiln exchanges the two rung numbers, and the states stay in place. "
              "With `state` Kiln exchanges the two states, and the rung numbers stay in place. "
              "`index` and `state` give bit-identical answers.");
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
    all.push_back("rungs must equal the number of values in betas=..., or be left out");
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
