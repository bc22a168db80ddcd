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
            "Parameter lambda of the first rung; the energy is A + lambda B.",
            "If parameter_min and parameter_max are both automatic (0), the ladder takes the "
            "lambda range of the problem.")
      .real("parameter_max", &O::parameter_max, {-huge, huge, Automatic{0}}, "",
            "Parameter lambda of the last rung; the energy is A + lambda B.",
            "Kiln always evaluates answers at the lambda of the problem.")
      .reals("parameters", &O::parameters, {-huge, huge}, "", "none",
             "Parameter lambda of each rung, for ladder=list.",
             "With coordinate=parameter each lambda must be greater than the lambda before. Kiln "
             "always evaluates answers at the lambda of the problem.");
}

void add_walkers(OptionTable<O>& table) {
  table
      .integer("walkers", &O::walkers, {-1, 1024, Automatic{-1}}, "",
               "Number of annealing walkers that exchange states with each ladder.",
               "Automatic (-1) takes no walkers. With walkers the rungs sample their Boltzmann "
               "distributions only approximately.")
      .integer("walker_sweeps", &O::walker_sweeps, {1, ladder::many}, "sweeps",
               "Number of sweeps in which a walker anneals from beta_min to beta_max.")
      .integer("walker_interval", &O::walker_interval, {1, INT32_MAX}, "checks",
               "Interval between two walker exchanges, in cadence checks.",
               "A cadence check takes place every sweeps_per_swap sweeps. Walkers exchange states "
               "only with the ladder of their group.")
      .choice(
          "walker_restart", &O::walker_restart, {"random", "best", "current"},
          "Initial state of the next anneal of a walker.",
          "`random` draws a new random state. `best` takes the best state so far of the replica "
          "that is now the walker. `current` takes the current state of the walker.");
}

}  // namespace

const OptionTable<ReplicaExchangeOptions>& ReplicaExchangeOptions::table() {
  static const auto table = [] {
    OptionTable<O> all;
    all.choice("coordinate", &O::coordinate, {"temperature", "parameter", "both"},
               "Quantity in which the rungs of a ladder differ.",
               "With coordinate=parameter the rungs differ in lambda, and all rungs have the "
               "inverse temperature beta_max. The adaptive ladder then starts with equal steps of "
               "lambda. With coordinate=both the ladder does not adapt.");
    ladder::add_rungs(all,
                      "Each value must be greater than the value before. With coordinate=both, or "
                      "with several rules in `moves`, equal neighbouring values are also valid.");
    add_parameters(all);
    ladder::add_exchange(all);
    all.choices(
        "moves", &O::moves, {"metropolis", "heat-bath"},
        "Update rules of sweeps: one rule for all rungs, or a rule for each rung.",
        "The first rule of a list belongs to the hottest rung. Walkers use the update rule of the "
        "last rung.");
    add_walkers(all);
    return all;
  }();
  return table;
}

}  // namespace kiln
