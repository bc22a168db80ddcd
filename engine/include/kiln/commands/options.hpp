// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/commands/command.hpp"
#include "kiln/export.hpp"

namespace kiln {

class CommandRing;

/// A command that a run has applied or refused: a line of its log.
struct LoggedCommand {
  HoldPoint at;
  std::uint64_t order = 0;
  CommandKind kind = CommandKind::status;
  bool applied = true;
  CommandData data = {};
  std::string reason = {};  ///< of a refusal

  /// Whether the path of the run depends on it: a repeat applies such commands alone.
  bool decides() const noexcept {
    return applied && (kind == CommandKind::stop || kind == CommandKind::temperatures ||
                       kind == CommandKind::inject);
  }
};

/// A line of JSON, with its line end.
KILN_API std::string log_line(const LoggedCommand& command);
/// Reads lines as log_line() writes them.
/// @param text  a last line without its end is left out: a killed run may have begun it
/// @param name  of the file, for the message
/// @throws ParseError with the first line that cannot be read
KILN_API std::vector<LoggedCommand> read_command_log(std::string_view text,
                                                     const std::string& name);

/// Commands that reach a run between two of its ticks.
struct RunCommandOptions {
  /// From other threads. Null: none can come.
  std::shared_ptr<CommandRing> ring = {};
  /// Of an earlier run, in their order: those that decide are applied at their ticks again, so that
  /// the run has the same bits.
  std::vector<LoggedCommand> repeat = {};
  /// Called with each command but `status`, before the next tick; must not throw.
  std::function<void(const LoggedCommand&)> log = {};
  /// Keeps the state of the run, which stands at the end of a tick (Run::save), and says where.
  /// Empty: such commands are refused. An Error that it throws refuses the command.
  std::function<void()> checkpoint = {};

  bool any() const noexcept { return ring != nullptr || !repeat.empty(); }
};

}  // namespace kiln
