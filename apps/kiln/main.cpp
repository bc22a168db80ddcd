// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string>
#include <vector>

#include "commands/commands.hpp"
#include "console.hpp"
#include "signals.hpp"

namespace {

using namespace kiln::cli;

ExitCode run(const Words& words) {
  if (words.empty()) {
    print_note(program_help());
    return ExitCode::usage;
  }
  const std::string& first = words.front();
  const Words rest(words.begin() + 1, words.end());
  if (first == "--help" || first == "-h") return run_help(rest);
  if (first == "--version" || first == "-V") return run_version(rest);
  return find_verb(first).run(rest);
}

}  // namespace

int main(int count, char** arguments) {
  exit_quietly_on_broken_pipe();
  try {
    const ExitCode code = run(Words(arguments + 1, arguments + count));
    flush_results();
    return static_cast<int>(code);
  } catch (...) {
    return static_cast<int>(report_current_exception());
  }
}
