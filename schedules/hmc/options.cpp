// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/replica_swap.hpp"
#include "kiln/kernels/hamiltonian/nuts_transition.hpp"
#include "kiln/schedules/hmc.hpp"

#include "shared/ladder_options.hpp"

namespace kiln {

const OptionTable<HmcOptions>& HmcOptions::table() {
  using O = HmcOptions;
  using ladder::huge, ladder::many;
  static const auto table = [] {
    OptionTable<O> all;
    all.choice(
           "mode", &O::mode, {"automatic", "sample", "anneal"},
           "Sample a density, or anneal a function to its minimum. Automatic samples "
           "posteriors, and whatever draws, warmup, keep, thin, rungs or super_chains are given "
           "for; it anneals everything else.")
        .choice("sampler", &O::sampler, {"automatic", "nuts", "chees", "static"},
                "How long trajectories are: no-U-turn, every chain by itself; ChEES, one length "
                "learnt over all chains; or as leapfrogs or length say. Automatic takes NUTS below "
                "128 chains and ChEES from there.")
        .integer("draws", &O::draws, {1, many, Automatic{-1}}, "transitions",
                 "Transitions of each chain after the warm-up: the draws. -1 takes 1000.")
        .integer("warmup", &O::warmup, {-1, many, Automatic{-1}}, "transitions",
                 "Transitions in which step size, length and metric adapt; no draws. -1 takes "
                 "1000.")
        .real("step_size", &O::step_size, {0, huge, Automatic{0}}, "",
              "Step of the leapfrog in units of the metric; 0 adapts it to target_acceptance.")
        .real(
            "jitter", &O::jitter, {0, 1, Automatic{0}}, "",
            "A chain's step size in each transition is uniform within this fraction of it. 0 takes "
            "none, but 1 with a ladder of rungs, and 0.5 for annealing.")
        .integer("leapfrogs", &O::leapfrogs, {0, 1 << 24, Automatic{0}}, "",
                 "Leapfrogs of each transition of sampler=static; 0 goes by length.")
        .real("length", &O::length, {0, huge, Automatic{0}}, "",
              "Longest trajectory in units of the metric: a transition has a fraction of it that "
              "runs evenly over 0 .. 1. Where ChEES begins, and what sampler=static keeps.")
        .real("target_acceptance", &O::target_acceptance, {0, 1, Automatic{0}}, "",
              "Acceptance probability that the step size is adapted to; more is slower and follows "
              "narrow places better. 0 takes 0.8, and 0.7 for ChEES.")
        .integer("max_depth", &O::max_depth, {1, NutsTransition::depth_limit}, "",
                 "Doublings of a NUTS trajectory at most.")
        .integer("max_leapfrogs", &O::max_leapfrogs, {1, 1 << 24}, "",
                 "Leapfrogs of a ChEES or static trajectory at most.")
        .choice("metric", &O::metric, {"automatic", "diagonal", "low_rank", "dense", "unit"},
                "What the warm-up learns of the shape of the density: scales; scales and the most "
                "stretched directions; all correlations; nothing. Automatic takes low_rank up to "
                "64 dimensions, where it costs only the directions that need it.")
        .integer("metric_rank", &O::metric_rank, {0, 512, Automatic{0}}, "directions",
                 "Directions of metric=low_rank at most; 0 takes 16, or all up to 64 dimensions.")
        .integer("super_chains", &O::super_chains, {-1, many, Automatic{-1}}, "groups",
                 "Groups of chains that begin in one state each, for nested R-hat; 0: every chain "
                 "begins by itself. -1 takes 16 from 256 chains on, unless --initial says where "
                 "they begin.")
        .integer("descent", &O::descent, {-1, 1 << 24, Automatic{-1}}, "steps",
                 "Steps of L-BFGS at most by which chains go down, before the warm-up, to where "
                 "the bulk of the density may be. -1 takes 200, or none where --initial says "
                 "where chains begin.")
        .integer("keep", &O::keep, {0, many, Automatic{0}}, "chains",
                 "Chains whose draws are kept for the summary and for files; 0 keeps all up to "
                 "4 million numbers. Moments are those of all chains.")
        .integer("thin", &O::thin, {0, many, Automatic{0}}, "transitions",
                 "Transitions from one kept draw to the next; 0 takes 1, or more where even four "
                 "chains have too many draws to keep.")
        .integer("rungs", &O::rungs, {1, ReplicaSwap::max_rungs}, "",
                 "Replicas of a ladder that tempers the likelihood from parameter_min to 1; every "
                 "ladder gives one chain. 1: no tempering.")
        .real("parameter_min", &O::parameter_min, {0, 1}, "",
              "Power of the likelihood on the hottest rung; 0 is the prior.")
        .real("beta_min", &O::beta_min, {0, huge, Automatic{0}}, "1/energy",
              "Inverse temperature at which mode=anneal begins.")
        .real("beta_max", &O::beta_max, {0, huge, Automatic{0}}, "1/energy",
              "Inverse temperature at which mode=anneal ends.")
        .integer("anneal_sweeps", &O::anneal_sweeps, {0, many, Automatic{0}}, "transitions",
                 "Transitions of one anneal; 0 takes --sweeps, or 1000 where there is no limit or "
                 "only one of time. Then the next begins from new states.")
        .integer("polish_sweeps", &O::polish_sweeps, {-1, many, Automatic{-1}}, "transitions",
                 "The last transitions of an anneal, in which chains go down to the minimum below "
                 "them, by 100 steps of L-BFGS each. -1 takes 3, or none in fewer than 20.");
    return all;
  }();
  return table;
}

}  // namespace kiln
