// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <stop_token>
#include <utility>

#include "kiln/device/hd.hpp"
#include "kiln/device/team.hpp"
#include "kiln/queue.hpp"

namespace kiln {

/// When to abandon unfinished work: at a stop request, or at a time.
struct Alarm {
  using Clock = std::chrono::steady_clock;

  std::stop_token stop;
  Clock::time_point deadline = Clock::time_point::max();

  bool due() const noexcept { return stop.stop_requested() || Clock::now() >= deadline; }
};

/// Thrown by abandoned work, whose output is then incomplete. Not a std::exception, so that no
/// handler takes it for a failure.
struct GaveUp {};

/// While this object lives, launches of the queue throw GaveUp once the alarm is due.
class ArmedQueue {
 public:
  /// @param queue  must outlive this object
  /// @param alarm  null: nothing changes
  ArmedQueue(Queue& queue, const Alarm* alarm)
      : queue_(queue), before_(std::exchange(queue.alarm_, alarm)) {}
  ~ArmedQueue() { queue_.alarm_ = before_; }
  /// Launches after this call are not abandoned, until the innermost ArmedQueue ends.
  static void disarm(Queue& queue) noexcept { queue.alarm_ = nullptr; }
  ArmedQueue(const ArmedQueue&) = delete;
  ArmedQueue& operator=(const ArmedQueue&) = delete;

 private:
  Queue& queue_;
  const Alarm* before_;
};

/// @throws GaveUp if the alarm is due.
inline void end_if_due(const Alarm& alarm) {
  if (alarm.due()) throw GaveUp{};
}

/// The team of a CPU thread with one chain, which may work for long: it checks the alarm at points
/// where other teams synchronise.
struct WatchfulTeam : SingleTeam {
  const Alarm* alarm = nullptr;
  void (*look)(const Alarm&) = &end_if_due;  // by pointer: densities are compiled for devices, too
  mutable unsigned looks = 0;

  KILN_HD void sync() const {
    if (alarm != nullptr && ++looks % 16 == 0) look(*alarm);
  }
};

}  // namespace kiln
