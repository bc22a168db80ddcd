// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problems/command.hpp"

namespace kiln::problems::detail {

/// A part of a word: text, or the place of a variable.
struct WordPart {
  std::string text;
  int variable = -1;  ///< index of it, -1 for text
};
using WordTemplate = std::vector<WordPart>;

/// How a variable of this name may be declared: "--var lr=real:1e-5:1e-1:log".
std::string example_of_variable(const std::string& name);

/// The first name that stands in braces in a command; "lr" where there is none.
std::string first_braces(const std::string& command);

/// Splits a command into words and finds the variables in them. A value that is put in later stays
/// within its word, whatever is in it.
/// @throws InvalidArgument `command.syntax`, or `command.variable` for a name that is not declared
/// or is not used.
KILN_TEST_API std::vector<WordTemplate> split_command(
    const std::string& command, const std::vector<CommandVariable>& variables);

/// The same of a command with its variables, or of a worker, which reads them and so has none in
/// its words.
std::vector<WordTemplate> split_command(const CommandOptions& options);

}  // namespace kiln::problems::detail
