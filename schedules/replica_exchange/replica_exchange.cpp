// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/replica_exchange.hpp"

#include <algorithm>

#include "kiln/run_context.hpp"

#include "shared/complaints.hpp"
#include "shared/ladder.hpp"
#include "shared/ladder_options.hpp"
#include "shared/saved_coolings.hpp"
#include "shared/temperatures.hpp"

namespace kiln {
namespace {

using ladder::Coordinate;

constexpr std::int64_t default_walkers = 0;

Coordinate coordinate_of(const ReplicaExchangeOptions& o) {
  if (o.coordinate == "parameter") return Coordinate::parameter;
  return o.coordinate == "both" ? Coordinate::both : Coordinate::temperature;
}

// 0 if nothing says so.
std::int64_t rungs_given(const ReplicaExchangeOptions& o) {
  const std::size_t listed = std::max(o.betas.size(), o.parameters.size());
  return listed > 0 ? static_cast<std::int64_t>(listed) : o.rungs;
}

std::vector<SweepRule> rules_of(const ReplicaExchangeOptions& o) {
  std::vector<SweepRule> rules;
  for (std::int64_t r = 0; r < o.rungs; ++r) {
    const std::string& own = o.moves[o.moves.size() > 1 ? static_cast<std::size_t>(r) : 0];
    rules.push_back(own == "heat-bath" ? SweepRule::heat_bath : SweepRule::metropolis);
  }
  return rules;
}

void complain_about_lists(const ReplicaExchangeOptions& o, std::vector<std::string>& all) {
  const Coordinate coordinate = coordinate_of(o);
  const bool over_beta = coordinate != Coordinate::parameter,
             over_parameter = coordinate != Coordinate::temperature;
  if (!over_parameter && (!o.parameters.empty() || o.parameter_min != 0 || o.parameter_max != 0)) {
    all.push_back(
        "parameter_min, parameter_max and parameters need coordinate=parameter or coordinate=both");
  }
  if (!over_beta && !o.betas.empty()) {
    all.push_back("betas need coordinate=temperature or coordinate=both");
  }
  if (o.ladder == "list") {
    if (over_beta && o.betas.empty()) {
      all.push_back("ladder=list needs betas, for example betas=0.1,0.5,1,2");
    }
    if (over_parameter && o.parameters.empty()) {
      all.push_back("ladder=list needs parameters, for example parameters=0,0.2,0.5,1");
    }
    if (coordinate == Coordinate::both && o.betas.size() != o.parameters.size()) {
      all.push_back(
          "betas and parameters must have the same length: one beta and one parameter per rung");
    }
  } else if (!o.parameters.empty()) {
    all.push_back("parameters need ladder=list");
  }
  // Over both, one of the two may stay where it is, and so may beta where moves differ.
  if (coordinate == Coordinate::both || o.moves.size() > 1) {
    if (!std::is_sorted(o.betas.begin(), o.betas.end())) all.push_back("betas must not decrease");
  } else if (!ladder::rises(o.betas)) {
    all.push_back("betas must increase strictly");
  }
  if (coordinate == Coordinate::both) return;
  if (!ladder::rises(o.parameters)) all.push_back("parameters must increase strictly");
}

std::vector<std::string> complaints_about(const ReplicaExchangeOptions& o) {
  std::vector<std::string> all = ladder::complaints_about(o);
  complain_about_lists(o, all);
  if (o.parameters.size() > static_cast<std::size_t>(ReplicaSwap::max_rungs)) {
    all.push_back("a ladder has at most 1024 rungs");
  }
  if (!o.parameters.empty() && o.rungs > 0 &&
      static_cast<std::size_t>(o.rungs) != o.parameters.size()) {
    all.push_back("rungs must equal the number of values in parameters=..., or be left out");
  }
  const std::int64_t rungs = rungs_given(o);
  if (o.moves.empty() ||
      (o.moves.size() > 1 && rungs > 0 && static_cast<std::int64_t>(o.moves.size()) != rungs)) {
    all.push_back("moves must be one rule for all rungs, or one rule for each rung (" +
                  std::to_string(o.moves.size()) + " rules for " + std::to_string(rungs) +
                  " rungs)");
  }
  if (o.moves.size() > static_cast<std::size_t>(ReplicaSwap::max_rungs)) {
    all.push_back("a ladder has at most 1024 rungs");
  }
  complain_unless_ordered(all, "parameter_min", o.parameter_min, "parameter_max", o.parameter_max);
  if (o.ladder == "geometric" && o.coordinate == "parameter") {
    all.push_back("ladder=geometric is only for temperatures: use ladder=adaptive, linear or list");
  }
  if (o.walker_sweeps < o.sweeps_per_swap) {
    all.push_back("walker_sweeps must be at least sweeps_per_swap");
  }
  return all;
}

}  // namespace

ReplicaExchange::ReplicaExchange(ReplicaExchangeOptions options)
    : ScheduleOf(std::move(options)), ladders_(std::make_unique<ladder::Ladders>()) {
  refuse_if_any(complaints_about(options_));
}

ReplicaExchange::~ReplicaExchange() = default;

Needs ReplicaExchange::needs(const Problem& problem, const Budget& budget) {
  resolved_ = options_;
  resolved_.rungs = rungs_given(options_);
  if (resolved_.rungs == 0 && options_.moves.size() > 1) {
    resolved_.rungs = static_cast<std::int64_t>(options_.moves.size());
  }
  if (resolved_.rungs == 0) {
    resolved_.rungs = ladder::guess_rungs(problem.objective->space().variables());
  }
  if (resolved_.burn_in < 0) {
    resolved_.burn_in = budget.sweeps ? *budget.sweeps / 4 : ladder::default_burn_in;
  }
  if (resolved_.walkers < 0) resolved_.walkers = default_walkers;
  sweeps_per_tick_ = static_cast<std::uint32_t>(resolved_.sweeps_per_swap);
  Needs needs;
  needs.sweeps_per_tick = sweeps_per_tick_;
  needs.default_sweeps = 4 * std::max<std::int64_t>(resolved_.burn_in, ladder::default_burn_in);
  needs.group_size = resolved_.rungs + resolved_.walkers;
  const std::vector<SweepRule> rules = rules_of(resolved_);
  needs.heat_bath = std::count(rules.begin(), rules.end(), SweepRule::heat_bath) > 0;
  if (coordinate_of(resolved_) != Coordinate::temperature) {
    needs.require<Parametric>(std::string(ladder::why_parameters),
                              Fix::drop_requirement("Parametric"));
  }
  needs.descends_at_end = can_descend(problem);
  return needs;
}

void ReplicaExchange::resolve_range(AllocateContext& run) {
  if (!resolved_.betas.empty()) {
    resolved_.beta_min = resolved_.betas.front();
    resolved_.beta_max = resolved_.betas.back();
  } else {
    settle_ladder_ends(run, run.batch().groups(), resolved_.rungs, resolved_.beta_min,
                       resolved_.beta_max);
  }
  if (coordinate_of(resolved_) == Coordinate::temperature) return;
  if (!resolved_.parameters.empty()) {
    resolved_.parameter_min = resolved_.parameters.front();
    resolved_.parameter_max = resolved_.parameters.back();
  } else if (resolved_.parameter_min == 0 && resolved_.parameter_max == 0) {
    const Objective::ParameterRange range = run.problem().objective->parameter_range();
    resolved_.parameter_min = range.low;
    resolved_.parameter_max = range.target;
  }
}

void ReplicaExchange::place_rungs(ladder::Setting& setting) const {
  const ReplicaExchangeOptions& o = resolved_;
  setting.coordinate = coordinate_of(o);
  if (!o.betas.empty()) {
    setting.beta = o.betas;
  } else if (setting.coordinate == Coordinate::parameter) {
    setting.beta.assign(static_cast<std::size_t>(o.rungs), o.beta_max);
  } else {
    setting.beta = o.ladder == "linear" ? ladder::equal_steps(o.beta_min, o.beta_max, o.rungs)
                                        : ladder::equal_factors(o.beta_min, o.beta_max, o.rungs);
  }
  if (setting.coordinate == Coordinate::temperature) return;
  setting.parameter = o.parameters.empty()
                          ? ladder::equal_steps(o.parameter_min, o.parameter_max, o.rungs)
                          : o.parameters;
}

void ReplicaExchange::allocate(AllocateContext& run) {
  resolve_range(run);
  ladder::Setting setting;
  place_rungs(setting);
  const bool moves = resolved_.ladder == "adaptive" && setting.coordinate != Coordinate::both;
  setting.walkers = resolved_.walkers;
  setting.walker_beta = resolved_.beta_min;
  setting.walker_parameter = resolved_.parameter_max;
  setting.adaptation =
      ladder::plan_rounds(ladder::burn_in_ticks(resolved_.burn_in, resolved_.sweeps_per_swap),
                          resolved_.adaptation_rounds, moves);
  setting.mode = ladder::mode_of(resolved_.pairs);
  setting.cadence = ladder::cadence_of(resolved_);
  setting.sweeps_per_tick = sweeps_per_tick_;
  setting.moves = rules_of(resolved_);
  setting.by_state = resolved_.exchange == "state";
  ladders_->allocate(run, setting);
  allocate_walkers(run);
}

// The walkers of a run are spread over the phases of an anneal, so that there are cold ones at any
// time.
void ReplicaExchange::allocate_walkers(AllocateContext& run) {
  cooling_ = {};
  restart_ = {};
  walker_counts_ = {};
  if (resolved_.walkers == 0) return;
  const std::int64_t all = run.batch().groups() * resolved_.walkers;
  Cooling cooling;
  cooling.kind = CoolingKind::linear;
  cooling.beta_begin = resolved_.beta_min;
  cooling.beta_end = resolved_.beta_max;
  cooling.length = resolved_.walker_sweeps / resolved_.sweeps_per_swap;  // one update a tick
  std::vector<Cooling> coolings;
  for (std::int64_t w = 0; w < all; ++w) {
    cooling.position = cooling.length * w / all;
    coolings.push_back(cooling);
  }
  cooling_ = run.scratch("walker_cooling", coolings);
  require_saved_coolings(run, "walker_cooling", coolings, 0);
  restart_ = run.scratch_zeros<std::uint32_t>("walker_restart", ladders_->beta.size);
  walker_counts_ = run.scratch_zeros<WalkerCounts>("walker_counts", run.batch().groups());
}

void ReplicaExchange::enqueue(TickContext& run) {
  if (cooling_) {
    if (resolved_.walker_restart == "random") run.redraw(restart_);
    if (resolved_.walker_restart == "best") run.restore_best(restart_);
    const std::int64_t first = ladders_->beta.size - cooling_.size;
    TemperatureUpdate update;
    update.cooling = cooling_;
    update.beta = {ladders_->beta.data + first, cooling_.size};
    update.restart = {restart_.data + first, cooling_.size};
    update.control = run.control();
    run.queue().launch(update);
  }
  ladders_->sweep(run);
  if (cooling_) {
    ladders_->measure(run);
    ladders_->swap(run);
    exchange_walkers(run);
    ladders_->settle(run);
    ladders_->adapt(run);
  } else {
    ladders_->exchange(run);
  }
  run.finish_tick();
}

void ReplicaExchange::exchange_walkers(TickContext& run) {
  ReplicaBatch& batch = run.batch();
  run.queue().launch(WalkerSwap{
      batch.energy(), batch.best_energy(), ladders_->beta, ladders_->family(run), batch.rung_of(),
      ladders_->slot_of, ladders_->best_rung, ladders_->last_end, walker_counts_, batch.draw_ids(),
      run.control(), ladders_->rungs(), ladders_->walkers(), sweeps_per_tick_,
      static_cast<std::uint32_t>(resolved_.walker_interval), run.inverse_scale()});
}

void ReplicaExchange::descend(DescendContext& run) { ladders_->descend(run); }

void ReplicaExchange::report(ReportContext& run, Result& result) {
  ladders_->report(run, result);
  result.diagnostics["walkers"] = static_cast<double>(resolved_.walkers);
  if (!cooling_) return;
  double attempts = 0, accepted = 0;
  for (const WalkerCounts& count : run.read(walker_counts_)) {
    attempts += static_cast<double>(count.attempts);
    accepted += static_cast<double>(count.accepted);
  }
  result.diagnostics["walker_exchanges"] = accepted;
  if (attempts > 0) result.diagnostics["walker_acceptance"] = accepted / attempts;
}

}  // namespace kiln
