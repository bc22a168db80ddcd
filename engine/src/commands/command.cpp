// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/commands/command.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kiln {
namespace {

std::uint64_t checksum_of(const Command& command) noexcept {
  return XXH3_64bits(&command, offsetof(Command, checksum));
}

}  // namespace

std::string_view to_string(CommandKind kind) noexcept {
  switch (kind) {
    case CommandKind::status:
      return "status";
    case CommandKind::pause:
      return "pause";
    case CommandKind::resume:
      return "resume";
    case CommandKind::stop:
      return "stop";
    case CommandKind::checkpoint:
      return "checkpoint";
    case CommandKind::temperatures:
      return "temperatures";
    case CommandKind::inject:
      return "inject";
  }
  return {};
}

Command sealed(Command command) noexcept {
  command.checksum = checksum_of(command);
  return command;
}

std::string unreadable_because(const Command& command) {
  if (command.magic != Command::magic_number) return "it is no command of Kiln";
  if (command.version != Command::present_version) {
    return "it has version " + std::to_string(command.version) + "; this run reads version " +
           std::to_string(Command::present_version);
  }
  if (command.checksum != checksum_of(command)) return "its checksum is wrong";
  if (to_string(command.kind).empty()) {
    return "it has the unknown kind " + std::to_string(static_cast<std::uint32_t>(command.kind));
  }
  return {};
}

}  // namespace kiln
