// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The part of a run that waits: ticks in chunks, report points between them, the result at the end.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "kiln/alarm.hpp"
#include "kiln/archive.hpp"
#include "kiln/device/exact_math.hpp"
#include "kiln/errors.hpp"
#include "kiln/watchdog/heartbeat.hpp"

#include "call_limit.hpp"
#include "commands/run_commands.hpp"
#include "executors/tick_player.hpp"
#include "limits/plan_work.hpp"
#include "run_parts.hpp"
#include "telemetry/run_telemetry.hpp"

namespace kiln {
namespace {

// Ticks that are enqueued between two looks at the clock.
constexpr std::int64_t longest_chunk = 1 << 16;

// What a run may take beyond its limit: to end a tick, and then to leave a better state.
constexpr double tick_grace_s = 0.1, descent_grace_s = 0.15;
// A descent takes a tick at least, which may be cheaper where little is accepted. What surely takes
// longer is not begun: a large state is not even copied for it.
constexpr double longest_tick_to_descend_s = 2 * descent_grace_s;

Alarm::Clock::time_point after(double seconds) {
  constexpr double longest_s = 1e8;  // years, and still within the clock
  const std::chrono::duration<double> time(std::clamp(seconds, 0.0, longest_s));
  return Alarm::Clock::now() + std::chrono::duration_cast<Alarm::Clock::duration>(time);
}

// Whether the run ends before its limit of work: it then descends, where that is quick.
bool ends_early(Stop stop) {
  return stop == Stop::time_limit || stop == Stop::interrupted || stop == Stop::observer;
}

Stop stop_of(const Alarm& alarm) {
  return alarm.stop.stop_requested() ? Stop::interrupted : Stop::time_limit;
}

}  // namespace

void RunCore::Progress::add_look(std::uint64_t step, double seconds) {
  constexpr std::size_t most = 4096;
  if (looks.back().step == step) return;
  looks.push_back({step, seconds});
  if (looks.size() < most) return;
  for (std::size_t i = 1; 2 * i < looks.size(); ++i) looks[i] = looks[2 * i];
  looks.resize((looks.size() + 1) / 2);
}

void RunCore::Progress::forget_since(const Progress& earlier) {
  best_key = earlier.best_key;
  best_step = earlier.best_step;
  to_best_s = earlier.to_best_s;
  reported_step = earlier.reported_step;
  reported_accepted = earlier.reported_accepted;
  reported_nonfinite = earlier.reported_nonfinite;
  reported_best_key = earlier.reported_best_key;
  looks = earlier.looks;
  control = earlier.control;
}

double RunCore::seconds_at(std::uint64_t step) const {
  const std::vector<Progress::Look>& looks = progress_->looks;
  const auto above = std::lower_bound(looks.begin(), looks.end(), step,
                                      [](const auto& look, auto s) { return look.step < s; });
  if (above == looks.end()) return looks.back().run_s;
  if (above == looks.begin()) return above->run_s;
  const auto below = above - 1;
  const double share =
      static_cast<double>(step - below->step) / static_cast<double>(above->step - below->step);
  return below->run_s + share * (above->run_s - below->run_s);
}

std::optional<Result> RunCore::advance(const Budget& limit, const Observers& observers,
                                       std::stop_token stop, const StageLimit* own) {
  check_budget(limit);
  const bool within_another = std::exchange(advances_, true);
  const auto end = [&](void*) { advances_ = within_another; };
  const std::unique_ptr<void, decltype(end)> until_it_returns(this, end);
  check_until(limit, schedule_, needs_);
  check_stop_when(limit, schedule_, needs_, options_.telemetry);
  const std::optional<std::uint64_t> counted = counted_limit();
  const bool by_schedule = take_limits(limit);
  require_whole();
  while (progress_->pending > 0) wait_summary();  // an observer threw before they were read
  progress_->enqueued = progress_->control.tick;
  const bool within =
      !loaded_ && budget_.sweeps && limit_.sweeps.value_or(INT64_MAX) <= *budget_.sweeps;
  const bool all_whole =
      progress_->control.step == progress_->control.tick * needs_.sweeps_per_tick;
  if (within != ends_with_budget_ || counted != counted_limit() || all_whole != all_ticks_whole_) {
    player_->drop();
  }
  ends_with_budget_ = within;
  all_ticks_whole_ = all_whole;
  capture_tick();
  const DeviceStop spent = apply_limits();
  CallLimit calls(problem_, limit_.time_limit_s, stop);
  const double earlier_s = progress_->run_s;
  Alarm alarm{stop};
  if (limit.time_limit_s) alarm.deadline = after(*limit.time_limit_s + tick_grace_s);
  Loop ticks{observers, alarm, calls, earlier_s, Clock::now()};
  const std::optional<Stop> judged = spent != DeviceStop::none ? stop_at(spent) : judge_run(true);
  Stop reason = judged ? *judged : loop(ticks);
  if (own != nullptr && ends_stage(reason, *own)) {
    finish_stage(reason);
    return {};
  }
  const bool early = ends_early(reason);
  const bool descends = needs_.descends_at_end && progress_->tick_s <= longest_tick_to_descend_s;
  const bool more = cuts_tick(reason) || (early && descends);
  if (by_schedule && reason == Stop::sweep_limit) reason = Stop::converged;
  return more ? conclude_on_copy(reason, alarm, observers, earlier_s)
              : conclude(reason, observers, earlier_s);
}

Result RunCore::conclude(Stop stop, const Observers& observers, double earlier_s) {
  post_summary();
  const RunSummary last = wait_summary();
  Progress& p = *progress_;
  if (last.control.stop == DeviceStop::target) stop = stop_at(DeviceStop::target);
  if (last.control.best_key < p.best_key) {
    p.best_key = last.control.best_key;
    p.best_step = last.control.step;
    p.to_best_s = p.run_s;
    report(last, earlier_s, observers);
  } else if (last.control.step > p.reported_step) {
    report(last, earlier_s, observers);
  }
  return collect(stop, last);
}

// The copy is what the run goes back to, because schedules know the places of the original. What
// would take too long is left out. A run that ends here needs none where nothing is abandoned.
Result RunCore::conclude_on_copy(Stop stop, const Alarm& alarm, const Observers& observers,
                                 double earlier_s) {
  const auto begin = Clock::now();
  const bool early = ends_early(stop);
  const Alarm grace{{}, after(descent_grace_s)};
  const bool goes_back = !ends_here_ || queue_->on_cpu();
  Archive end_of_tick(*queue_);
  if (goes_back) save(end_of_tick);
  const Progress before = *progress_;
  const auto forget = [&] {
    if (!goes_back) return give_up();
    go_back(end_of_tick);
    progress_->forget_since(before);
  };
  try {
    open_limits();
    {
      const ArmedQueue armed(*queue_, early ? &grace : &alarm);
      if (early) {
        DescendContext down(*this);
        schedule_.descend(down);
      } else {
        enqueue_ticks(1, false);
      }
      queue_->wait();
    }
    progress_->run_s += seconds_since(begin);
    Result result = conclude(stop, observers, earlier_s);
    forget();
    return result;
  } catch (const GaveUp&) {
    forget();
    return conclude(early ? stop : stop_of(alarm), observers, earlier_s);
  } catch (...) {
    forget();
    throw;
  }
}

Result RunCore::result_so_far(Stop stop) { return collect(stop, progress_->last); }

// Towards a time limit looks become frequent: two chunks fit before it.
TickPlayer::Look RunCore::look_at(double now_s, std::int64_t max_ticks) const {
  TickPlayer::Look look;
  look.max_ticks = max_ticks;
  look.enqueued = progress_->enqueued;
  look.elapsed_s = progress_->run_s + now_s;
  look.interval_s = options_.report_interval_s;
  if (limit_.time_limit_s) look.limit_s = (*limit_.time_limit_s - now_s) / 2;
  return look;
}

Stop RunCore::loop(Loop& loop) {
  const double earlier_s = loop.earlier_s;
  const Alarm& alarm = loop.alarm;
  const RunCommands::Armed armed(commands_.get(), alarm.stop);
  Heartbeat* const heart = Heartbeat::of_this_thread();
  if (heart != nullptr) heart->forget_ticks();
  // Where the device works by itself the next chunk is enqueued before the last one is looked at.
  const int max_pending = queue_->can_capture() && !host_paced_ ? 2 : 1;
  const std::int64_t longest =
      telemetry_ ? std::min(longest_chunk, telemetry_->longest_chunk()) : longest_chunk;
  std::int64_t chunk = 1, allowed = 1;
  player_->forget_chunks();
  std::uint64_t last_tick = progress_->control.tick;
  double last_s = 0, last_copies_s = progress_->copies_s;
  bool first = true;
  std::int64_t left = ticks_to_look();  // not yet enqueued, until the host looks
  for (;;) {
    // Ticks of the host come one by one: the next may take a model that the last did without.
    if (!host_paced_) chunk = player_->chunk(look_at(seconds_since(loop.begin), allowed));
    if (const std::int64_t ticks = std::min(chunk, left); ticks > 0) {
      if (!try_ticks(ticks, alarm)) {
        progress_->run_s = earlier_s + seconds_since(loop.begin);
        return stop_of(alarm);
      }
      player_->hand_over();
      ++progress_->pending;
      player_->begin_chunk();
      left -= ticks;
      if (progress_->pending < max_pending && left > 0) continue;
    }
    RunSummary summary = wait_summary();
    double now_s = seconds_since(loop.begin);
    Progress& p = *progress_;
    p.add_look(summary.control.step, earlier_s + now_s);
    time_incumbents();
    if (summary.control.best_key < p.best_key) {
      p.best_key = summary.control.best_key;
      p.best_step = summary.control.step;
      p.to_best_s = earlier_s + now_s;
    }
    bool ordered = false;  // by a command, to stop
    const bool held = summary.control.stop == DeviceStop::held;
    if (held) release_hold();
    if (held || (commands_ && left == 0 && p.pending == 0 && commands_->is_due(hold_point()))) {
      ordered = take_commands(loop);
      left = ticks_to_look();
      summary = p.last;
      now_s = seconds_since(loop.begin);
    }
    const bool device_stop = summary.control.stop != DeviceStop::none;
    const bool time_up = limit_.time_limit_s && now_s >= *limit_.time_limit_s;
    const bool asked = ordered || alarm.stop.stop_requested();
    const bool due = earlier_s + now_s - p.reported_s >= options_.report_interval_s;
    const Observer* observer_stop = nullptr;
    bool spent = left == 0 && p.pending == 0;
    std::optional<Stop> judged;
    if (spent && !device_stop && whole_ticks_left() > 0) {
      judged = judge_run(false);
      left = ticks_to_look();
      spent = false;
    }
    if (due || device_stop || spent || judged || time_up || asked) {
      p.run_s = earlier_s + now_s;
      observer_stop = report(summary, earlier_s, loop.observers);
      p.run_s = earlier_s;
    }
    if (device_stop || spent || judged || time_up || asked || observer_stop != nullptr) {
      while (progress_->pending > 0) summary = wait_summary();
      if (summary.control.stop == DeviceStop::held) {  // since: by what comes after this call
        release_hold();
        summary = p.last;
      }
      progress_->run_s = earlier_s + seconds_since(loop.begin);
      const DeviceStop device = summary.control.stop;
      if (judged) return *judged;
      if (device == DeviceStop::target) return stop_at(device);
      // Calls of the last ticks may have been cut off, so that these were none.
      const bool cut_off = problem_.watches_stop() && (asked || time_up);
      // A schedule may stop the device, too: before the limit, then.
      const bool own = device == DeviceStop::step_limit && left > 0;
      if (own && !cut_off) return Stop::sweep_limit;
      if (device != DeviceStop::none && !cut_off) return stop_at(device);
      if (spent && !cut_off) return stop_at(DeviceStop::step_limit);
      if (asked) return Stop::interrupted;
      return observer_stop != nullptr ? stop_by(*observer_stop) : Stop::time_limit;
    }
    const double ticks = static_cast<double>(summary.control.tick - last_tick);
    // A large copy would make each tick seem long, and so be made before each of them.
    const double copied_s = p.copies_s - std::exchange(last_copies_s, p.copies_s);
    const double per_tick_s = std::max(1e-9, (now_s - last_s - copied_s) / std::max(1.0, ticks));
    progress_->tick_s = per_tick_s;
    if (heart != nullptr) heart->saw_ticks(summary.control.step, per_tick_s);
    player_->end_chunk(static_cast<std::int64_t>(ticks), now_s - last_s - copied_s);
    // The first chunk has the cost of the first launches in it.
    if (!first) {
      player_->set_tick_s(per_tick_s);
      allowed = std::min(longest, std::max(allowed, 4 * chunk));
    }
    first = false;
    last_tick = summary.control.tick;
    last_s = now_s;
  }
}

const Observer* RunCore::report(const RunSummary& summary, double earlier_s,
                                const Observers& observers) {
  time_incumbents();
  Progress& p = *progress_;
  const double per_sweep =
      static_cast<double>(batch_->replicas()) * static_cast<double>(batch_->space().variables());
  const double steps = static_cast<double>(summary.control.step - p.reported_step);
  const double seconds = p.run_s - p.reported_s;
  ReportPoint point;
  point.time_s = p.run_s;
  point.sweeps = earlier_.sweeps + static_cast<std::int64_t>(summary.control.step);
  point.attempts = static_cast<double>(point.sweeps) * per_sweep;
  point.stage = stage_text();
  point.paused = p.paused;
  point.has_best = summary.control.best_key != ~0ull;
  if (point.has_best) {
    const double stored = exact::from_order_key(summary.control.best_key);
    point.best = problem_.units.objective_of_stored(stored);
    point.best_energy = problem_.units.energy_of_stored(stored);
    point.best_sweeps = sweeps_of_best(point.best_energy);
  }
  point.mean = problem_.units.objective_of_stored(summary.mean_energy);
  point.beta = summary.beta;
  if (steps > 0) {
    p.acceptance_rate =
        static_cast<double>(summary.accepted - p.reported_accepted) / (steps * per_sweep);
    if (seconds > 0) p.attempts_per_ns = steps * per_sweep / (seconds * 1e9);
  }
  point.acceptance_rate = p.acceptance_rate;  // where nothing was tried since, as before
  point.attempts_per_ns = p.attempts_per_ns;
  point.nonfinite = summary.not_finite - p.reported_nonfinite;
  point.improved = summary.control.best_key < p.reported_best_key;
  if (limit_.time_limit_s) {  // of this call of advance()
    point.time_left_s = std::max(0.0, *limit_.time_limit_s - (p.run_s - earlier_s));
  }
  if (limit_.sweeps && summary.control.step > 0) {
    const double done = static_cast<double>(summary.control.step);
    const double left = static_cast<double>(*limit_.sweeps + sweeps_after_) - done;
    const double left_s = std::max(0.0, left * stage_s() / done);
    point.time_left_s = limit_.time_limit_s ? std::min(point.time_left_s, left_s) : left_s;
  }
  p.reported_s = p.run_s;
  p.reported_step = summary.control.step;
  p.reported_accepted = summary.accepted;
  p.reported_nonfinite = summary.not_finite;
  p.reported_best_key = summary.control.best_key;
  point.sweeps -= earlier_.sweeps;  // those of the schedule alone
  schedule_.annotate(point);
  point.sweeps += earlier_.sweeps;
  const Observer* first = nullptr;  // that wants to stop
  for (const Observer& observer : observers) {
    if (observer(point) == Next::stop && first == nullptr) first = &observer;
  }
  return first;
}

std::int64_t RunCore::sweeps_of_best(double energy) const {
  if (telemetry_) {
    const std::vector<Incumbent>& kept = telemetry_->incumbents().kept();
    if (!kept.empty() && kept.back().energy == energy) return kept.back().sweeps;
  }
  return earlier_.sweeps + static_cast<std::int64_t>(progress_->best_step);
}

Stop RunCore::stop_by(const Observer& observer) {
  progress_->stopped_by = observer.name();
  return observer.name().empty() ? Stop::interrupted : Stop::observer;
}

}  // namespace kiln
