// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "kiln/device/device_fault.hpp"
#include "kiln/problems/source_objective.hpp"

#include "commands/commands.hpp"
#include "output/console.hpp"
#include "run/memory_reserve.hpp"
#include "run/program_keeper.hpp"
#include "run/signals.hpp"
#include "run/supervision/shared_state.hpp"

namespace {

using kiln::cli::ExitCode;
using kiln::cli::Words;

ExitCode run(const Words& words) {
  if (words.empty()) {
    kiln::cli::print_note(kiln::cli::program_help());
    return ExitCode::usage;
  }
  const std::string& first = words.front();
  const Words rest(words.begin() + 1, words.end());
  if (first == "--help" || first == "-h") return kiln::cli::run_help(rest);
  if (first == kiln::cli::end_programs_verb) return kiln::cli::end_programs(rest);
  if (first == kiln::problems::compile_objective_verb) {
    return static_cast<ExitCode>(kiln::problems::compile_objective(rest));
  }
  if (first == "--version" || first == "-V") return kiln::cli::run_version(rest);
  return kiln::cli::find_verb(first).run(rest);
}

// Without standard streams, as some services start programs, the first files of a run would get
// their numbers, and what is printed would go into these. Read only, so that printing still fails.
void fill_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0) static_cast<void>(::open("/dev/null", O_RDONLY));
  }
}

// The driver has handlers of exit(), which may wait for a device that does not answer.
int leave(ExitCode code) {
  if (kiln::has_silent_device()) {
    std::fflush(nullptr);
    std::_Exit(static_cast<int>(code));
  }
  return static_cast<int>(code);
}

}  // namespace

int main(int count, char** arguments) {
  fill_closed_streams();
  kiln::cli::survive_failing_writes();
  kiln::cli::hear_of_supervisor();
  kiln::cli::keep_memory_back();
  try {
    const ExitCode code = run(Words(arguments + 1, arguments + count));
    return leave(kiln::cli::flush_results() ? code : ExitCode::broken_pipe);
  } catch (...) {
    return leave(kiln::cli::report_current_exception(count > 1 ? arguments[1] : ""));
  }
}
