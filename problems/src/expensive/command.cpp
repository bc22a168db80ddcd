// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/command.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "kiln/device/vector_function.hpp"
#include "kiln/errors.hpp"
#include "kiln/options.hpp"

#include "command_runner.hpp"
#include "named_variables.hpp"
#include "readers/text_reader.hpp"
#include "settings.hpp"

namespace kiln::problems {
namespace {

using detail::CommandRunner;
using detail::Numbers;

constexpr std::int64_t max_jobs = 4096;

void check(const CommandOptions& options) {
  detail::check_variables(options.variables, "the command", detail::first_braces(options.command));
  detail::check_constraints(options.constraints, "a command");
  if (options.jobs < 0) {
    throw InvalidArgument("command.jobs", "the number of calls at the same time is at least 1", {},
                          "--jobs 4");
  }
  if (options.timeout_s >= 0) return;
  throw InvalidArgument("command.timeout", "the time limit of a call must not be negative");
}

}  // namespace

Problem make_command_problem(CommandOptions options) {
  check(options);
  const auto runner = std::make_shared<CommandRunner>(std::move(options));
  const CommandOptions& known = runner->options();
  const double sign = known.sense == Sense::maximize ? -1 : 1;
  const std::string name = "command:" + known.command;
  Problem problem = make_problem(
      make_constrained_host_objective(name, runner->states().space(), known.constraints,
                                      [runner, sign](StateSpan state, std::span<double> g) {
                                        return sign * runner->evaluate(state, g);
                                      }));
  problem.identity.family = "command";
  problem.units.sense = known.sense;
  problem.start.schedule = "bayesian-optimization";
  problem.units.objective_of_stored = {0, sign};
  problem.solution.verify = [runner](StateSpan state) {
    Numbers g(static_cast<std::size_t>(runner->options().constraints));
    return runner->evaluate(state, g);
  };
  Experiment& experiment = problem.experiment.emplace();
  experiment.noisy = true;
  experiment.watch_stop = [runner](std::stop_token stop) { runner->watch(std::move(stop)); };
  experiment.keep_programs = [runner](std::shared_ptr<ProgramKeeper> keeper) {
    runner->keep_programs(std::move(keeper));
  };
  experiment.tell_first = [runner](std::function<void(const FirstEvaluation&)> tell) {
    runner->tell_first(std::move(tell));
  };
  experiment.failures = [runner] { return runner->failures(); };
  detail::describe_variables(problem, known.variables);
  return problem;
}

namespace {

CommandOptions command_options_of(const std::string& command, const ProblemSettings& settings) {
  CommandOptions options;
  options.command = command;
  if (detail::split_list(command, ' ').empty()) {
    throw InvalidArgument(
        "problem.parameters", "'command:' does not have the form command:PROGRAM",
        "a program and its arguments, with {name} in place of the value of a variable",
        "kiln solve 'command:./train.sh {lr}' --var lr=real:1e-5:1e-1:log");
  }
  options.variables = detail::variables_of(settings);
  options.sense = detail::sense_of(settings, Sense::minimize);
  options.constraints = detail::constraints_of(settings);
  options.timeout_s =
      kiln::detail::parse_real(detail::setting_or(settings, "timeout", "0"), "--timeout");
  const std::int64_t jobs = parse_count(detail::setting_or(settings, "jobs", "0"), "--jobs");
  options.jobs = static_cast<int>(std::clamp<std::int64_t>(jobs, -1, max_jobs));
  const std::string worker = detail::setting_or(settings, "worker", "");
  if (worker == "json") options.worker = WorkerForm::json;
  if (worker == "words") options.worker = WorkerForm::words;
  if (options.worker == WorkerForm::none && !worker.empty()) {
    throw InvalidArgument("command.worker",
                          "--worker='" + detail::printable(worker) + "' is not one of json, words",
                          {}, "--worker json");
  }
  return options;
}

// 0, or why this file is no program that can be started: as execve() would say.
int reason_against(const std::string& path) {
  struct stat file = {};
  if (::stat(path.c_str(), &file) != 0) return errno;
  if (!S_ISREG(file.st_mode)) return EACCES;
  return ::access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

int reason_against_all(const std::string& name);

// What the first line of a script names must be there, too; and a text without such a line is
// nothing that the system starts, other than a shell. Other formats are the system's to know.
int reason_against_text(const std::string& path) {
  std::array<char, 256> block{};
  std::ifstream in(path, std::ios::binary);
  if (!in) return 0;  // it may be started, but not read
  in.read(block.data(), block.size());
  const std::string text(block.data(), static_cast<std::size_t>(in.gcount()));
  if (!text.starts_with("#!")) return text.find('\0') == std::string::npos ? ENOEXEC : 0;
  const std::size_t end = text.find('\n');
  // The system reads as much of the line as stands here.
  if (end == std::string::npos && text.size() == block.size()) return 0;
  constexpr const char* blanks = " \t";
  const std::string line = text.substr(2, end == std::string::npos ? end : end - 2);
  const std::size_t first = line.find_first_not_of(blanks);
  if (first == std::string::npos) return ENOEXEC;
  const std::size_t last = std::min(line.find_first_of(blanks, first), line.size());
  const std::string interpreter = line.substr(first, last - first);
  if (const int reason = reason_against(interpreter); reason != 0) return reason;
  const std::size_t word = line.find_first_not_of(blanks, last);
  if (!interpreter.ends_with("/env") || word == std::string::npos) return 0;
  // All that is behind the interpreter is one word to it.
  const std::string of_env = line.substr(word, line.find_last_not_of(blanks) - word + 1);
  if (of_env.front() == '-' || of_env.find_first_of("=/") != std::string::npos) return 0;
  return reason_against_all(of_env);
}

int reason_against_program(const std::string& path) {
  const int reason = reason_against(path);
  return reason != 0 ? reason : reason_against_text(path);
}

// The same of a name without a slash, which stands for the first program of that name in PATH.
int reason_against_all(const std::string& name) {
  const char* const given = std::getenv("PATH");
  const std::string path = given != nullptr ? given : "/bin:/usr/bin";
  int reason = ENOENT;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    const std::string folder = path.substr(at, end - at);
    const int now = reason_against_program((folder.empty() ? "." : folder) + "/" + name);
    if (now == 0 || now == ENOEXEC) return now;  // with the latter the search ends, too
    if (now == EACCES) reason = now;
    at = end + 1;
  }
  return reason;
}

}  // namespace

Problem command_by_name(const std::string& command, const ProblemSettings& settings) {
  return make_command_problem(command_options_of(command, settings));
}

void require_program(const std::string& command, const ProblemSettings& settings) {
  const CommandOptions options = command_options_of(command, settings);
  const auto words = detail::split_command(options);
  const std::string name = detail::program_of(words);
  if (name.empty()) return;
  const bool is_path = name.find('/') != std::string::npos;
  const int reason = is_path ? reason_against_program(name) : reason_against_all(name);
  if (reason != 0) detail::refuse_start(options.command, name, reason);
}

}  // namespace kiln::problems
