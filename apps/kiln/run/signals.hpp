// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "errors.hpp"

namespace kiln::cli {

/// Makes writing to a closed pipe, or beyond the limit of file sizes, an error of that write.
/// Programs that are called get the usual behaviour.
void survive_failing_writes();

/// What the program has to answer after the last signal that asked it to end: 130 after INT, 143
/// after the others, 0 without a signal.
ExitCode exit_code_of_signal() noexcept;

/// From now on USR1 asks for a checkpoint instead of ending the program.
void hear_checkpoint_requests();
/// Whether one was asked for since the last call.
bool take_checkpoint_request() noexcept;

/// From now on signals that ask for an end are counted there, too, which may be shared memory.
void count_stop_signals_in(std::atomic<int>& count) noexcept;

/// While it lives, INT, TERM, HUP and XCPU ask for an end instead of ending the program: the first
/// is answered by a function, the second asks that only the result is written, the third ends the
/// program in the handler. After its life signals change nothing any more, but they are counted and
/// the last still ends the program. Where the system grants no thread to answer, signals do what
/// they did.
class StopSignals {
 public:
  /// @param on_first  called once on another thread, soon after the first signal.
  /// @param most      the signal of this number ends the program in the handler.
  explicit StopSignals(std::function<void()> on_first, int most = 3);
  ~StopSignals();
  /// From now on another function answers the first signal, also one that came just now.
  void answer_by(std::function<void()> on_first);
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// How many have come.
  int count() const noexcept;
  /// See exit_code_of_signal().
  ExitCode exit_code() const noexcept;

 private:
  void watch(const std::stop_token& done);

  std::mutex mutex_;
  std::function<void()> on_first_;
  std::jthread watcher_;
};

/// Hears while it lives that the terminal wants to stop the program (Ctrl-Z), so that the program
/// can put the terminal in order first. Where such signals are ignored, they stay so.
class SuspendSignal {
 public:
  SuspendSignal();
  ~SuspendSignal();
  SuspendSignal(const SuspendSignal&) = delete;
  SuspendSignal& operator=(const SuspendSignal&) = delete;

  /// Whether the program is to stop.
  static bool asked() noexcept;
  /// Stops, as if nobody had heard the signal, and returns when the program continues.
  static void suspend() noexcept;
};

}  // namespace kiln::cli
