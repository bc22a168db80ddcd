// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/watchdog/heartbeat.hpp"

namespace kiln {

/// While it lives, the run of this thread waits for ticks, and its heartbeat says so.
class AtWork {
 public:
  /// @param counts  false: the ticks call code of the user, which may take any time
  explicit AtWork(bool counts = true) noexcept
      : heartbeat_(counts ? Heartbeat::of_this_thread() : nullptr) {
    if (heartbeat_ != nullptr) heartbeat_->begin_work();
  }
  ~AtWork() {
    if (heartbeat_ != nullptr) heartbeat_->end_work();
  }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;

 private:
  Heartbeat* heartbeat_;
};

}  // namespace kiln
