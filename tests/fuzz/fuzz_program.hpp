// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/repeat.hpp"
#include "cli/settings.hpp"
#include "errors.hpp"
#include "fuzz.hpp"
#include "memory_file.hpp"

// Side files of the program: what must hold for any bytes.
namespace kiln::test {

/// A verb with options of all kinds.
inline const cli::RunVerb& some_verb() {
  static const cli::RunVerb verb{"solve",
                                 {{"seed", 0, "N", "a number"},
                                  {"quiet", 'q', "", "a flag"},
                                  {"output", 'o', "DIR", "a folder"},
                                  {"out", 0, "DIR", "", "output"}},
                                 "simulated-annealing",
                                 "replicas",
                                 "",
                                 {},
                                 false};
  return verb;
}

/// Reads a configuration file: it is refused as an InvalidArgument, or gives options that there
/// are.
inline void check_config(const std::string& text) {
  const MemoryFile file(text);
  try {
    const cli::ConfigFile config = cli::read_config(file.path(), some_verb());
    for (const auto& [name, setting] : config.options) {
      require(name == "seed" || name == "quiet" || name == "output" || name == "schedule",
              "options are those of the verb");
      require(setting.origin == cli::Origin::config && !setting.place.empty(),
              "an option has its place");
    }
  } catch (const InvalidArgument& error) {
    require(error.code().starts_with("config."), "the file is at fault");
    require(error.message().find('\n') == std::string::npos, "a message is one line");
  }
}

/// Reads a run.json: it is refused as a ParseError, or gives a problem and options without control
/// characters.
inline void check_repeat(const std::string& text) {
  const MemoryFile file(text);
  try {
    const cli::RecordedRun run = cli::read_recorded_run(file.path(), some_verb());
    require(run.config.options.contains("replicas"), "the number of replicas is known");
    for (const auto& [name, setting] : run.config.options) {
      for (const char c : name + setting.text) require(c != '\x1b' && c != '\n', "texts are clean");
    }
    try {
      cli::refuse_command(run, "f");
      require(!run.problem.starts_with("command:"), "commands are refused");
    } catch (const InvalidArgument& error) {
      require(error.code() == "repeat.command", "as such");
    }
  } catch (const ParseError& error) {
    require(error.issues().size() == 1, "an error lists one issue");
  }
}

}  // namespace kiln::test
