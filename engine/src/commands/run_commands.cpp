// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "commands/run_commands.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "kiln/errors.hpp"

#include "commands/inject.hpp"
#include "run_core.hpp"

namespace kiln {
namespace {

using Clock = std::chrono::steady_clock;

bool is_before(const HoldPoint& a, const HoldPoint& b) {
  return a.stage != b.stage ? a.stage < b.stage : a.tick < b.tick;
}

}  // namespace

RunCommands::RunCommands(RunCore& core, const RunCommandOptions& options)
    : core_(core), options_(options), flag_(core.queue().make_hold_flag()) {}

RunCommands::Armed::Armed(RunCommands* commands, const std::stop_token& stop)
    : commands_(commands) {
  if (commands_ == nullptr) return;
  HoldFlag* const flag = commands_->flag_.get();
  if (commands_->options_.ring) commands_->options_.ring->wake_by([flag] { flag->request(); });
  at_stop_ = std::make_unique<std::stop_callback<std::function<void()>>>(
      stop, [flag] { flag->request(); });
}

// What comes later waits for the next call of advance(). The ticks that end this one are not held.
RunCommands::Armed::~Armed() {
  if (commands_ == nullptr) return;
  at_stop_.reset();
  if (commands_->options_.ring) commands_->options_.ring->wake_by({});
  try {
    commands_->flag_->clear();
  } catch (const CudaError&) {
    // The next call of the queue says so, too.
  }
}

// The first of the log that is not behind. A run that continues has had those before.
std::size_t RunCommands::next_logged(const HoldPoint& at) const {
  const std::vector<LoggedCommand>& all = options_.repeat;
  std::size_t i = 0;
  while (i < all.size() && (!all[i].decides() || is_before(all[i].at, at))) ++i;
  return i;
}

std::int64_t RunCommands::ticks_to_logged(const HoldPoint& at) const {
  for (std::size_t i = next_logged(at); i < options_.repeat.size(); ++i) {
    const LoggedCommand& one = options_.repeat[i];
    if (one.at.stage != at.stage) return never;
    if (one.decides() && one.at.tick > at.tick) {
      return static_cast<std::int64_t>(one.at.tick - at.tick);
    }
  }
  return never;
}

bool RunCommands::is_due(const HoldPoint& at) const {
  const std::size_t i = next_logged(at);
  if (i == options_.repeat.size()) return false;
  const HoldPoint& next = options_.repeat[i].at;
  return next.stage == at.stage && next.tick == at.tick;
}

RunCommands::Turn RunCommands::apply(const HoldPoint& at, const std::stop_token& stop,
                                     const std::function<bool(bool)>& show) {
  Turn turn;
  apply_logged(at, turn);
  flag_->clear();  // first: a command that comes from here on asks for the next hold
  if (!options_.ring) return turn;
  std::size_t left = options_.ring->begin_to_take();
  std::optional<Clock::time_point> pause_begin;
  for (;;) {
    for (; left > 0 && !turn.stops; --left) apply_next(at, turn);
    if (turn.stops || !paused_) break;
    if (!pause_begin) {
      pause_begin = Clock::now();
      turn.stops = show(true);
    }
    if (turn.stops || !options_.ring->wait(stop)) break;
    left = options_.ring->begin_to_take();
    if (left == 0) break;  // the ring is closed, so that no command would end the pause
  }
  paused_ = false;
  if (!pause_begin) return turn;
  turn.paused_s = std::chrono::duration<double>(Clock::now() - *pause_begin).count();
  if (show(false)) turn.stops = true;
  return turn;
}

// They were applied, and are again; a command that cannot be is none of this run.
void RunCommands::apply_logged(const HoldPoint& at, Turn& turn) {
  for (std::size_t i = next_logged(at); i < options_.repeat.size(); ++i) {
    LoggedCommand one = options_.repeat[i];
    if (one.at.stage != at.stage || one.at.tick != at.tick) break;
    if (!one.decides()) continue;
    obey(one.kind, one.data, turn);
    ++of_log_.applied;
    one.at = at;
    if (options_.log) options_.log(one);
  }
}

void RunCommands::apply_next(const HoldPoint& at, Turn& turn) {
  std::optional<CommandRing::Taken> next = options_.ring->take();
  if (!next) return;
  CommandOutcome outcome;
  outcome.at = at;
  outcome.order = next->order;
  const auto refuse = [&](const std::string& code, const std::string& reason, std::string fix) {
    outcome.code = code;
    outcome.reason = reason;
    outcome.fix = std::move(fix);
  };
  try {
    if (!next->unreadable.empty()) {
      refuse("commands.unreadable", next->unreadable, "");
    } else {
      obey(next->command.kind, next->data, turn);
      outcome.applied = true;
    }
  } catch (const CudaError& error) {
    refuse(error.code(), error.message(), "");
    options_.ring->tell(outcome);
    throw;
  } catch (const Error& error) {
    const std::string& expected = error.expected();
    refuse(error.code(), error.message() + (expected.empty() ? "" : "; expected " + expected),
           error.fix());
  } catch (...) {
    refuse("commands.failed", "the run failed", "");
    options_.ring->tell(outcome);
    throw;
  }
  outcome.paused = paused_ && !turn.stops;
  const bool known = next->unreadable.empty() && next->command.kind != CommandKind::status;
  try {
    // Nobody needs the data of a refusal, which may be large.
    CommandData data = outcome.applied ? std::move(next->data) : CommandData{};
    if (known && options_.log) {
      options_.log(
          {at, next->order, next->command.kind, outcome.applied, std::move(data), outcome.reason});
    }
  } catch (...) {
    options_.ring->tell(outcome);  // whoever waits hears of it, whatever becomes of the log
    throw;
  }
  options_.ring->tell(outcome);
}

void RunCommands::obey(CommandKind kind, const CommandData& data, Turn& turn) {
  switch (kind) {
    case CommandKind::status:
      return;
    case CommandKind::pause:
      paused_ = true;
      return;
    case CommandKind::resume:
      if (!paused_) {
        throw InvalidArgument("commands.not_paused", "the run is not paused, so it goes on anyway");
      }
      paused_ = false;
      return;
    case CommandKind::stop:
      turn.stops = true;
      return;
    case CommandKind::checkpoint:
      if (!options_.checkpoint) {
        throw InvalidArgument("commands.checkpoint", "this run keeps no checkpoints");
      }
      return options_.checkpoint();
    case CommandKind::temperatures:
      set_temperatures(data);
      turn.changed = true;
      return;
    case CommandKind::inject:
      inject_states(core_, data.states);
      turn.changed = true;
      return;
  }
}

void RunCommands::set_temperatures(const CommandData& data) {
  auto* const sets = core_.schedule().as<SetsTemperatures>();
  if (sets == nullptr) {
    throw InvalidArgument(
        "commands.temperatures",
        "schedule '" + core_.schedule().name() + "' takes no temperatures while it runs",
        "a ladder of fixed temperatures, as parallel tempering has");
  }
  const auto usable = [](double t) { return t > 0 && t <= std::numeric_limits<double>::max(); };
  if (data.temperatures.empty() || !std::ranges::all_of(data.temperatures, usable)) {
    throw InvalidArgument("commands.temperatures", "a temperature is not above 0 and finite",
                          "numbers in the unit of the energy");
  }
  RunContext run(core_);
  sets->set_temperatures(run, data.temperatures);
}

CommandCounts RunCommands::counts() const {
  CommandCounts all = options_.ring ? options_.ring->counts() : CommandCounts{};
  all.applied += of_log_.applied;
  return all;
}

}  // namespace kiln
