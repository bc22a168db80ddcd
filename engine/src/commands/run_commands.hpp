// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <stop_token>

#include "kiln/commands/command_ring.hpp"
#include "kiln/commands/options.hpp"
#include "kiln/executors/hold_flag.hpp"

namespace kiln {

class RunCore;

/// Applies the commands of a run between two of its ticks: those that stand in the ring, and those
/// of the log of an earlier run.
class RunCommands {
 public:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  /// @param core  must outlive this object
  RunCommands(RunCore& core, const RunCommandOptions& options);

  const std::uint32_t* word() const noexcept { return flag_->word(); }

  /// While it lives, a command that comes, and a stop that is requested, hold the run.
  class Armed {
   public:
    /// @param commands  null: nothing holds the run
    Armed(RunCommands* commands, const std::stop_token& stop);
    ~Armed();
    Armed(const Armed&) = delete;
    Armed& operator=(const Armed&) = delete;

   private:
    RunCommands* commands_;
    std::unique_ptr<std::stop_callback<std::function<void()>>> at_stop_;
  };

  /// Ticks until a command of the log is due, at least 1; `never`.
  std::int64_t ticks_to_logged(const HoldPoint& at) const;
  bool is_due(const HoldPoint& at) const;

  struct Turn {
    bool stops = false;    ///< the run is to end
    bool changed = false;  ///< states, energies or temperatures
    double paused_s = 0;
  };
  /// Applies what is due, then what stands in the ring; if that pauses the run, it waits.
  /// @param stop  ends a pause
  /// @param show  is called when a pause begins and when it ends; true: the run is to end
  Turn apply(const HoldPoint& at, const std::stop_token& stop,
             const std::function<bool(bool paused)>& show);

  CommandCounts counts() const;

 private:
  void apply_logged(const HoldPoint& at, Turn& turn);
  void apply_next(const HoldPoint& at, Turn& turn);
  void obey(CommandKind kind, const CommandData& data, Turn& turn);
  void set_temperatures(const CommandData& data);
  std::size_t next_logged(const HoldPoint& at) const;

  RunCore& core_;
  const RunCommandOptions& options_;
  std::unique_ptr<HoldFlag> flag_;
  CommandCounts of_log_;
  bool paused_ = false;
};

}  // namespace kiln
