// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <string>

#include "kiln/abilities.hpp"
#include "kiln/errors.hpp"
#include "kiln/kernels/recombination/cluster_crossover.hpp"
#include "kiln/run_context.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "shared/temperatures.hpp"
#include "simulated_annealing/options.hpp"

namespace kiln {
namespace {

// Smaller models have their best states without it.
constexpr std::int64_t least_variables = 4000;
// Of models with more neighbours nearly all sites that differ are one cluster.
constexpr std::int64_t max_neighbors = 16;
constexpr std::int64_t least_replicas = 32;
constexpr std::int64_t least_short_sweeps = 64;  // as TemperatureUpdate has them
constexpr std::int64_t max_change = std::int64_t{1} << 31;

// Classes of a coloured model end in whole quads, so a model has a few sites more than variables.
std::int64_t sites_for(std::int64_t variables) { return variables + variables / 8 + 1024; }

// Why a run cannot cross clusters; empty if it can.
std::string obstacle(const PairwiseView* model, std::int64_t polish_sweeps) {
  if (polish_sweeps >= least_short_sweeps) {
    return "rounds of " + std::to_string(least_short_sweeps) +
           " sweeps would be nothing but polish_sweeps=" + std::to_string(polish_sweeps);
  }
  if (model == nullptr) return "the problem is not a pairwise model";
  if (!model->integral || model->arithmetic == Arithmetic::wide) {
    return "the weights of the model are no small integers";
  }
  if (2 * model->total_sum >= static_cast<double>(max_change)) {
    return "the sum of the weights of the model is 2^30 or more";
  }
  if (model->n_sites > ClusterCrossover::max_sites) {
    return "the model has " + std::to_string(model->n_sites) + " sites, and at most " +
           std::to_string(ClusterCrossover::max_sites) + " are possible";
  }
  if (model->n_sites > sites_for(model->n_variables)) {
    return "a colouring of the model takes too many classes";
  }
  return {};
}

bool is_large_and_sparse(const PairwiseView& model) {
  const std::int64_t n = model.n_variables;
  return n >= least_variables && !model.sequential && model.entries.size <= max_neighbors * n;
}

ClusterCrossover crossover_of(WorkContext& run, bool symmetric, View2<std::int32_t> room) {
  ReplicaBatch& batch = run.batch();
  ClusterCrossover kernel;
  kernel.model = run.objective<PairwiseModelled>().pairwise_model();
  kernel.state = batch.state(0).packed();
  kernel.energy = batch.energy();
  kernel.groups = batch.groups();
  kernel.group_size = batch.group_size();
  kernel.room = room;
  kernel.symmetric = symmetric;
  kernel.control = run.control();
  return kernel;
}

}  // namespace

void SimulatedAnnealing::choose_restart(AllocateContext& run) {
  crosses_ = options_.restart == "crossover";
  restart_long_ = {};
  crossover_room_ = {};
  // Replicas that share noise stay equal once they are.
  const bool may = options_.restart == "automatic" && round_is_free_ && options_.growth == 0 &&
                   options_.noise == "independent" && cools_by_position(options_) &&
                   std::ranges::all_of(per_group_, cools_by_position) &&
                   run.batch().group_size() >= least_replicas;
  if (!crosses_ && !may) return;
  if (run.counts_only()) {  // of models that suit or not
    const std::int64_t n = run.batch().space().variables();
    crosses_ = crosses_ || (n >= least_variables && n <= ClusterCrossover::max_sites);
    return;
  }
  const auto* const modelled = run.objective().as<PairwiseModelled>();
  const PairwiseView* const model = modelled != nullptr ? &modelled->pairwise_model() : nullptr;
  const std::string reason = obstacle(model, options_.polish_sweeps);
  if (crosses_ && !reason.empty()) {
    throw InvalidArgument("schedule.crossover", "restart=crossover is impossible: " + reason, {},
                          "-p restart=random");
  }
  crosses_ = crosses_ || (reason.empty() && is_large_and_sparse(*model));
  symmetric_ = crosses_ && !model->has_fields;
}

// Reheated to the energy of one coupling, replicas change in clusters of a few spins. sigma^2 /
// (sum |J|) is the mean of |J|, each with the weight |J|, where rows are about alike.
double SimulatedAnnealing::reheat_of_couplings(AllocateContext& run, const Options& options) const {
  if (run.counts_only()) return 1;
  const Objective::BetaRange range = beta_range_of(run);
  const PairwiseView& model = run.objective<PairwiseModelled>().pairwise_model();
  const double sum = model.total_sum * run.inverse_scale() / static_cast<double>(model.n_variables);
  const double cold = options.beta_max > 0 ? options.beta_max : range.cold;
  const double hot = options.beta_min > 0 ? options.beta_min : range.hot;
  if (!(cold > hot)) return 1;
  const double again = range.hot * range.hot * sum;
  return std::clamp((cold - again) / (cold - hot), 0.01, 1.0);
}

void SimulatedAnnealing::allocate_crossover(AllocateContext& run) {
  restart_long_ = run.scratch_zeros<std::uint32_t>("restart_long", run.batch().groups());
  const std::int64_t sites = sites_for(run.batch().space().variables());
  if (sites <= ClusterCrossover::sites_without_room) return;  // on a CPU too: runs change devices
  const std::int64_t rows = ClusterCrossover::teams;
  const auto room = run.scratch_zeros<std::int32_t>("crossover_room", rows * 2 * sites);
  crossover_room_ = {room.data, rows, 2 * sites, 2 * sites};
}

void SimulatedAnnealing::cross_with_best(WorkContext& run,
                                         View1<const std::uint32_t> active_groups) const {
  ClusterCrossover kernel = crossover_of(run, symmetric_, crossover_room_);
  const View2<std::uint32_t> best = run.batch().best_state(0).packed();
  kernel.best = {best.data, best.rows, best.columns, best.stride};
  kernel.active_groups = active_groups;
  run.queue().launch(kernel);
}

// A distance of 0: that of the round.
void SimulatedAnnealing::cross_pairs(WorkContext& run, View1<const std::uint32_t> active_groups,
                                     std::int64_t distance) const {
  if (run.batch().group_size() < 2) return;
  ClusterCrossover kernel = crossover_of(run, symmetric_, crossover_room_);
  kernel.active_groups = active_groups;
  if (distance == 0) {
    kernel.cooling = {cooling_.data, cooling_.size};
  } else {
    kernel.distance = distance;
  }
  run.queue().launch(kernel);
}

// A limit cuts a round: what its replicas have is taken over to all of them. The user waits, so few
// distances must do where a crossing takes long. On a CPU one may take longer than the user waits,
// and a descent that is given up is lost.
void SimulatedAnnealing::cross_all(DescendContext& run) const {
  if (run.queue().on_cpu()) return;
  const auto begin = std::chrono::steady_clock::now();
  constexpr std::chrono::milliseconds patience{200};
  cross_with_best(run, {});
  run.track_best();
  for (std::int64_t distance = 1; distance < run.batch().group_size(); distance *= 2) {
    if (std::chrono::steady_clock::now() - begin > patience) break;
    cross_pairs(run, {}, distance);
    run.track_best();
  }
}

}  // namespace kiln
