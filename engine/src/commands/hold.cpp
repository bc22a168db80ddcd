// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// How a run is held between two ticks, and goes on.
#include "call_limit.hpp"
#include "commands/run_commands.hpp"
#include "executors/tick_player.hpp"
#include "run_parts.hpp"

namespace kiln {
namespace {

// While a run is paused its calls have as much more time.
constexpr double longest_pause_s = 1e8;

}  // namespace

HoldPoint RunCore::hold_point() const {
  const RunControl& control = progress_->control;
  return {earlier_.stage, control.tick, earlier_.sweeps + static_cast<std::int64_t>(control.step)};
}

// Ticks that were enqueued behind the hold have done nothing: they are enqueued again.
void RunCore::release_hold() {
  Progress& p = *progress_;
  while (p.pending > 0) wait_summary();
  p.control.stop = p.last.control.stop = DeviceStop::none;
  control_.upload({p.control});
  p.enqueued = p.control.tick;
  player_->forget_chunks();
}

// The time of a pause is none of the run.
bool RunCore::take_commands(Loop& loop) {
  Progress& p = *progress_;
  const auto begin = Clock::now();
  const auto show = [&](bool paused) {
    p.paused = paused;
    loop.calls.extend(paused ? longest_pause_s : -longest_pause_s);
    p.run_s = loop.earlier_s + (std::chrono::duration<double>(begin - loop.begin)).count();
    return report(p.last, loop.earlier_s, loop.observers) != nullptr;
  };
  const RunCommands::Turn turn = commands_->apply(hold_point(), loop.alarm.stop, show);
  if (turn.changed) {
    post_summary();
    wait_summary();
  }
  const auto paused =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(turn.paused_s));
  loop.begin += paused;
  if (loop.alarm.deadline != Clock::time_point::max()) loop.alarm.deadline += paused;
  loop.calls.extend(turn.paused_s);
  p.copies_s += seconds_since(begin) - turn.paused_s;
  return turn.stops;
}

}  // namespace kiln
