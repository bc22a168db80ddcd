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

/// A variable that is put into a command.
struct CommandVariable {
  enum class Kind : std::uint8_t { real, integer, category };
  std::string name;
  Kind kind = Kind::real;
  double lower = 0, upper = 1;
  bool logarithmic = false;         ///< searched in equal ratios
  std::vector<std::string> labels;  ///< of a category
};

/// Reads `NAME=real:LOW:HIGH[:log]`, `NAME=int:LOW:HIGH` or `NAME=cat:A,B,...`.
/// @throws InvalidArgument `command.variable` with the form that it should have.
KILN_API CommandVariable parse_variable(std::string_view text);

/// A program that gives a value for every setting of its variables.
struct CommandOptions {
  /// Words as in a shell, with blanks, quotes and backslashes, but nothing is expanded and no shell
  /// runs. {name} stands for the value of a variable, {{ and }} for braces.
  std::string command;
  std::vector<CommandVariable> variables;
  int constraints = 0;   ///< numbers behind the value, met where at most 0
  double timeout_s = 0;  ///< a call that takes longer is ended and has failed; 0: none
  Sense sense = Sense::minimize;
};

/// The value stands in a line `value = 0.25`, or in a JSON object, or is the last number that the
/// program prints, before those of its constraints (docs/problems/expensive.md). A call that ends
/// with another code than 0, gives no number, takes too long or cannot be started any more has no
/// value, and the search goes on; ObjectiveError `command.failed` where none of the first twenty
/// had one, `command.start` where none could be started. A call that is ended because a stop is
/// requested throws EvaluationCutOff. Calls run at once on all threads, each in a process group of
/// its own, and each setting runs once: what it gave is kept.
/// @throws InvalidArgument for a command and variables that do not belong together.
KILN_API Problem make_command_problem(CommandOptions options);

/// Makes `command:TEMPLATE` with its options by name: var (a text for each variable, or several
/// separated by semicolons in one), constraints, timeout (seconds), sense.
KILN_API Problem command_by_name(const std::string& command, const ProblemSettings& settings);

/// Whether the program of it is there and may be executed, without running it. A program whose name
/// depends on variables is not looked for.
/// @throws ObjectiveError `command.start` in the words of a call that cannot be started.
KILN_API void require_program(const std::string& command, const ProblemSettings& settings);

}  // namespace kiln::problems
