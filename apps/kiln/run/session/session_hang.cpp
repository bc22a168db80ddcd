// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a supervised run does when ticks do not end.
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <system_error>

#include "output/live_row.hpp"
#include "output/text.hpp"
#include "run/session/session_run.hpp"
#include "run/supervision/shared_state.hpp"

namespace kiln::cli {
namespace {

std::string text_of(const Hang& hang) {
  const Pulse& pulse = hang.pulse;
  const std::string median =
      pulse.tick_s > 0 ? fmt::format("the median tick takes {:.3g} ms, {} steps have ended",
                                     1e3 * pulse.tick_s, pulse.steps)
                       : std::string("no tick has ended before");
  return fmt::format("no tick has ended for {} ({})", human_seconds(hang.silent_s), median);
}

// Without destructors: the thread that hangs uses what they would take down.
[[noreturn]] void leave_hung() {
  shared_state()->hung = true;
  close_live_row();
  std::_Exit(static_cast<int>(ExitCode::device_fault));
}

}  // namespace

std::unique_ptr<Watchdog> SessionRun::watchdog() {
  SharedState* const shared = shared_state();
  if (shared == nullptr) return nullptr;
  try {
    return std::make_unique<Watchdog>(
        shared->heartbeat, shared->limits, [this](const Hang& hang) { answer_hang(hang); },
        [this](const Hang& hang) { give_up_hung(hang); });
  } catch (const std::system_error&) {
    return nullptr;  // the supervisor watches, too
  }
}

// A kernel on the CPU may see the request, and so may a graph that the device repeats.
void SessionRun::answer_hang(const Hang& hang) {
  hung_ = true;
  stop_.request_stop();
  progress_.note(fmt::format("warning[run.hang]: {}; the run is asked to stop", text_of(hang)));
}

void SessionRun::give_up_hung(const Hang& hang) {
  progress_.note(fmt::format(
      "warning[run.hang]: {}; the run folder has what was written at the last report point",
      text_of(hang)));
  leave_hung();
}

// The tick ended after all, or was abandoned. What was found since the last checkpoint is kept.
void SessionRun::leave_if_hung(const Result& result) {
  const bool asked = signals_->count() > 0;  // by the user, who waits for the result
  if (!hung_ || asked || result.stop != Stop::interrupted) return;
  if (session_.folder != nullptr) static_cast<void>(record_.keep_state(run()));
  leave_hung();
}

}  // namespace kiln::cli
