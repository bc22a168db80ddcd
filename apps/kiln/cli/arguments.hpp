// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <any>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace kiln::cli {

struct Setting;

/// Judges what an option was given and makes its value of it, an empty one where there is none.
using ReadOption = std::function<std::any(const std::string& name, const Setting& setting)>;

/// What more there is to an option of a verb that runs a schedule.
struct OptionUse {
  std::string standard{};    ///< the default; empty if the option has none
  bool environment = false;  ///< whether KILN_NAME gives it, too
  bool recorded = false;     ///< whether it decides the answer, so that --repeat takes it over
  bool limit = false;        ///< whether it ends a run, which needs no default limit then
  bool parameter = false;    ///< whether it is the parameter of that name of the schedule
  ReadOption read{};         ///< none: its value is its text
};

/// One option of a verb: all that is said of it. What the parser accepts, the help, the keys of
/// configuration files and what --repeat takes over come from here. A value that is called FILE or
/// DIR must not be empty.
struct OptionSpec {
  std::string name;      ///< long name, without dashes
  char letter = 0;       ///< short name, 0 for none
  std::string value;     ///< how the value is called, "" for a flag
  std::string sentence;  ///< for the help; "" hides it
  OptionUse use{};
  std::string alias_of{};  ///< the option that is meant, if this is another spelling
};

/// What stood on a command line: texts, not yet judged.
struct Arguments {
  std::map<std::string, std::vector<std::string>> options;  ///< flags have one empty text
  std::vector<std::string> positional;

  bool has(const std::string& name) const { return options.contains(name); }
  /// The text of an option that may stand once; "" if it is not there.
  std::string text(const std::string& name) const;
};

/// Splits the arguments of a verb. Options are spelled in full; `--` ends them; `-` is positional.
///
/// @param repeatable  long names that may be given more than once.
/// @throws InvalidArgument for unknown options (with the nearest), missing values, options given
///   twice, and more positional arguments than `max_positional`.
Arguments parse_arguments(const std::string& verb, const std::vector<std::string>& words,
                          const std::vector<OptionSpec>& specs, std::size_t max_positional,
                          const std::vector<std::string>& repeatable = {});

/// Help lines for options, aligned.
std::string describe_options(const std::vector<OptionSpec>& specs);

}  // namespace kiln::cli
