// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "kiln/watchdog/heartbeat.hpp"
#include "kiln/watchdog/watchdog.hpp"

namespace kiln::cli {

/// Memory that a supervised process shares with the process that watches it. Both are the same
/// program file.
struct SharedState {
  // Written by the supervisor, before the process starts.
  HangLimits limits;
  int restarts = 0;

  /// The run folder, once run.json is in it; "" before, and where there is none. A process that
  /// finds it continues the run. Ended by a null.
  std::array<char, 4096> folder{};

  // Written by the process.
  Heartbeat heartbeat;
  std::atomic<int> signals{0};                   ///< that asked it to stop, so far
  std::atomic<bool> has_begun{false};            ///< the run is set up, and `folder` holds
  std::atomic<std::uint64_t> continues_from{0};  ///< steps of the checkpoint; 0: from the start
  std::atomic<bool> hung{false};                 ///< it ended because ticks did not
  std::atomic<int> answered{-1};                 ///< the exit code, once the result is printed
};

/// Keeps a folder, unless its name is longer than a system allows.
void keep_folder(SharedState& state, const std::string& folder) noexcept;

/// What the program shares with its supervisor; null if it has none.
SharedState* shared_state() noexcept;

/// The name of the variable by which a process learns that it is supervised.
inline constexpr const char* supervised_name = "KILN_SUPERVISED";

/// At the start of the program: takes over what the supervisor shares, if it is the parent, and
/// ends with it.
void hear_of_supervisor() noexcept;

}  // namespace kiln::cli
