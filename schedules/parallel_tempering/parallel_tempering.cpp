// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/parallel_tempering.hpp"

#include <algorithm>

#include "kiln/errors.hpp"
#include "kiln/run_context.hpp"

#include "shared/complaints.hpp"
#include "shared/ladder.hpp"
#include "shared/ladder_options.hpp"
#include "shared/temperatures.hpp"

namespace kiln {
namespace {

std::vector<std::string> complaints_about(const ParallelTemperingOptions& o) {
  std::vector<std::string> all = ladder::complaints_about(o);
  if (o.ladder == "list" && o.betas.empty()) {
    all.push_back("ladder=list needs betas, for example betas=0.1,0.5,1,2");
  }
  if (!ladder::rises(o.betas)) all.push_back("betas must increase strictly");
  return all;
}

}  // namespace

ParallelTempering::ParallelTempering(ParallelTemperingOptions options)
    : ScheduleOf(std::move(options)), ladders_(std::make_unique<ladder::Ladders>()) {
  refuse_if_any(complaints_about(options_));
}

ParallelTempering::~ParallelTempering() = default;

Needs ParallelTempering::needs(const Problem& problem, const Budget& budget) {
  resolved_ = options_;
  if (!options_.betas.empty()) resolved_.rungs = static_cast<std::int64_t>(options_.betas.size());
  if (resolved_.rungs == 0) {
    resolved_.rungs = ladder::guess_rungs(problem.objective->space().variables());
  }
  if (resolved_.burn_in < 0) {
    resolved_.burn_in = budget.sweeps ? *budget.sweeps / 4 : ladder::default_burn_in;
  }
  sweeps_per_tick_ = static_cast<std::uint32_t>(resolved_.sweeps_per_swap);
  Needs needs;
  needs.sweeps_per_tick = sweeps_per_tick_;
  needs.default_sweeps = 4 * std::max<std::int64_t>(resolved_.burn_in, ladder::default_burn_in);
  needs.group_size = resolved_.rungs;
  needs.ladders_in_blocks = true;
  needs.descends_at_end = can_descend(problem);
  return needs;
}

// A ladder that an earlier stage has adapted, where the options leave the temperatures open.
bool ParallelTempering::takes_ladder(const RunContext& run) const {
  const std::vector<double>& betas = run.handed_betas();
  return options_.ladder == "adaptive" && options_.beta_min == 0 && options_.beta_max == 0 &&
         options_.betas.empty() && betas.size() > 1 &&
         static_cast<std::int64_t>(betas.size()) == resolved_.rungs && ladder::rises(betas);
}

void ParallelTempering::resolve_range(AllocateContext& run) {
  if (takes_ladder(run)) {
    resolved_.beta_min = run.handed_betas().front();
    resolved_.beta_max = run.handed_betas().back();
    return;
  }
  if (!resolved_.betas.empty()) {
    resolved_.beta_min = resolved_.betas.front();
    resolved_.beta_max = resolved_.betas.back();
    return;
  }
  settle_ladder_ends(run, run.batch().replicas() / resolved_.rungs, resolved_.rungs,
                     resolved_.beta_min, resolved_.beta_max);
}

std::vector<double> ParallelTempering::first_ladder() const {
  if (!resolved_.betas.empty()) return resolved_.betas;
  const auto& o = resolved_;
  return o.ladder == "linear" ? ladder::equal_steps(o.beta_min, o.beta_max, o.rungs)
                              : ladder::equal_factors(o.beta_min, o.beta_max, o.rungs);
}

void ParallelTempering::allocate(AllocateContext& run) {
  resolve_range(run);
  ladder::Setting setting;
  setting.beta = takes_ladder(run) ? run.handed_betas() : first_ladder();
  setting.adaptation =
      ladder::plan_rounds(ladder::burn_in_ticks(resolved_.burn_in, resolved_.sweeps_per_swap),
                          resolved_.adaptation_rounds, resolved_.ladder == "adaptive");
  setting.mode = ladder::mode_of(resolved_.pairs);
  setting.cadence = ladder::cadence_of(resolved_);
  setting.sweeps_per_tick = sweeps_per_tick_;
  setting.by_state = resolved_.exchange == "state";
  setting.in_blocks = run.draw_naming() == DrawNaming::planes;
  ladders_->allocate(run, setting);
  choose_clusters(run);
}

void ParallelTempering::set_temperatures(RunContext& run, const std::vector<double>& temperatures) {
  const std::string takes = "parallel-tempering takes one temperature for each of its " +
                            std::to_string(ladders_->rungs()) + " rungs";
  if (static_cast<std::int64_t>(temperatures.size()) != ladders_->rungs()) {
    throw InvalidArgument("commands.temperatures",
                          takes + ", and " + std::to_string(temperatures.size()) +
                              (temperatures.size() == 1 ? " was given" : " were given"),
                          "the hottest first");
  }
  std::vector<double> betas;
  for (const double temperature : temperatures) betas.push_back(1 / temperature);
  if (!ladder::rises(betas)) {
    throw InvalidArgument("commands.temperatures",
                          takes +
                              ", and these do not fall from one to "
                              "the next",
                          "the hottest first");
  }
  ladders_->set_betas(run, betas);
}

void ParallelTempering::enqueue(TickContext& run) {
  const bool may_move = moved_ && run.may_follow(resolved_.cluster_interval);
  if (may_move) move_clusters(run);
  std::int64_t at_once = run.ticks_at_once();
  if (moved_) at_once = std::min(at_once, run.ticks_until(resolved_.cluster_interval));
  if (at_once < run.ticks_at_once()) run.refuse_more("cluster moves come between its ticks");
  // Without cluster moves the best states are known from the end of the tick before. Only where
  // slots change their rungs may the finder of a best energy be noted with its rung before.
  ladders_->tick(run, ladders_->in_blocks() ? may_move : static_cast<bool>(moved_), at_once);
}

void ParallelTempering::descend(DescendContext& run) { ladders_->descend(run); }

void ParallelTempering::report(ReportContext& run, Result& result) {
  ladders_->report(run, result);
  report_clusters(run, result);
}

}  // namespace kiln
