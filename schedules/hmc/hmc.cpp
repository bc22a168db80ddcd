// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/hmc.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kiln/device/exact_math.hpp"
#include "kiln/errors.hpp"
#include "kiln/kernels/temperature_update.hpp"

#include "draw_recorder.hpp"
#include "shared/chain_mover.hpp"
#include "shared/complaints.hpp"
#include "shared/ladder.hpp"
#include "shared/ladder_options.hpp"
#include "shared/temperatures.hpp"

namespace kiln {
namespace {

constexpr std::int64_t many_chains = 128;  // from here on chains learn together
constexpr std::int64_t default_anneal = 1000;
constexpr std::int64_t small_dimension = 64;  // correlations cost little up to here
constexpr std::int64_t default_rank = 16;
constexpr std::int64_t ladder_rounds = 6;

std::vector<std::string> complaints_about(const HmcOptions& o) {
  std::vector<std::string> all = HmcOptions::table().validate(o);
  const bool fixed = o.sampler == "static";
  if (o.leapfrogs > 0 && !fixed) {
    all.push_back("leapfrogs is used by sampler=static only");
  }
  if (fixed && o.leapfrogs == 0 && o.length == 0) {
    all.push_back("sampler=static needs leapfrogs or length, for example leapfrogs=16");
  }
  if (fixed && o.leapfrogs > 0 && o.length > 0) {
    all.push_back("leapfrogs and length contradict each other: give one of them");
  }
  complain_about_betas(all, o);
  if (o.rungs > 1 && o.mode == "anneal") {
    all.push_back("rungs is used by mode=sample only");
  }
  if (o.rungs > 1 && o.parameter_min >= 1) {
    all.push_back("parameter_min must be less than 1, where the ladder ends");
  }
  return all;
}

// Chains whose random start has no finite energy begin where another one does.
void mend_starts(Run& run) {
  ReplicaBatch& batch = run.batch();
  const std::vector<double> energies = batch.read_energies(false);
  std::vector<std::int64_t> all, good;
  for (std::int64_t r = 0; r < batch.replicas(); ++r) {
    all.push_back(r);
    if (std::isfinite(energies[static_cast<std::size_t>(r)])) good.push_back(r);
  }
  if (good.size() == all.size()) return;
  if (good.empty()) {
    throw ObjectiveError("objective.start",
                         "none of " + std::to_string(all.size()) + " starts of objective '" +
                             run.problem().objective->name() + "' has a finite value",
                         "starts lie within the bounds, or within 2 of 0 where there are none",
                         "--initial FILE with a point inside the support, or more --replicas");
  }
  const std::vector<State> from = batch.read_states(all, false);
  std::vector<State> states;
  std::size_t next = 0;
  for (const std::int64_t r : all) {
    const bool finite = std::isfinite(energies[static_cast<std::size_t>(r)]);
    states.push_back(from[static_cast<std::size_t>(finite ? r : good[next++ % good.size()])]);
  }
  batch.write_states(states);
  run.evaluate(batch.energy(), {});
}

}  // namespace

Hmc::Hmc(HmcOptions options)
    : options_(std::move(options)),
      resolved_(options_),
      mover_(std::make_unique<hmc::ChainMover>()),
      recorder_(std::make_unique<hmc::DrawRecorder>()),
      ladders_(std::make_unique<ladder::Ladders>()) {
  refuse_if_any(complaints_about(options_));
}

Hmc::~Hmc() = default;

std::map<std::string, std::string> Hmc::parameters() const {
  return HmcOptions::table().show(resolved_);
}

Needs Hmc::needs(const Problem& problem, const Budget& budget) {
  resolved_ = options_;
  if (resolved_.mode == "automatic") resolved_.mode = problem.posterior ? "sample" : "anneal";
  Needs needs;
  if (samples()) {
    // What depends on the number of chains is settled in start(); the budget cannot wait for it.
    const std::int64_t warmup = std::max<std::int64_t>(resolved_.warmup, 0);
    needs.default_sweeps = (options_.warmup < 0 ? 1000 : warmup) + resolved_.draws;
    if (tempered()) {
      needs.group_size = resolved_.rungs;
      needs.parameters = true;
    }
    return needs;
  }
  if (resolved_.rungs > 1) {
    throw InvalidArgument("hmc.rungs", "rungs is used by mode=sample only");
  }
  if (resolved_.anneal_sweeps == 0) {
    resolved_.anneal_sweeps = budget.sweeps.value_or(default_anneal);
  }
  needs.default_sweeps = resolved_.anneal_sweeps;
  return needs;
}

void Hmc::start(Run& run) {
  mend_starts(run);
  const std::int64_t chains = run.batch().replicas() / resolved_.rungs;
  const std::int64_t d = run.batch().state(0).variables;
  HmcOptions& o = resolved_;
  if (o.sampler == "automatic") {
    const bool nuts = run.problem().objective->abilities().nuts_transition;
    o.sampler = !samples() || !nuts || chains >= many_chains ? "chees" : "nuts";
  }
  if (!samples() && options_.sampler == "automatic") o.sampler = "static";
  if (o.target_acceptance == 0) o.target_acceptance = o.sampler == "nuts" ? 0.8 : 0.7;
  if (o.warmup < 0) o.warmup = 1000;
  if (o.metric == "automatic") o.metric = d <= small_dimension ? "low_rank" : "diagonal";
  const Block& block = run.problem().objective->space().blocks().front();
  const bool walls = std::isfinite(block.lower) || std::isfinite(block.upper);
  if (walls && o.metric != "unit") o.metric = "diagonal";
  if (o.metric == "low_rank" && o.metric_rank == 0) {
    o.metric_rank = d <= small_dimension ? d : default_rank;
  }
  if (samples()) {
    start_sampling(run);
  } else {
    start_annealing(run);
  }
}

void Hmc::start_sampling(Run& run) {
  const HmcOptions& o = resolved_;
  if (tempered()) {
    start_ladder(run);
    beta_ = ladders_->beta;
    parameter_ = ladders_->parameter;
  } else {
    beta_ = run.scratch("beta", std::vector<double>{1.0});
    parameter_ = {};
    run.show_beta(beta_);
  }
  hmc::MoverSetting setting;
  setting.no_u_turn = o.sampler == "nuts";
  setting.learns_length = o.sampler == "chees";
  setting.leapfrogs = o.leapfrogs;
  setting.length = o.length;
  setting.step_size = o.step_size;
  setting.jitter = o.jitter;
  setting.target_acceptance = o.target_acceptance;
  setting.most_leapfrogs = o.max_leapfrogs;
  setting.max_depth = o.max_depth;
  setting.warmup = o.warmup;
  setting.adapts_metric = o.metric != "unit";
  const std::int64_t d = run.batch().state(0).variables;
  setting.rank = o.metric == "dense" ? d : o.metric == "low_rank" ? o.metric_rank : 0;
  setting.largest_change = o.metric == "dense" ? 0 : 1;
  setting.pools.pools = o.rungs;
  setting.pools.members = run.batch().replicas() / o.rungs;
  if (tempered()) setting.pools.slot_of = ladders_->slot_of;
  mover_->start(run, setting);

  hmc::RecorderSetting recorder;
  recorder.pools = setting.pools;
  recorder.pool = o.rungs - 1;
  recorder.warmup = o.warmup;
  recorder.draws = o.draws;
  recorder.keep = o.keep;
  recorder.thin = o.thin;
  recorder_->start(run, recorder);
}

// Rungs begin denser towards the prior, where the likelihood changes most; the warm-up places them
// at equal steps of the barrier.
void Hmc::start_ladder(Run& run) {
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
  ladders_->start(run, setting);
}

void Hmc::start_annealing(Run& run) {
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
  cooling.growth = 1;
  cooling.log_rate = cooling.log_rate_again = exact::log(o.beta_max / o.beta_min);
  cooling_ = run.scratch("cooling", std::vector<Cooling>{cooling});
  beta_ = run.scratch_zeros<double>("beta", 1);
  parameter_ = {};
  restart_ = run.scratch_zeros<std::uint32_t>("restart", 1);
  run.show_beta(beta_);

  hmc::MoverSetting setting;
  setting.leapfrogs = o.leapfrogs > 0 || o.length > 0 ? o.leapfrogs : 8;
  setting.length = o.length;
  setting.step_size = o.step_size;
  setting.jitter = o.jitter > 0 ? o.jitter : 0.5;
  setting.target_acceptance = o.target_acceptance;
  setting.most_leapfrogs = o.max_leapfrogs;
  setting.adapts_metric = false;
  setting.never_frozen = true;
  setting.pools.pools = 1;
  setting.pools.members = run.batch().replicas();
  mover_->start(run, setting);
}

void Hmc::enqueue(Run& run) {
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
  if (samples()) recorder_->record(run, mover_->statistics(), 0);
  if (tempered()) ladders_->exchange(run);
  run.track_best();
}

void Hmc::report(Run& run, Result& result) {
  const HmcTuning tuning = mover_->read_tuning(run).back();
  result.diagnostics["step_size"] = tuning.step_size;
  if (samples()) report_sampling(run, result);
}

void Hmc::report_sampling(Run& run, Result& result) {
  auto sample = recorder_->collect(run, result.work.sweeps);
  sample->step_size = result.diagnostics["step_size"];
  if (resolved_.sampler == "nuts") sample->max_depth = static_cast<int>(resolved_.max_depth);
  sample->warmup_s = run.seconds_at(static_cast<std::uint64_t>(sample->warmup));
  sample->sampling_s =
      run.seconds_at(static_cast<std::uint64_t>(result.work.sweeps)) - sample->warmup_s;
  result.diagnostics["divergences"] = static_cast<double>(sample->divergences);
  result.diagnostics["gradients"] = sample->gradients;
  result.diagnostics["warmup_gradients"] = sample->warmup_gradients;
  if (resolved_.sampler == "chees") {
    result.diagnostics["trajectory_length"] =
        std::exp(mover_->read_adaptation(run).back().log_length_mean);
  }
  if (const auto rank = mover_->read_rank(run); !rank.empty()) {
    result.diagnostics["metric_rank"] = rank.back();
  }
  if (tempered()) ladders_->report(run, result);
  result.sample = std::move(sample);
}

void Hmc::save(Archive&) const {}
void Hmc::load(const Archive&) {}

}  // namespace kiln
