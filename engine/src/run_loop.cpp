// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The part of a run that waits: ticks in chunks, report points between them, the result at the end.
#include <algorithm>
#include <cmath>

#include "kiln/device/exact_math.hpp"
#include "kiln/errors.hpp"

#include "run_parts.hpp"

namespace kiln {
namespace {

// A chunk is what is enqueued between two looks at the clock: long enough that looking costs
// nothing, short enough that Ctrl-C and time limits are obeyed at once.
constexpr double chunk_s = 0.01;
constexpr std::int64_t longest_chunk = 4096;

Stop stop_of(DeviceStop stop) {
  return stop == DeviceStop::target ? Stop::target_reached : Stop::sweep_limit;
}

}  // namespace

void Run::apply_limits(const Budget& budget) {
  RunControl control = control_.download().front();
  control.stop = DeviceStop::none;
  control.step_limit = budget.sweeps ? static_cast<std::uint64_t>(*budget.sweeps) : ~0ull;
  control.has_target = budget.target ? 1 : 0;
  if (budget.target) control.target = problem_.stored_target(*budget.target);
  control_.upload({control});
}

Result Run::advance(const Budget& budget, const Observers& observers, std::stop_token stop) {
  budget_ = budget;
  const bool unlimited = !budget.time_limit_s && !budget.sweeps && !budget.target;
  if (unlimited) budget_.sweeps = default_sweeps_;
  apply_limits(budget_);
  const auto begin = Clock::now();
  const double earlier_s = progress_->run_s;
  Stop reason = loop(budget_, observers, stop);
  if (unlimited && reason == Stop::sweep_limit) reason = Stop::converged;
  if (reason == Stop::time_limit || reason == Stop::interrupted) schedule_.finish(*this);
  post_summary();
  const RunSummary last = queue_->wait_summary();
  progress_->run_s += seconds_since(begin);
  if (last.control.stop == DeviceStop::target) reason = Stop::target_reached;
  if (last.control.best_key < progress_->best_key) {  // what finish() found belongs to the run
    progress_->best_key = last.control.best_key;
    progress_->to_best_s = progress_->run_s;
    report(last, earlier_s, observers);
  }
  return collect(reason);
}

Stop Run::loop(const Budget& budget, const Observers& observers, const std::stop_token& stop) {
  const auto begin = Clock::now();
  const double earlier_s = progress_->run_s;
  // Where the device works by itself the next chunk is enqueued before the last one is looked at.
  const int most_pending = queue_->can_capture() ? 2 : 1;
  int pending = 0;
  std::int64_t chunk = 1;
  std::uint64_t last_tick = 0;
  double last_s = 0;
  bool first = true;
  for (;;) {
    enqueue_ticks(chunk);
    post_summary();
    if (++pending < most_pending) continue;
    const RunSummary summary = queue_->wait_summary();
    --pending;
    const double now_s = seconds_since(begin);
    Progress& p = *progress_;
    if (summary.control.best_key < p.best_key) {
      p.best_key = summary.control.best_key;
      p.to_best_s = earlier_s + now_s;
    }
    const bool device_stop = summary.control.stop != DeviceStop::none;
    const bool time_up = budget.time_limit_s && now_s >= *budget.time_limit_s;
    const bool asked = stop.stop_requested();
    const bool due = earlier_s + now_s - p.reported_s >= options_.report_interval_s;
    bool observer_stop = false;
    if (due || device_stop || time_up || asked) {
      p.run_s = earlier_s + now_s;
      observer_stop = report(summary, earlier_s, observers);
      p.run_s = earlier_s;
    }
    if (device_stop || time_up || asked || observer_stop) {
      for (; pending > 0; --pending) queue_->wait_summary();
      if (device_stop) return stop_of(summary.control.stop);
      return asked || observer_stop ? Stop::interrupted : Stop::time_limit;
    }
    if (!first) {  // the first chunk has the cost of the first launches in it
      const double ticks = static_cast<double>(summary.control.tick - last_tick);
      const double per_tick_s = std::max(1e-9, (now_s - last_s) / std::max(1.0, ticks));
      const auto wanted = static_cast<std::int64_t>(chunk_s / per_tick_s);
      chunk = std::clamp<std::int64_t>(wanted, std::max<std::int64_t>(1, chunk / 4), chunk * 4);
      chunk = std::clamp<std::int64_t>(chunk, 1, longest_chunk);
    }
    first = false;
    last_tick = summary.control.tick;
    last_s = now_s;
  }
}

bool Run::report(const RunSummary& summary, double earlier_s, const Observers& observers) {
  Progress& p = *progress_;
  const double per_sweep =
      static_cast<double>(batch_->replicas()) * static_cast<double>(batch_->space().variables());
  const double steps = static_cast<double>(summary.control.step - p.reported_step);
  const double seconds = p.run_s - p.reported_s;
  ReportPoint point;
  point.time_s = p.run_s;
  point.sweeps = static_cast<std::int64_t>(summary.control.step);
  point.attempts = static_cast<double>(summary.control.step) * per_sweep;
  point.has_best = summary.control.best_key != ~0ull;
  if (point.has_best) {
    const double stored = exact::from_order_key(summary.control.best_key);
    point.best = problem_.objective_of_stored(stored);
    point.best_energy = problem_.energy_of_stored(stored);
  }
  point.mean = problem_.objective_of_stored(summary.mean_energy);
  point.beta = summary.beta;
  if (steps > 0) {
    point.acceptance_rate =
        static_cast<double>(summary.accepted - p.reported_accepted) / (steps * per_sweep);
  }
  if (seconds > 0) point.attempts_per_ns = steps * per_sweep / (seconds * 1e9);
  point.improved = summary.control.best_key < p.reported_best_key;
  if (budget_.time_limit_s) {  // of this call of advance()
    point.time_left_s = std::max(0.0, *budget_.time_limit_s - (p.run_s - earlier_s));
  }
  if (budget_.sweeps && summary.control.step > 0) {
    const double left = static_cast<double>(*budget_.sweeps) - static_cast<double>(point.sweeps);
    const double left_s = std::max(0.0, left * p.run_s / static_cast<double>(point.sweeps));
    point.time_left_s = budget_.time_limit_s ? std::min(point.time_left_s, left_s) : left_s;
  }
  p.reported_s = p.run_s;
  p.reported_step = summary.control.step;
  p.reported_accepted = summary.accepted;
  p.reported_best_key = summary.control.best_key;
  bool stop = false;
  for (const Observer& observer : observers) stop |= observer(point) == Next::stop;
  return stop;
}

namespace {

std::int64_t best_slot_of(const std::vector<double>& energies, std::int64_t replicas) {
  std::int64_t best = -1;
  for (std::int64_t r = 0; r < replicas; ++r) {
    const double energy = energies[static_cast<std::size_t>(r)];
    if (!std::isfinite(energy)) continue;
    if (best < 0 || energy < energies[static_cast<std::size_t>(best)]) best = r;
  }
  return best;
}

std::uint64_t sum(const std::vector<std::uint64_t>& values, std::int64_t replicas) {
  std::uint64_t total = 0;
  for (std::int64_t r = 0; r < replicas; ++r) total += values[static_cast<std::size_t>(r)];
  return total;
}

// Integers must agree exactly; sums of reals in another order may differ in the last digits.
bool agrees(double claimed, double recomputed, const Problem& problem) {
  if (problem.integral) return claimed == recomputed;
  const double relative = 1e-9 * std::max(1.0, std::abs(recomputed));
  return std::abs(claimed - recomputed) <= std::max(relative, problem.rounding);
}

}  // namespace

Result Run::collect(Stop stop) {
  const RunControl control = control_.download().front();
  const std::vector<double> energies = batch_->read_energies(true);
  Result result;
  result.problem = problem_.name;
  result.family = problem_.family;
  result.schedule = schedule_.name();
  result.parameters = schedule_.parameters();
  const DeviceInfo info = opened_.backend->info();
  result.device = info.name;
  result.device_description = info.description;
  result.fallback_reason = opened_.fallback_reason;
  result.seed = options_.seed;
  result.sense = problem_.sense;
  result.integral = problem_.integral;
  result.stop = stop;
  result.graph_capture = progress_->captured;
  result.work.sweeps = static_cast<std::int64_t>(control.step);
  result.work.replicas = batch_->replicas();
  result.work.attempts = static_cast<double>(control.step) *
                         static_cast<double>(batch_->replicas()) *
                         static_cast<double>(batch_->space().variables());
  result.work.ticks = static_cast<std::int64_t>(control.tick);
  result.work.accepted = sum(batch_->read_accepted(), batch_->replicas());
  result.work.not_finite = sum(batch_->read_not_finite(), batch_->replicas());
  result.time = {progress_->setup_s, progress_->run_s, progress_->to_best_s};

  result.best_replica = best_slot_of(energies, batch_->replicas());
  if (result.best_replica < 0) {
    throw ObjectiveError("objective.not_finite",
                         "objective '" + problem_.objective->name() + "' gave no finite value in " +
                             std::to_string(result.work.not_finite) + " trial evaluations",
                         "at least one state must have a finite value");
  }
  const double stored = energies[static_cast<std::size_t>(result.best_replica)];
  result.objective = problem_.objective_of_stored(stored);
  result.energy = problem_.energy_of_stored(stored);
  result.solution = batch_->read_states({result.best_replica}, true).front();
  if (problem_.best_known) {
    result.best_known = problem_.best_known;
    const double difference = problem_.sense == Sense::maximize
                                  ? *problem_.best_known - result.objective
                                  : result.objective - *problem_.best_known;
    const double size = std::abs(*problem_.best_known);
    if (size > 0) result.gap = difference / size;
  }
  if (problem_.verify) {
    const double again = problem_.verify(spans_of(result.solution));
    result.verified = agrees(result.objective, again, problem_);
  }
  schedule_.report(*this, result);
  result.work.device = queue_->counters();
  result.work.in_ticks = progress_->in_ticks;
  return result;
}

}  // namespace kiln
