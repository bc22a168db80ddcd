// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "kiln/export.hpp"

namespace kiln {

/// How long a host waits for a device that does not answer; 0: for ever. Ten minutes, or what
/// KILN_DEVICE_TIMEOUT says: a number with ms, s, m or h, such as 30s, or 0.
/// @throws InvalidArgument (`device.timeout`) for another text
KILN_API std::chrono::nanoseconds device_timeout();

/// The pauses of a wait that looks at a device again and again:
///
///     while (is_busy()) {
///       if (!wait.pause()) throw_no_answer(...);
///     }
///
/// The first looks follow one another at once, because a nap takes longer than a short wait. A look
/// after a long absence of the process (SIGSTOP, a debugger) counts as a second, so that it is the
/// device that has to be silent.
class KILN_API DeviceWait {
 public:
  using Clock = std::chrono::steady_clock;
  /// @param spin  how long looks follow one another at once
  /// @param timeout  device_timeout()
  DeviceWait(std::chrono::nanoseconds spin, std::chrono::nanoseconds timeout) noexcept
      : spin_(spin), timeout_(timeout) {}

  /// Call it after a look that found the device busy. False: the time is up.
  bool pause();

 private:
  std::chrono::nanoseconds spin_, timeout_, waited_{0};
  Clock::time_point last_{};  // of the first pause on
};

}  // namespace kiln
