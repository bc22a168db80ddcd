// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/space.hpp"

namespace kiln {

/// What a command asks of a run, all of it between two ticks.
enum class CommandKind : std::uint32_t {
  status = 1,        ///< nothing but an answer
  pause = 2,         ///< do no ticks until `resume` or `stop`
  resume = 3,        ///< go on
  stop = 4,          ///< end, as an interruption ends a run
  checkpoint = 5,    ///< RunCommandOptions::checkpoint
  temperatures = 6,  ///< CommandData::temperatures (SetsTemperatures)
  inject = 7         ///< CommandData::states (TakesStates)
};

/// "status", "pause", "resume", "stop", "checkpoint", "temperatures", "inject"; else "".
KILN_API std::string_view to_string(CommandKind kind) noexcept;

/// A command as a slot of a ring and as the first bytes on a socket: 64 bytes, little-endian.
struct Command {
  static constexpr std::uint32_t magic_number = 0x4c494b43;  // "CKIL"
  static constexpr std::uint32_t present_version = 1;

  std::uint32_t magic = magic_number;
  std::uint32_t version = present_version;
  CommandKind kind = CommandKind::status;
  std::uint32_t zero = 0;
  std::uint64_t sequence = 0;  ///< the sender's own number
  std::uint64_t payload = 0;   ///< bytes of data that follow it on a socket
  std::uint64_t unused[3] = {};
  std::uint64_t checksum = 0;  ///< XXH3 of the bytes before

  friend bool operator==(const Command&, const Command&) = default;
};
static_assert(sizeof(Command) == 64 && offsetof(Command, checksum) == 56);

/// The command with its checksum.
KILN_API Command sealed(Command command) noexcept;
/// Why a command cannot be read: its checksum, its version or its kind. Empty: it can.
KILN_API std::string unreadable_because(const Command& command);

/// What does not fit into a command.
struct CommandData {
  std::vector<double> temperatures = {};  ///< in the unit of the energy
  std::vector<State> states = {};         ///< canonical values per block

  bool empty() const noexcept { return temperatures.empty() && states.empty(); }
};

/// Where a run was held: after a whole tick.
struct HoldPoint {
  std::int64_t stage = 0;   ///< of a pipeline, from 0
  std::uint64_t tick = 0;   ///< ticks of the stage
  std::int64_t sweeps = 0;  ///< of each replica, those of earlier stages included

  friend bool operator==(const HoldPoint&, const HoldPoint&) = default;
};

/// What became of a command.
struct CommandOutcome {
  HoldPoint at;             ///< without meaning where no run has taken the command
  bool applied = false;     ///< else it was refused and has changed nothing
  bool paused = false;      ///< whether the run is paused now
  std::uint64_t order = 0;  ///< of all commands of the ring, from 0
  std::string code = {};    ///< of a refusal: "commands.checksum"
  std::string reason = {};  ///< likewise, a sentence without its point
  std::string fix = {};     ///< likewise; may be empty
};

/// Commands that a ring has had, by what became of them.
struct CommandCounts {
  std::uint64_t applied = 0;
  std::uint64_t refused = 0;

  friend bool operator==(const CommandCounts&, const CommandCounts&) = default;
};

}  // namespace kiln
