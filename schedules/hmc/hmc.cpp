// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/hmc.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kiln/device/exact_factors.hpp"
#include "kiln/device/exact_math.hpp"
#include "kiln/kernels/sweeps/temperature_update.hpp"

#include "choices.hpp"
#include "doubts.hpp"
#include "draw_recorder.hpp"
#include "draw_watch.hpp"
#include "shared/chain_mover.hpp"
#include "shared/complaints.hpp"
#include "shared/ladder.hpp"
#include "shared/ladder_options.hpp"
#include "shared/temperatures.hpp"
#include "starts.hpp"

namespace kiln {
namespace {

constexpr std::int64_t default_warmup = 1000, default_draws = 1000, default_anneal = 1000;
constexpr std::int64_t ladder_rounds = 6;

void require_transitions(Needs& needs, const Objective& objective, bool no_u_turn) {
  constexpr const char* purpose =
      "Hamiltonian transitions need an objective of reals with a gradient";
  constexpr const char* other_schedule = "choose another schedule, such as simulated-annealing";
  if (!no_u_turn) return needs.require<HamiltonianMoves>(purpose, other_schedule);
  const bool has_others = objective.offers<HamiltonianMoves>();
  needs.require<NoUTurnMoves>(purpose, has_others ? "run with sampler=chees" : other_schedule);
}

}  // namespace

Hmc::Hmc(HmcOptions options)
    : ScheduleOf(std::move(options)),
      mover_(std::make_unique<hmc::ChainMover>()),
      recorder_(std::make_unique<hmc::DrawRecorder>()),
      watch_(std::make_unique<hmc::DrawWatch>()),
      ladders_(std::make_unique<ladder::Ladders>()) {
  refuse_if_any(hmc::complaints_about(options_));
}

Hmc::~Hmc() = default;

Needs Hmc::needs(const Problem& problem, const Budget& budget) {
  resolved_ = options_;
  if (resolved_.mode == "automatic") {
    const bool sample = problem.posterior || hmc::asks_for_draws(options_);
    resolved_.mode = sample ? "sample" : "anneal";
    refuse_if_any(hmc::complaints_about(resolved_));
  }
  Needs needs;
  require_transitions(needs, *problem.objective, samples() && resolved_.sampler == "nuts");
  if (samples()) {
    // What depends on the number of chains is settled in allocate(); the budget cannot wait for it.
    if (resolved_.warmup < 0) resolved_.warmup = default_warmup;
    if (resolved_.draws < 0) resolved_.draws = default_draws;
    needs.default_sweeps = resolved_.warmup + resolved_.draws;
    needs.keeps_draws = true;
    if (tempered()) {
      needs.group_size = resolved_.rungs;
      needs.require<Parametric>(std::string(ladder::why_parameters), "run with rungs=1");
    }
    return needs;
  }
  if (resolved_.anneal_sweeps == 0) {
    resolved_.anneal_sweeps = budget.sweeps.value_or(default_anneal);
  }
  needs.default_sweeps = resolved_.anneal_sweeps;
  needs.descends_at_end = can_descend(problem) && problem.objective->offers<Descends>();
  return needs;
}

void Hmc::settle(AllocateContext& run) {
  const Objective& objective = *run.problem().objective;
  const Block& block = objective.space().blocks().front();
  hmc::Circumstances at;
  at.chains = run.batch().replicas() / resolved_.rungs;
  at.dimension = block.count;
  at.nuts = objective.offers<NoUTurnMoves>();
  at.descends = objective.offers<Descends>();
  at.walls = block.has_walls();
  at.random_starts = run.given_states() == 0;
  hmc::settle(resolved_, at);
}

void Hmc::allocate(AllocateContext& run) {
  settle(run);
  if (resolved_.descent > 0) prepare_descent(run);
  if (samples()) {
    allocate_sampling(run);
  } else {
    allocate_annealing(run);
  }
}

void Hmc::initialize(InitializeContext& run) {
  const std::int64_t groups = resolved_.super_chains;
  hmc::begin_chains(run, groups > 0 ? groups * resolved_.rungs : run.batch().replicas());
  if (samples()) {
    hmc::descend_starts(run, beta_.size, parameters_, resolved_.descent);
  } else {
    begin_cooling(run);
  }
}

void Hmc::allocate_sampling(AllocateContext& run) {
  const HmcOptions& o = resolved_;
  if (tempered()) {
    allocate_ladder(run);
    beta_ = ladders_->beta;
    parameter_ = ladders_->parameter;
  } else {
    beta_ = run.scratch("beta", std::vector<double>{1.0});
    parameter_ = {};
    parameters_ = {};
    run.show_beta(beta_);
  }
  hmc::MoverSetting setting = hmc::mover_setting(o, run.batch().state(0).variables);
  setting.pools.pools = o.rungs;
  setting.pools.members = run.batch().replicas() / o.rungs;
  if (tempered()) setting.pools.slot_of = ladders_->slot_of;
  mover_->allocate(run, setting);

  hmc::RecorderSetting recorder;
  recorder.pools = setting.pools;
  recorder.pool = o.rungs - 1;
  recorder.warmup = o.warmup;
  recorder.draws = o.draws;
  recorder.keep = o.keep;
  recorder.super_chains = o.super_chains;
  recorder.thin = o.thin;
  recorder_->allocate(run, recorder);
  watch_->begin(*recorder_);
  watch_->require_possible(run.budget().until);
}

// Rungs begin denser towards the prior, where the likelihood changes most; the warm-up places them
// at equal steps of the barrier.
void Hmc::allocate_ladder(AllocateContext& run) {
  const auto rungs = static_cast<std::size_t>(resolved_.rungs);
  ladder::Setting setting;
  setting.coordinate = ladder::Coordinate::parameter;
  setting.beta.assign(rungs, 1.0);
  for (std::size_t r = 0; r < rungs; ++r) {
    const double x = static_cast<double>(r) / static_cast<double>(rungs - 1);
    setting.parameter.push_back(resolved_.parameter_min +
                                (1 - resolved_.parameter_min) * x * x * x);
  }
  setting.adaptation = ladder::plan_rounds(resolved_.warmup, ladder_rounds, true);
  ladders_->allocate(run, setting);
  parameters_ = setting.parameter;
}

void Hmc::allocate_annealing(AllocateContext& run) {
  cooling_ = run.scratch_zeros<Cooling>("cooling", 1);
  beta_ = run.scratch_zeros<double>("beta", 1);
  parameter_ = {};
  restart_ = run.scratch_zeros<std::uint32_t>("restart", 1);
  run.show_beta(beta_);
  prepare_descent(run);

  hmc::MoverSetting setting = hmc::mover_setting(resolved_, run.batch().state(0).variables);
  setting.pools.pools = 1;
  setting.pools.members = run.batch().replicas();
  mover_->allocate(run, setting);
}

// The range may follow from the energies of the first states.
void Hmc::begin_cooling(InitializeContext& run) {
  HmcOptions& o = resolved_;
  const Objective::BetaRange range = beta_range_of(run);
  if (o.beta_max == 0) o.beta_max = std::max(range.cold, o.beta_min);
  if (o.beta_min == 0) o.beta_min = std::min(range.hot, o.beta_max);
  Cooling cooling;
  cooling.kind = CoolingKind::geometric;
  cooling.beta_begin = o.beta_min;
  cooling.beta_end = o.beta_max;
  cooling.beta_again = o.beta_min;
  cooling.length = o.anneal_sweeps;
  cooling.polish = o.polish_sweeps;
  cooling.growth = 1;
  cooling.log_rate = cooling.log_rate_again = exact::log_ratio(o.beta_max, o.beta_min);
  run.queue().upload(cooling_.data, &cooling, sizeof cooling);
}

void Hmc::enqueue(TickContext& run) {
  if (!samples()) {
    run.redraw(restart_);
    TemperatureUpdate update;
    update.cooling = cooling_;
    update.beta = beta_;
    update.restart = restart_;
    update.control = run.control();
    run.queue().launch(update);
  }
  mover_->move(run, beta_, parameter_, 0);
  if (resolved_.polish_sweeps > 0 && !samples())
    descend_by_gradient(run, {run.batch(), beta_, {}, run.control()});
  if (samples()) recorder_->record(run, mover_->statistics(), 0);
  if (tempered()) ladders_->exchange(run);
  run.finish_tick();
}

Hmc::Look Hmc::look(ReportContext& run, const DrawConditions& conditions, std::uint64_t sweeps) {
  return watch_->look(run, conditions, sweeps);
}

// Draws may be those of another run now.
void Hmc::load(const Archive&) { watch_->forget(); }

bool Hmc::grows(std::string_view array) const { return recorder_->grows(array); }

void Hmc::require_extendable(std::int64_t draws, std::uint64_t sweeps) const {
  recorder_->require_extendable(draws, sweeps);
}

void Hmc::extend_draws(Queue& queue, std::uint64_t sweeps) { recorder_->extend(queue, sweeps); }

// A time limit cuts an anneal while it is warm.
void Hmc::descend(DescendContext& run) {
  const double cold = exact::infinity();
  run.queue().upload(beta_.data, &cold, sizeof cold);
  for (std::int64_t s = 0; s < std::max<std::int64_t>(resolved_.polish_sweeps, 1); ++s) {
    descend_by_gradient(run, {run.batch(), beta_, {}, run.control()});
  }
  run.track_best();
  run.end_tick();
}

void Hmc::report(ReportContext& run, Result& result) {
  const HmcTuning tuning = mover_->read_tuning(run).back();
  result.diagnostics["step_size"] = tuning.step_size;
  if (samples()) return report_sampling(run, result);
  const std::int64_t transitions = result.work.sweeps * result.work.replicas;
  const std::int64_t gradients = transitions * std::max<std::int64_t>(1, resolved_.leapfrogs);
  tell_doubts(run, hmc::shows_trouble(result.work), static_cast<double>(gradients), result);
}

void Hmc::tell_doubts(ReportContext& run, bool trouble, double gradients, Result& result) const {
  std::string doubt = hmc::doubt_about_gradient(run, trouble, gradients);
  if (!doubt.empty()) result.advice.push_back(std::move(doubt));
}

void Hmc::report_sampling(ReportContext& run, Result& result) {
  auto sample = recorder_->collect(run, result.work.sweeps, watch_->values());
  sample->step_size = result.diagnostics["step_size"];
  if (resolved_.sampler == "nuts") sample->max_depth = static_cast<int>(resolved_.max_depth);
  sample->warmup_s = run.seconds_at(static_cast<std::uint64_t>(sample->warmup));
  sample->sampling_s =
      run.seconds_at(static_cast<std::uint64_t>(result.work.sweeps)) - sample->warmup_s;
  result.diagnostics["divergences"] = static_cast<double>(sample->divergences);
  result.diagnostics["gradients"] = sample->gradients;
  result.diagnostics["warmup_gradients"] = sample->warmup_gradients;
  const HmcAdaptation adaptation = mover_->read_adaptation(run).back();
  result.diagnostics["relocated_chains"] = adaptation.relocated;
  if (resolved_.sampler == "chees") {
    result.diagnostics["trajectory_length"] = std::exp(adaptation.log_length_mean);
  }
  if (const auto rank = mover_->read_rank(run); !rank.empty()) {
    result.diagnostics["metric_rank"] = rank.back();
  }
  if (tempered()) ladders_->report(run, result);
  tell_doubts(run, hmc::shows_trouble(*sample), sample->gradients + sample->warmup_gradients,
              result);
  result.sample = std::move(sample);
}

}  // namespace kiln
