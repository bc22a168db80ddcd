// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.hpp"

namespace kiln::cli {

/// What may stand where a value is expected.
enum class ValueKind {
  none,        ///< nothing: a flag
  any,         ///< what only the user knows
  file,        ///< a path
  folder,      ///< the path of a folder
  words,       ///< one of `words`
  parameters,  ///< KEY=VALUE of a schedule
  problems,    ///< FAMILY:NAME, or a file
};

struct ValueChoice {
  ValueKind kind = ValueKind::any;
  std::vector<std::string> words{};
};

/// Words, with blanks between them.
std::string words_of(const std::vector<std::string>& words);

/// What the value of an option may be.
ValueChoice choice_of(const OptionSpec& option);

/// What the argument of a verb may be, by the word for it in Verb::usage.
ValueChoice argument_of(const std::string& usage);

/// A schedule, or a family of problems, and what follows its name.
struct NamedWords {
  std::string name;
  std::vector<std::string> words;
};

/// For each schedule and alias: "cooling=" and, where the values have names, "cooling=linear".
std::vector<NamedWords> parameter_words();

/// For each family of problems the names of its instances, where it has a fixed list.
std::vector<NamedWords> problem_words();

/// The scripts that complete command lines of this program, for its own verbs, options, schedules
/// and problems.
std::string bash_completion();
std::string zsh_completion();

}  // namespace kiln::cli
