// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/parallel_tempering.hpp"

#include <algorithm>
#include <cmath>

#include "kiln/device/exact_math.hpp"
#include "kiln/errors.hpp"
#include "kiln/run.hpp"

#include "shared/temperatures.hpp"

namespace kiln {
namespace {

constexpr std::int64_t default_burn_in = 2000;
constexpr std::int64_t shortest_round = 2;  // ticks: both parities of pairs

// The barrier between hot and cold grows like the square root of the number of variables, and about
// two rungs per unit of it are wanted. Powers of two fit into the words of 32 replicas.
std::int64_t guess_rungs(std::int64_t variables) {
  return variables <= 64 ? 8 : variables <= 400 ? 16 : 32;
}

PairMode mode_of(const std::string& pairs) {
  if (pairs == "random_adjacent") return PairMode::random_adjacent;
  if (pairs == "sequential") return PairMode::sequential;
  if (pairs == "all_pairs") return PairMode::all_pairs;
  return PairMode::even_odd;
}

CadenceKind kind_of(const std::string& cadence) {
  if (cadence == "adaptive") return CadenceKind::adaptive;
  if (cadence == "stochastic") return CadenceKind::stochastic;
  return CadenceKind::fixed;
}

std::vector<std::string> complaints_about(const ParallelTemperingOptions& o) {
  std::vector<std::string> all = ParallelTemperingOptions::table().validate(o);
  if (o.beta_max > 0 && o.beta_min > o.beta_max) {
    all.push_back("beta_min must not be greater than beta_max");
  }
  if (o.ladder == "list" && o.betas.empty()) {
    all.push_back("ladder=list needs betas, for example betas=0.1,0.5,1,2");
  }
  if (o.ladder != "list" && !o.betas.empty()) all.push_back("betas are used by ladder=list only");
  if (std::adjacent_find(o.betas.begin(), o.betas.end(), std::greater_equal<>()) != o.betas.end()) {
    all.push_back("betas must rise from one to the next");
  }
  if (o.betas.size() > static_cast<std::size_t>(ReplicaSwap::max_rungs)) {
    all.push_back("a ladder has at most 1024 rungs");
  }
  if (!o.betas.empty() && o.rungs > 0 && static_cast<std::size_t>(o.rungs) != o.betas.size()) {
    all.push_back("rungs must be the number of betas, or be left out");
  }
  if (o.interval_min > o.interval_max) {
    all.push_back("interval_min must not be greater than interval_max");
  }
  return all;
}

template <class T>
std::vector<T> filled(std::int64_t size, T value) {
  return std::vector<T>(static_cast<std::size_t>(size), value);
}

}  // namespace

ParallelTempering::ParallelTempering(ParallelTemperingOptions options)
    : options_(std::move(options)), resolved_(options_) {
  std::string all;
  for (const std::string& complaint : complaints_about(options_)) {
    all += (all.empty() ? "" : "\n  ") + complaint;
  }
  if (!all.empty()) throw InvalidArgument("config.option", all);
}

ParallelTempering::~ParallelTempering() = default;

std::map<std::string, std::string> ParallelTempering::parameters() const {
  return ParallelTemperingOptions::table().show(resolved_);
}

Needs ParallelTempering::needs(const Problem& problem, const Budget& budget) {
  resolved_ = options_;
  if (!options_.betas.empty()) resolved_.rungs = static_cast<std::int64_t>(options_.betas.size());
  if (resolved_.rungs == 0) resolved_.rungs = guess_rungs(problem.objective->space().variables());
  if (resolved_.burn_in < 0) {
    resolved_.burn_in = budget.sweeps ? *budget.sweeps / 4 : default_burn_in;
  }
  rungs_ = resolved_.rungs;
  sweeps_per_tick_ = static_cast<std::uint32_t>(resolved_.sweeps_per_swap);
  Needs needs;
  needs.sweeps_per_tick = sweeps_per_tick_;
  needs.default_sweeps = 4 * std::max<std::int64_t>(resolved_.burn_in, default_burn_in);
  needs.group_size = rungs_;
  return needs;
}

void ParallelTempering::resolve_range(Run& run) {
  if (!resolved_.betas.empty()) {
    resolved_.beta_min = resolved_.betas.front();
    resolved_.beta_max = resolved_.betas.back();
    return;
  }
  const Objective::BetaRange range = beta_range_of(run);
  if (resolved_.beta_max == 0) resolved_.beta_max = std::max(range.cold, resolved_.beta_min);
  if (resolved_.beta_min == 0) resolved_.beta_min = std::min(range.hot, resolved_.beta_max);
}

std::vector<double> ParallelTempering::first_ladder() const {
  if (!resolved_.betas.empty()) return resolved_.betas;
  const double hot = resolved_.beta_min, cold = resolved_.beta_max;
  std::vector<double> betas;
  for (std::int64_t r = 0; r < rungs_; ++r) {
    // A single rung is the coldest.
    const double share =
        rungs_ > 1 ? static_cast<double>(r) / static_cast<double>(rungs_ - 1) : 1.0;
    betas.push_back(resolved_.ladder == "linear"
                        ? hot + (cold - hot) * share
                        : hot * exact::exp(exact::log(cold / hot) * share));
  }
  betas.back() = cold;
  if (rungs_ > 1) betas.front() = hot;
  return betas;
}

// Rounds of n, 2 n, 4 n, ... ticks that fill the burn-in.
LadderPlan ParallelTempering::plan_adaptation() const {
  const std::int64_t ticks = resolved_.burn_in / resolved_.sweeps_per_swap;
  LadderPlan plan;
  plan.moves = resolved_.ladder == "adaptive" ? 1 : 0;
  plan.rounds_left = resolved_.adaptation_rounds;
  const auto parts = [&] { return (std::int64_t{1} << plan.rounds_left) - 1; };
  while (plan.rounds_left > 0 && ticks < shortest_round * parts()) --plan.rounds_left;
  plan.round_calls = plan.rounds_left > 0 ? ticks / parts() : 1;
  return plan;
}

SwapCadence ParallelTempering::plan_cadence() const {
  SwapCadence cadence;
  cadence.kind = kind_of(resolved_.cadence);
  cadence.least = static_cast<double>(resolved_.interval_min);
  cadence.most = static_cast<double>(resolved_.interval_max);
  if (cadence.kind == CadenceKind::adaptive) cadence.interval = cadence.least;
  cadence.target = resolved_.swap_target;
  cadence.factor = resolved_.swap_gain;
  cadence.window = resolved_.swap_window;
  cadence.burn_in = static_cast<std::uint64_t>(resolved_.burn_in);
  cadence.probability = resolved_.swap_probability;
  return cadence;
}

void ParallelTempering::start(Run& run) {
  resolve_range(run);
  const std::int64_t ladders = run.batch().groups(), slots = run.batch().slots();
  const std::vector<double> ladder = first_ladder();
  std::vector<double> betas;
  std::vector<std::int32_t> slot_of, best_rung = filled<std::int32_t>(slots, 0);
  for (std::int64_t i = 0; i < ladders * rungs_; ++i) {
    betas.push_back(ladder[static_cast<std::size_t>(i % rungs_)]);
    slot_of.push_back(static_cast<std::int32_t>(i));
    best_rung[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i % rungs_);
  }
  // Replica k of a ladder begins at rung k; padding sweeps along at the first rung of all.
  std::vector<std::int32_t> rung_of = slot_of;
  rung_of.resize(static_cast<std::size_t>(slots), 0);
  run.queue().upload(run.batch().rung_of().data, rung_of.data(), rung_of.size() * sizeof(int));

  SwapLadder fresh;
  fresh.interval = plan_cadence().interval;
  beta_ = run.scratch("beta", betas);
  cold_ = run.scratch("cold", filled(ladders * rungs_, exact::infinity()));
  slot_of_ = run.scratch("slot_of", slot_of);
  best_rung_ = run.scratch("best_rung", best_rung);
  ladders_ = run.scratch("ladders", filled(ladders, fresh));
  last_end_ = run.scratch("last_end", filled(slots, LadderEnd::none));
  round_trips_ = run.scratch("round_trips", filled<std::uint32_t>(slots, 0));
  const auto none = filled<std::uint64_t>(rungs_ - 1, 0);
  counts_ = {run.scratch("attempts", none), run.scratch("accepted", none),
             run.scratch("chance", none), run.scratch("totals", filled<std::uint64_t>(2, 0))};
  sums_ = run.scratch("sums", filled(rungs_, RungSums{}));
  plan_ = run.scratch("plan", filled(1, plan_adaptation()));
  barrier_ = run.scratch("barrier", filled(rungs_, 0.0));
  slope_ = run.scratch("slope", filled(rungs_, 0.0));
  fresh_ = run.scratch("fresh", filled(rungs_, 0.0));
  start_clusters(run);
  run.show_beta({beta_.data + rungs_ - 1, 1});
}

void ParallelTempering::enqueue(Run& run) {
  ReplicaBatch& batch = run.batch();
  for (std::uint32_t s = 0; s < sweeps_per_tick_; ++s) {
    run.sweep(beta_, s, s + 1 == sweeps_per_tick_);
  }
  move_clusters(run);
  run.queue().launch(LadderStatistics{batch.energy(), batch.best_energy(), beta_, slot_of_,
                                      best_rung_, sums_, batch.groups(), run.control(),
                                      sweeps_per_tick_, run.inverse_scale()});
  run.queue().launch(ReplicaSwap{batch.energy(), beta_, batch.rung_of(), slot_of_, ladders_,
                                 last_end_, round_trips_, counts_, batch.names(), run.control(),
                                 rungs_, mode_of(resolved_.pairs), plan_cadence(), sweeps_per_tick_,
                                 run.inverse_scale()});
  run.queue().launch(LadderUpdate{plan_, beta_, sums_, counts_, barrier_, slope_, fresh_,
                                  run.control(), sweeps_per_tick_});
  run.track_best();
}

void ParallelTempering::finish(Run& run) {
  if (run.problem().objective->abilities().pace == Pace::host) return;
  descend(run, cold_, sweeps_per_tick_);
}

void ParallelTempering::save(Archive&) const {}
void ParallelTempering::load(const Archive&) {}

}  // namespace kiln
