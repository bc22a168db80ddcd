// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/replica_exchange.hpp"

#include "shared/ladder_options.hpp"

namespace kiln {
namespace {

using O = ReplicaExchangeOptions;

void add_parameters(OptionTable<O>& table) {
  using ladder::huge;
  table
      .real("parameter_min", &O::parameter_min, {-huge, huge, Automatic{0}}, "",
            "Lambda of the first rung; both ends 0 take the range of the problem.")
      .real("parameter_max", &O::parameter_max, {-huge, huge, Automatic{0}}, "",
            "Lambda of the last rung; the problem's own is where answers are judged.")
      .reals("parameters", &O::parameters, {-huge, huge}, "", "none",
             "Lambda of each rung for ladder=list, each greater than the one before; the last is "
             "the target of the ladder.");
}

void add_walkers(OptionTable<O>& table) {
  table
      .integer("walkers", &O::walkers, {-1, 1024, Automatic{-1}}, "",
               "Annealing walkers beside each ladder, which exchange states with it. -1 takes 0: "
               "with walkers the ladder has its law only about.")
      .integer("walker_sweeps", &O::walker_sweeps, {1, ladder::many}, "sweeps",
               "Sweeps of one anneal of a walker, from beta_min to beta_max.")
      .integer("walker_interval", &O::walker_interval, {1, INT32_MAX}, "looks",
               "Looks (see sweeps_per_swap) between two exchanges of walkers with their ladder.")
      .choice("walker_restart", &O::walker_restart, {"random", "best", "current"},
              "Where a walker begins its next anneal: a new random state, the best one that its "
              "slot was in, or the one that it has.");
}

}  // namespace

const OptionTable<ReplicaExchangeOptions>& ReplicaExchangeOptions::table() {
  static const auto table = [] {
    OptionTable<O> all;
    all.choice("coordinate", &O::coordinate, {"temperature", "parameter", "both"},
               "What the rungs differ in. Over the parameter all have beta_max; adaptive then "
               "begins with equal steps of lambda. Over both the rungs stay where they begin.");
    ladder::add_rungs(all);
    add_parameters(all);
    ladder::add_exchange(all);
    all.choices(
        "moves", &O::moves, {"metropolis", "heat-bath"},
        "How the rungs sweep: one rule for all, or one for each, the hottest first. Walkers "
        "move as the last rung.");
    add_walkers(all);
    return all;
  }();
  return table;
}

}  // namespace kiln
