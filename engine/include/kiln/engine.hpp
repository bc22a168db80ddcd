// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <stop_token>

#include "kiln/budget.hpp"
#include "kiln/export.hpp"
#include "kiln/observer.hpp"
#include "kiln/problem.hpp"
#include "kiln/result.hpp"
#include "kiln/run.hpp"
#include "kiln/schedule.hpp"

namespace kiln {

/// Runs schedules on problems. Holds a device open between runs, with the memory that they took.
/// Has no global state, prints nothing, installs no signal handlers. Two engines in two threads do
/// not disturb each other.
class KILN_API Engine {
  // Not constructible, so that a list of them is always empty.
  class NoOption {
    NoOption(int, int);
  };

 public:
  /// Opens the device. @throws NoDevice, NotCompiled, PluginError, InvalidArgument
  explicit Engine(RunOptions options = {});
  /// Uses a device that is open already, whatever `options` says of device and threads: several
  /// engines may take turns on it.
  Engine(RunOptions options, OpenedBackend backend);
  /// Makes Engine({}) an engine with the default options: without it, {} could also be an Engine.
  explicit Engine(std::initializer_list<NoOption>) : Engine() {}

  /// Runs until the budget, an observer or the stop token ends the run. Recomputes the best state
  /// on the CPU from the problem's raw data (Result::verified).
  ///
  /// An exception of an observer ends the run, too: the result has what was found until then, the
  /// reason Stop::failed, and the exception in Result::failure.
  Result run(const Problem& problem, Schedule& schedule, const Budget& budget = {},
             const Observers& observers = {}, std::stop_token stop = {});

  /// Device memory that no run uses and that the next one will, bytes. A run that begins while
  /// another one is under way takes other memory, which is then kept, too.
  std::uint64_t idle_bytes() const { return opened_.backend->idle_bytes(); }
  /// Gives that memory back to the device. The next run takes new memory.
  void trim() noexcept { opened_.backend->trim(); }

  const RunOptions& options() const noexcept { return options_; }
  const OpenedBackend& backend() const noexcept { return opened_; }

 private:
  RunOptions options_;
  OpenedBackend opened_;
};

}  // namespace kiln
