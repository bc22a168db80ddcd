// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/watchdog/watchdog.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace kiln {
namespace {

constexpr double longest_look_s = 0.2;

}  // namespace

std::optional<Hang> HangWatch::look(const Pulse& pulse, double now_s) noexcept {
  const double since_look_s = std::min(now_s - last_look_s_, longest_look_s);
  last_look_s_ = now_s;
  if (!pulse.working || pulse.signs != signs_) {
    signs_ = pulse.signs;
    silent_s_ = 0;
    return {};
  }
  silent_s_ += since_look_s;
  const bool first = pulse.tick_s <= 0;
  const double limit_s =
      first ? limits_.first_s : std::max(limits_.min_s, limits_.ticks * pulse.tick_s);
  if ((first && limit_s <= 0) || silent_s_ <= limit_s) return {};
  return Hang{silent_s_, limit_s, pulse};
}

Watchdog::Watchdog(const Heartbeat& heartbeat, const HangLimits& limits, Answer ask, Answer give_up)
    : heartbeat_(heartbeat),
      limits_(limits),
      ask_(std::move(ask)),
      give_up_(std::move(give_up)),
      thread_([this](const std::stop_token& done) { watch(done); }) {}

void Watchdog::watch(const std::stop_token& done) const {
  constexpr std::chrono::milliseconds between_looks{20};
  HangWatch watch(limits_);
  std::mutex mutex;
  std::condition_variable_any never;
  bool asked = false, gave_up = false;
  std::unique_lock lock(mutex);
  while (!never.wait_for(lock, done, between_looks, [&] { return done.stop_requested(); })) {
    const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
    const std::optional<Hang> hang = watch.look(heartbeat_.pulse(), now.count());
    if (!hang) {
      asked = gave_up = false;
    } else if (!asked) {
      asked = true;
      ask_(*hang);
    } else if (!gave_up && hang->silent_s > 2 * hang->limit_s) {
      gave_up = true;
      give_up_(*hang);
    }
  }
}

}  // namespace kiln
