// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>

#include "kiln/export.hpp"
#include "kiln/watchdog/heartbeat.hpp"

namespace kiln {

/// How long a tick may take.
struct HangLimits {
  double ticks = 10;     ///< as many median ticks
  double min_s = 1;      ///< and not less than this
  double first_s = 600;  ///< before a tick has ended; 0: for ever
};

/// A run that gives no sign of life.
struct Hang {
  double silent_s = 0;  ///< since its last sign
  double limit_s = 0;   ///< that HangLimits come to
  Pulse pulse = {};     ///< the last sign
};

/// Decides from looks at a heartbeat whether its run hangs. A look that comes late, because the
/// process was stopped or had no processor, counts as a fifth of a second.
class KILN_API HangWatch {
 public:
  explicit HangWatch(const HangLimits& limits) noexcept : limits_(limits) {}

  /// @param pulse  of the heartbeat, now
  /// @param now_s  of any clock that does not go back
  /// @return the hang, from the first look at which the run was silent for too long until the first
  ///   at which it is not
  std::optional<Hang> look(const Pulse& pulse, double now_s) noexcept;

 private:
  HangLimits limits_;
  std::uint64_t signs_ = ~0ull;
  double last_look_s_ = 0, silent_s_ = 0;
};

/// Answers a run that hangs, from another thread: asks it to stop first, and gives it up when as
/// much time has passed again. A run that gives a sign of life after that may be asked again.
class KILN_API Watchdog {
 public:
  using Answer = std::function<void(const Hang&)>;

  /// @param heartbeat  outlives the watchdog
  /// @param limits     how long a tick may take
  /// @param ask        may request a stop of the run
  /// @param give_up    may end the process: nothing else ends a kernel that does not
  /// @throws std::system_error if the system grants no thread
  Watchdog(const Heartbeat& heartbeat, const HangLimits& limits, Answer ask, Answer give_up);

 private:
  void watch(const std::stop_token& done) const;

  const Heartbeat& heartbeat_;
  HangLimits limits_;
  Answer ask_, give_up_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace kiln
