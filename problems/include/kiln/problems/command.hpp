// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"
#include "kiln/registry.hpp"

namespace kiln::problems {

/// A variable that is substituted into a command.
struct CommandVariable {
  enum class Kind : std::uint8_t { real, integer, category };
  std::string name;
  Kind kind = Kind::real;
  double lower = 0, upper = 1;
  bool logarithmic = false;         ///< searched on a logarithmic scale
  std::vector<std::string> labels;  ///< of a category
};

/// Reads `NAME=real:LOW:HIGH[:log]`, `NAME=int:LOW:HIGH` or `NAME=cat:A,B,...`.
/// @throws InvalidArgument `command.variable` with the expected form.
KILN_API CommandVariable parse_variable(std::string_view text);

/// How a program is told of a point.
enum class WorkerForm : std::uint8_t {
  none,   ///< by its arguments: a process for each call
  json,   ///< by a line of its standard input, a JSON object; it stays for further points
  words,  ///< the same, by words
};

/// A program that returns a value for each setting of its variables.
struct CommandOptions {
  /// Words as in a shell, with blanks, quotes and backslashes, but without expansion and without a
  /// shell. {name} is replaced by the value of a variable, {{ and }} by braces. A worker has no
  /// variables in its words.
  std::string command;
  std::vector<CommandVariable> variables;
  int constraints = 0;   ///< numbers after the value, met where at most 0
  double timeout_s = 0;  ///< a call that takes longer is stopped and counts as failed; 0: no limit
  int jobs = 0;          ///< calls at the same time, at most; 0: as many as there are threads
  WorkerForm worker = WorkerForm::none;
  Sense sense = Sense::minimize;
};

/// Makes a problem from a program. The value is in a line `value = 0.25`, or in a JSON object, or
/// is the last number that the program prints, before those of its constraints
/// (docs/problems/expensive.md). A call has no value if it exits with a code other than 0, prints
/// no number, takes too long or cannot be started any more; the search then continues. A call that
/// is stopped because a stop is requested throws EvaluationCutOff. Calls run at once on all
/// threads, each in a separate process group. Each setting runs once: its result is kept. Workers
/// (docs/problems/workers.md) stay until the problem is destroyed; a point whose worker ends or
/// prints what is no answer is asked once more, of a new worker.
/// @throws ObjectiveError `command.failed` if none of the first twenty calls had a value,
/// `command.start` if none could be started.
/// @throws InvalidArgument for a command and variables that do not match.
KILN_API Problem make_command_problem(CommandOptions options);

/// Makes the problem `command:TEMPLATE` with its options by name: var (several separated by
/// semicolons), constraints, timeout (seconds), jobs, worker (json or words), sense.
KILN_API Problem command_by_name(const std::string& command, const ProblemSettings& settings);

/// Checks that the program of a command exists and may be executed, without running it. A program
/// whose name depends on variables is not checked.
/// @throws ObjectiveError `command.start` with the message of a call that cannot be started.
KILN_API void require_program(const std::string& command, const ProblemSettings& settings);

}  // namespace kiln::problems
