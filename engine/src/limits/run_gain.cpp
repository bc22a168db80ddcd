// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Ends a run that no longer gains. Where the host looks follows from incumbents alone, never from
// the clock.
#include <algorithm>
#include <vector>

#include "kiln/device/exact_math.hpp"
#include "kiln/limits/gain_condition.hpp"

#include "limits/plan_work.hpp"
#include "run_parts.hpp"
#include "telemetry/run_telemetry.hpp"

namespace kiln {
namespace {

// Looks come at multiples of this part of the condition's work: a run that improves at each tick
// would else wait for the host at each tick.
constexpr std::uint64_t looks_of_work = 64;

}  // namespace

// Sweeps of each replica that make up the work of the condition, rounded up.
std::uint64_t RunCore::sweeps_of_gain() const {
  const GainCondition& condition = *limit_.stop_when;
  const auto amount = static_cast<std::uint64_t>(condition.amount);
  if (condition.unit == GainCondition::Unit::sweeps) return amount;
  const auto work =
      work_of_sweeps(schedule_.work_kind(), needs_, batch_->replicas(), batch_->space());
  const auto each = static_cast<std::uint64_t>(work->each);
  return amount / each + (amount % each == 0 ? 0 : 1);
}

// Let s be the first sweep at which the best value was within the bound of the present one. The
// condition holds once the work lies behind s, and not before: s only grows as the best value
// improves. So the next look is the first place behind that, whichever places were looked at
// before, and a run in parts ends where the uncut one does. Work of an earlier stage does not
// count.
bool RunCore::gains_too_little() {
  next_gain_look_ = ~0ull;
  if (!limit_.stop_when) return false;
  const RunControl& control = progress_->control;
  const std::uint64_t work = sweeps_of_gain();
  const std::uint64_t apart = std::max<std::uint64_t>(1, work / looks_of_work);
  // No value so far is no gain so far.
  std::uint64_t since = 0;
  if (control.best_key != ~0ull) {
    const double now = problem_.units.objective_of_stored(exact::from_order_key(control.best_key));
    const std::vector<Incumbent>& all = telemetry_->incumbents().kept();
    const auto first = std::ranges::find_if(
        all, [&](const Incumbent& one) { return limit_.stop_when->holds(one.value, now); });
    // The device may hand over the last one a tick later.
    const std::int64_t swept = first != all.end() ? first->sweeps - earlier_.sweeps
                                                  : static_cast<std::int64_t>(control.step);
    since = static_cast<std::uint64_t>(std::max<std::int64_t>(0, swept));
  }
  const std::uint64_t tick = needs_.sweeps_per_tick;
  const auto is_place = [&](std::uint64_t step) { return step % apart < tick; };
  if (is_place(control.step) && control.step >= work && control.step - work >= since) return true;
  const std::uint64_t earliest = std::max(since + work, control.step + 1) - control.step;
  const std::uint64_t next = control.step + (earliest + tick - 1) / tick * tick;
  next_gain_look_ = is_place(next) ? next : (next / apart + 1) * apart;
  return false;
}

// What the host judges at this step, or before the first one: a run may have been saved where it
// was to be judged.
std::optional<Stop> RunCore::judge_run(bool begins) {
  const std::uint64_t step = progress_->control.step;
  if ((begins || step >= next_look_) && draws_suffice()) return Stop::converged;
  if ((begins || step >= next_gain_look_) && gains_too_little()) return Stop::gain_limit;
  return {};
}

}  // namespace kiln
