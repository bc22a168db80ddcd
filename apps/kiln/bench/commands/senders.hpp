// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/backend.hpp"
#include "kiln/result.hpp"
#include "kiln/run.hpp"

#include "bench/commands/single_commands.hpp"

namespace kiln::cli {

/// A run that other threads send commands to.
struct CommandedRun {
  std::string schedule, instance;
  RunOptions options;  ///< without a ring
};

/// What became of the commands of one run.
struct SentCommands {
  std::int64_t sent = 0;
  std::int64_t answered = 0;   ///< each answer counts
  std::int64_t reordered = 0;  ///< those applied before an earlier one of their sender
  double seconds = 0;          ///< from the first command to the last answer
  HoldTimes times;             ///< of single commands
  Result result;

  std::int64_t lost() const { return sent - answered; }
};

/// Sends commands one by one, each after the answer to the one before: every fourth at once, the
/// others after up to 4 ms, in which the run makes ticks.
SentCommands send_single(const OpenedBackend& backend, const CommandedRun& run,
                         std::int64_t commands);

/// Sends commands from two threads, as fast as the ring takes them.
SentCommands send_many(const OpenedBackend& backend, const CommandedRun& run,
                       std::int64_t commands);

}  // namespace kiln::cli
