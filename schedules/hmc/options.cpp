// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/replica_swap.hpp"
#include "kiln/kernels/hamiltonian/nuts_transition.hpp"
#include "kiln/schedules/hmc.hpp"

#include "shared/ladder_options.hpp"

namespace kiln {
namespace {

using HmcTable = OptionTable<HmcOptions>;

void add_trajectories(HmcTable& table) {
  using O = HmcOptions;
  using ladder::huge, ladder::many;
  table
      .choice("mode", &O::mode, {"automatic", "sample", "anneal"},
              "Whether to sample a density or anneal a function to its minimum.",
              "Automatic samples if the problem is a posterior. Automatic also samples if one of "
              "the options draws, warmup, keep, thin, rungs and super_chains is set. Otherwise "
              "automatic anneals.")
      .choice("sampler", &O::sampler, {"automatic", "nuts", "chees", "static"},
              "Rule that determines the length of each trajectory.",
              "`nuts` is the no-U-turn sampler, with a separate length for each chain. `chees` "
              "adapts one length for all chains during the warmup. `static` makes `leapfrogs` "
              "steps, or uses the trajectory length `length`. To sample, automatic takes `nuts` "
              "for fewer than 128 chains, else `chees`. To anneal, automatic takes `static`.")
      .integer("draws", &O::draws, {1, many, Automatic{-1}}, "transitions",
               "Number of draws of each chain, one for each transition after the warmup.",
               "Automatic (-1) takes 1000.")
      .integer("warmup", &O::warmup, {-1, many, Automatic{-1}}, "transitions",
               "Number of warmup transitions, which adapt step size, length and metric.",
               "Draws start after the warmup. Automatic (-1) takes 1000.")
      .real("step_size", &O::step_size, {0, huge, Automatic{0}}, "",
            "Step size of the leapfrog integrator, in units of the metric.",
            "Automatic (0) adapts the step size to target_acceptance.")
      .real("jitter", &O::jitter, {0, 1, Automatic{0}}, "",
            "Relative half-width of the uniform distribution of step sizes.",
            "Each transition of a chain draws a step size that differs from the adapted step size "
            "by at most this fraction. Automatic (0) takes 1 with a ladder of rungs, 0.5 for "
            "annealing, and no jitter otherwise.")
      .integer("leapfrogs", &O::leapfrogs, {0, 1 << 24, Automatic{0}}, "",
               "Number of leapfrog steps of each transition, for sampler=static.",
               "Automatic (0) computes the number from the option `length` and the step size. In "
               "an anneal without `length`, automatic takes 8.")
      .real("length", &O::length, {0, huge, Automatic{0}}, "",
            "Maximum trajectory length in units of the metric, for chees and static.",
            "Each transition uses a fraction of the maximum length, uniform on 0 .. 1. With "
            "sampler=chees this length is the initial value of the adaptation; automatic (0) takes "
            "1. With sampler=static the length does not adapt.")
      .real("target_acceptance", &O::target_acceptance, {0, 1, Automatic{0}}, "",
            "Mean acceptance probability that the adaptation of the step size aims at.",
            "A larger value gives smaller steps, which cost more gradients and resolve narrow "
            "regions better. Automatic (0) takes 0.8 for sampler=nuts, else 0.7.")
      .integer("max_depth", &O::max_depth, {1, NutsTransition::depth_limit}, "",
               "Maximum number of doublings of a trajectory, for sampler=nuts.")
      .integer("max_leapfrogs", &O::max_leapfrogs, {1, 1 << 24}, "",
               "Maximum number of leapfrog steps of a trajectory, for chees and static.");
}

void add_chains(HmcTable& table) {
  using O = HmcOptions;
  using ladder::huge, ladder::many;
  table
      .choice(
          "metric", &O::metric, {"automatic", "diagonal", "low_rank", "dense", "unit"},
          "Metric (inverse mass matrix) learnt during the warmup.",
          "`diagonal` adapts a scale for each coordinate. `low_rank` also adapts the directions in "
          "which the metric differs from these scales by more than a factor of 2. The cost of "
          "`low_rank` grows with the number of these directions. `dense` adapts all correlations. "
          "`unit` is the identity matrix. Automatic takes `low_rank` up to 64 dimensions, else "
          "`diagonal`. For variables with a bound, Kiln takes `diagonal` instead of `low_rank` and "
          "`dense`. An anneal does not adapt the metric.")
      .integer("metric_rank", &O::metric_rank, {0, 512, Automatic{0}}, "directions",
               "Maximum number of directions of metric=low_rank.",
               "Automatic (0) sets no maximum up to 64 dimensions, and a maximum of 16 beyond 64 "
               "dimensions.")
      .integer("super_chains", &O::super_chains, {-1, many, Automatic{-1}}, "groups",
               "Number of super-chains: groups of chains with a common initial state.",
               "Nested R-hat needs super-chains. 0 gives each chain a separate initial state. "
               "Automatic (-1) takes 16 if the number of chains is at least 256 and a multiple of "
               "16, and --initial is not set. Otherwise automatic takes 0.")
      .integer("descent", &O::descent, {-1, 1 << 24, Automatic{-1}}, "steps",
               "Maximum number of L-BFGS steps of each chain before the warmup.",
               "The descent moves each chain towards the bulk of the density. Automatic (-1) takes "
               "200, or 0 if --initial sets the initial states.")
      .integer("keep", &O::keep, {0, many, Automatic{0}}, "chains",
               "Number of chains whose draws are stored for the summary and for files.",
               "Automatic (0) stores the draws of as many chains as fit into 4 million numbers. "
               "Means and variances always cover all chains.")
      .integer("thin", &O::thin, {0, many, Automatic{0}}, "transitions",
               "Number of transitions from one stored draw to the next.",
               "Automatic (0) takes 1, or more if all draws of four chains exceed 4 million "
               "numbers.");
}

void add_temperatures(HmcTable& table) {
  using O = HmcOptions;
  using ladder::huge, ladder::many;
  table
      .integer(
          "rungs", &O::rungs, {1, ReplicaSwap::max_rungs}, "",
          "Number of rungs of each ladder; 1 turns tempering off.",
          "On the rungs of a ladder the power of the likelihood rises from parameter_min to 1. "
          "Each ladder yields one chain of draws.")
      .real("parameter_min", &O::parameter_min, {0, 1}, "",
            "Power of the likelihood on the hottest rung; 0 gives the prior.")
      .real("beta_min", &O::beta_min, {0, huge, Automatic{0}}, "1/energy",
            "Initial inverse temperature of an anneal, for mode=anneal.",
            "Automatic (0) uses the rule of the schedule simulated-annealing.")
      .real("beta_max", &O::beta_max, {0, huge, Automatic{0}}, "1/energy",
            "Final inverse temperature of an anneal, for mode=anneal.",
            "Automatic (0) uses the rule of the schedule simulated-annealing.")
      .integer("anneal_sweeps", &O::anneal_sweeps, {0, many, Automatic{0}}, "transitions",
               "Number of transitions of one anneal; each anneal starts from new states.",
               "Automatic (0) takes the value of --sweeps, or 1000 if --sweeps is not set.")
      .integer(
          "polish_sweeps", &O::polish_sweeps, {-1, many, Automatic{-1}}, "transitions",
          "Number of final transitions of an anneal that descend to a local minimum.",
          "In each of these transitions a chain takes at most 100 L-BFGS steps towards a local "
          "minimum. "
          "Automatic (-1) takes 3, or 0 if the anneal has fewer than 20 transitions.");
}

}  // namespace

const OptionTable<HmcOptions>& HmcOptions::table() {
  static const auto table = [] {
    HmcTable all;
    add_trajectories(all);
    add_chains(all);
    add_temperatures(all);
    return all;
  }();
  return table;
}

}  // namespace kiln
