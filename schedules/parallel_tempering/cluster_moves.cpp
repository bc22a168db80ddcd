// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "kiln/errors.hpp"
#include "kiln/kernels/sweeps/cluster_move.hpp"
#include "kiln/result.hpp"
#include "kiln/run_context.hpp"
#include "kiln/schedules/parallel_tempering.hpp"

#include "shared/arrays.hpp"
#include "shared/ladder.hpp"

namespace kiln {
namespace {

// Beyond this the sites that differ percolate at every temperature of interest.
constexpr double max_neighbors = 6;

// Why a run cannot have cluster moves; empty if it can.
std::string obstacle(const PairwiseView* model, std::int64_t ladders) {
  if (model == nullptr) return "the problem is not a pairwise model";
  if (model->sequential) {
    return "Kiln sweeps the model in sequential order: at least an eighth of its pairs are "
           "coupled, or a colouring of its n variables takes more than n / 8 colours";
  }
  if (model->n_sites > ClusterMove::max_sites) return "the model has more than 65536 sites";
  if (ladders < 2) return "there is only one ladder: use more replicas";
  return {};
}

bool without_fields(const PairwiseView& model, AllocateContext& run) {
  const std::vector<double> fields = run.read(model.field);
  return std::all_of(fields.begin(), fields.end(), [](double h) { return h == 0; });
}

}  // namespace

void ParallelTempering::choose_clusters(AllocateContext& run) {
  moved_ = open_ = {};
  moves_ = sizes_ = {};
  if (run.counts_only()) {  // of models that have them or not
    if (resolved_.cluster_moves != "off") allocate_clusters(run);
    return;
  }
  const auto* const modelled = run.objective().as<PairwiseModelled>();
  const PairwiseView* const model = modelled != nullptr ? &modelled->pairwise_model() : nullptr;
  const std::string reason = obstacle(model, run.batch().replicas() / resolved_.rungs);
  if (resolved_.cluster_moves == "on" && !reason.empty()) {
    throw InvalidArgument("schedule.cluster_moves", "cluster_moves=on is impossible: " + reason, {},
                          "-p cluster_moves=off");
  }
  if (resolved_.cluster_moves == "automatic") {
    const bool sparse =
        reason.empty() && static_cast<double>(model->entries.size) <=
                              max_neighbors * static_cast<double>(model->n_variables);
    resolved_.cluster_moves = sparse ? "on" : "off";
  }
  if (resolved_.cluster_moves == "off") return;
  symmetric_ = without_fields(*model, run);
  allocate_clusters(run);
}

void ParallelTempering::allocate_clusters(AllocateContext& run) {
  const std::int64_t rungs = resolved_.rungs;
  moved_ = run.workspace<std::uint32_t>("cluster_moved", ladders_->beta.size);
  open_ = run.scratch("cluster_open", filled(rungs, 1u));
  moves_ = run.scratch_zeros<std::uint64_t>("cluster_moves", rungs);
  sizes_ = run.scratch_zeros<std::uint64_t>("cluster_sizes", rungs);
}

void ParallelTempering::move_clusters(TickContext& run) {
  ReplicaBatch& batch = run.batch();
  run.queue().launch(ClusterMove{
      run.objective<PairwiseModelled>().pairwise_model(), batch.state(0).packed(),
      ladders_->slot_of, moved_, open_, moves_, sizes_, batch.draw_ids(), run.control(),
      static_cast<std::uint64_t>(resolved_.burn_in), sweeps_per_tick_,
      static_cast<std::uint32_t>(resolved_.cluster_interval), symmetric_, ladders_->in_blocks()});
  run.evaluate(batch.energy(), moved_);
}

void ParallelTempering::report_clusters(ReportContext& run, Result& result) {
  if (!moved_) return;
  const std::vector<std::uint64_t> moves = run.read(moves_), sizes = run.read(sizes_);
  const std::vector<std::uint32_t> open = run.read(open_);
  for (std::size_t r = 0; r < open.size(); ++r) {
    result.series["cluster_size"].push_back(
        moves[r] > 0 ? static_cast<double>(sizes[r]) / static_cast<double>(moves[r])
                     : std::numeric_limits<double>::quiet_NaN());
    result.series["cluster_open"].push_back(open[r]);
  }
}

}  // namespace kiln
