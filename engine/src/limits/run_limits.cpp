// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What ends a run: sweeps, work, a value, and conditions on the draws.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "kiln/device/exact_math.hpp"
#include "kiln/errors.hpp"
#include "kiln/host_threads.hpp"

#include "commands/run_commands.hpp"
#include "limits/plan_work.hpp"
#include "run_parts.hpp"

namespace kiln {

std::optional<double> RunCore::goal() const {
  const std::optional<double>& target = limit_.target;
  const std::optional<double>& bound = problem_.known.bound;
  if (!target || !bound) return target ? target : bound;
  return problem_.better(*target, *bound) ? bound : target;
}

// Nobody asked for a bound: a run that reaches it has converged.
Stop RunCore::stop_at(DeviceStop stop) const {
  if (stop == DeviceStop::work_limit || (stop == DeviceStop::step_limit && sweeps_by_work_)) {
    return Stop::work_limit;
  }
  if (stop != DeviceStop::target) return Stop::sweep_limit;
  return goal() == limit_.target ? Stop::target_reached : Stop::converged;
}

// Gives what ends the run before its first tick: a limit that leaves no whole one, or a value that
// was reached before. A run that begins looks at its first states at the end of its first tick.
DeviceStop RunCore::apply_limits() {
  RunControl control = progress_->control;
  control.step_limit = limit_of(limit_);
  control.stop = whole_ticks_left() > 0 ? DeviceStop::none : DeviceStop::step_limit;
  const std::optional<std::uint64_t> most = counted_limit();
  if (most && static_cast<std::uint64_t>(gradients_done()) >= *most) {
    control.stop = DeviceStop::work_limit;
  }
  const std::optional<double> value = goal();
  control.has_target = value ? 1 : 0;
  if (value) control.target = problem_.stored_target(*value);
  const bool found = control.best_key != ~0ull;
  const bool begins = control.step == 0 && control.stop == DeviceStop::none;
  if (!begins && value && found && exact::from_order_key(control.best_key) <= control.target) {
    control.stop = DeviceStop::target;
  }
  control_.upload({control});
  progress_->control = control;
  return control.stop;
}

std::int64_t RunCore::whole_ticks_left() const {
  const std::uint64_t limit = limit_of(limit_), step = progress_->control.step;
  const std::uint64_t left = limit > step ? (limit - step) / needs_.sweeps_per_tick : 0;
  return static_cast<std::int64_t>(std::min<std::uint64_t>(left, 1ull << 62));
}

// Gives whether the length of the schedule is the limit of sweeps, and nobody asked for more.
bool RunCore::take_limits(const Budget& limit) {
  limit_ = limit;
  sweeps_by_work_ = false;
  const bool wants_more = !limit.until.empty();
  if (limit.work_limit) {
    const auto work =
        work_of_sweeps(schedule_.work_kind(), needs_, batch_->replicas(), batch_->space());
    const std::int64_t sweeps =
        work ? work->within(*limit.work_limit) : std::numeric_limits<std::int64_t>::max();
    if (work && sweeps <= limit.sweeps.value_or(sweeps)) {
      limit_.sweeps = sweeps;
      sweeps_by_work_ = true;
    }
  }
  // Neither a time, draws of a number nor conditions surely come to an end before the draws do, and
  // further draws would be kept by nobody.
  const bool keeps = needs_.keeps_draws && (limit.work_limit || limit.time_limit_s || wants_more);
  const bool by_schedule = !limit_.sweeps && (!limit.has_limit() || keeps);
  if (by_schedule) limit_.sweeps = needs_.default_sweeps;
  return by_schedule && !wants_more;
}

// Of gradients that the device counts.
std::optional<std::uint64_t> RunCore::counted_limit() const noexcept {
  if (!limit_.work_limit || gradients_.size == 0) return {};
  return static_cast<std::uint64_t>(*limit_.work_limit);
}

std::int64_t RunCore::gradients_done() {
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(gradients_.size));
  read_bytes(counts.data(), gradients_.data, counts.size() * sizeof(std::uint64_t));
  return static_cast<std::int64_t>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
}

// Ticks until the host judges the run, repeats a command, or until the limit of sweeps.
std::int64_t RunCore::ticks_to_look() const {
  const std::uint64_t step = progress_->control.step, tick = needs_.sweeps_per_tick;
  const std::uint64_t next = std::min(next_look_, next_gain_look_);
  const std::uint64_t ticks = next == ~0ull ? ~0ull : (next - step + tick - 1) / tick;
  const std::int64_t logged =
      commands_ ? commands_->ticks_to_logged(hold_point()) : RunCommands::never;
  return std::min({whole_ticks_left(), logged,
                   static_cast<std::int64_t>(std::min<std::uint64_t>(ticks, 1ull << 62))});
}

bool RunCore::draws_suffice() {
  next_look_ = ~0ull;
  auto* const draws = schedule_.as<LooksAtDraws>();
  if (limit_.until.empty() || draws == nullptr) return false;
  const auto begin = Clock::now();
  const HostThreads threads(options_.threads);
  ReportContext found(*this);
  const LooksAtDraws::Look look = draws->look(found, limit_.until, progress_->control.step);
  next_look_ = look.next;
  looks_ = look.looks;
  progress_->copies_s += seconds_since(begin);
  return look.met;
}

// The last draws are judged, too, though no look leads on from there.
void RunCore::judge_draws(Result& result) const {
  if (limit_.until.empty()) return;
  result.until = judge(limit_.until, *result.sample, *result.sample_summary);
  result.until.looks = looks_;
  if (result.stop == Stop::sweep_limit && result.until.met()) result.stop = Stop::converged;
}

// Whether the sweep limit leaves a part of a tick to be done.
bool RunCore::cuts_tick(Stop stop) const {
  const bool limited = stop == Stop::sweep_limit || stop == Stop::work_limit;
  return limited && progress_->control.step < limit_of(limit_) && whole_ticks_left() == 0;
}

// Lets a device that stopped do the part of a tick that its limit leaves.
void RunCore::open_limits() {
  RunControl& control = progress_->control;
  if (control.stop == DeviceStop::none) return;
  control.stop = DeviceStop::none;
  control_.upload({control});
}

}  // namespace kiln
