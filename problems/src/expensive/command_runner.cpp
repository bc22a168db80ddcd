// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "command_runner.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/options.hpp"

#include "program_output.hpp"
#include "readers/text_reader.hpp"
#include "settings.hpp"

namespace kiln::problems::detail {
namespace {

using Clock = std::chrono::steady_clock;
using End = ProcessResult::End;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr int patience = 20;  // calls without one that succeeds
constexpr int max_tries = 5;
constexpr std::chrono::milliseconds first_pause{50};

double give(const Numbers& record, std::span<double> g) {
  if (record.empty()) {
    std::ranges::fill(g, nan);
    return nan;
  }
  std::copy_n(record.begin() + 1, g.size(), g.begin());
  return record.front();
}

std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return printable(text.substr(text.find_last_of('\n') + 1));
}

// Standard error is where programs complain.
std::string words_of(const ProcessResult& result) {
  const std::string said = last_line(result.errors);
  return said.empty() ? last_line(result.output) : said;
}

// Reasons that pass: too many processes or files, too little memory, a program that is written.
bool may_pass(int reason) {
  constexpr int reasons[] = {EAGAIN, ENOMEM, EMFILE, ENFILE, ETXTBSY};
  return std::ranges::find(reasons, reason) != std::end(reasons);
}

std::string way_to_start(const std::string& program, int reason) {
  std::error_code ignored;
  const bool is_path = program.find('/') != std::string::npos;
  const bool exists = std::filesystem::is_regular_file(program, ignored);
  if (exists && !is_path)
    return "to run the file in the current folder, write ./" + printable(program);
  const bool executable = ::access(program.c_str(), X_OK) == 0;
  if (exists && reason == EACCES && !executable) return "chmod +x " + shell_word(program);
  if (exists && reason == ENOEXEC)
    return "put the name of an interpreter into the first line of the file, for example #!/bin/sh";
  const bool of_interpreter = reason == ENOENT || reason == EACCES;
  if (exists && of_interpreter)
    return "check the interpreter that the first line of the file names";
  if (exists) return "run the command directly, without kiln";
  return is_path ? "check the path, relative to the current folder"
                 : "install the program, or give its path";
}

void pause(std::chrono::milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any over;
  std::unique_lock lock(mutex);
  over.wait_for(lock, stop, time, [] { return false; });
}

}  // namespace

std::string program_of(const std::vector<WordTemplate>& words) {
  std::string name;
  for (const WordPart& part : words.front()) {
    if (part.variable >= 0) return {};
    name += part.text;
  }
  return name;
}

void refuse_start(const std::string& command, const std::string& program, int reason) {
  throw ObjectiveError("command.start",
                       "the program of command:" + printable(command) +
                           " cannot be started: " + std::strerror(reason),
                       "the path of an executable program, or the name of a program in PATH",
                       way_to_start(program, reason));
}

struct CommandRunner::Plan {
  std::stop_token stop;
  std::shared_ptr<ProgramKeeper> keeper;
  bool started = false;  // some call has been
};

CommandRunner::CommandRunner(CommandOptions options)
    : options_(std::move(options)),
      words_(split_command(options_.command, options_.variables)),
      states_(options_.variables) {}

void CommandRunner::watch(std::stop_token stop) {
  const std::lock_guard lock(mutex_);
  stop_ = std::move(stop);
}

void CommandRunner::keep_programs(std::shared_ptr<ProgramKeeper> keeper) {
  const std::lock_guard lock(mutex_);
  keeper_ = std::move(keeper);
}

void CommandRunner::tell_first(std::function<void(const FirstEvaluation&)> tell) {
  const std::lock_guard lock(mutex_);
  tell_first_ = std::move(tell);
}

double CommandRunner::evaluate(StateSpan state, std::span<double> g) {
  const Numbers key = CommandStates::numbers_of(state);
  Plan plan;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = records_.find(key); known != records_.end()) {
      return give(known->second, g);
    }
    plan = {stop_, keeper_, started_};
  }
  const auto begin = Clock::now();
  const ProcessResult result = call(words_for(key), plan);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (result.end == End::stopped) {
    throw EvaluationCutOff("command.cut_off",
                           "the run ended during a call of command:" + printable(options_.command));
  }
  const std::lock_guard lock(mutex_);
  Numbers values;
  std::string line;
  const std::string why = judge(result, values, line);
  count(why, result);
  if (why.empty() && calls_ == failures_ + 1) introduce(values, line, seconds);
  // Of two calls at once the first counts, for a program that is not always of one opinion.
  return give(records_.try_emplace(key, std::move(values)).first->second, g);
}

std::vector<std::string> CommandRunner::words_for(const Numbers& key) const {
  std::vector<std::string> values(options_.variables.size());
  for (std::size_t i = 0; i < key.size(); ++i) {
    values[static_cast<std::size_t>(states_.order()[i])] = text_of(variable(i), key[i]);
  }
  std::vector<std::string> words;
  for (const WordTemplate& parts : words_) {
    std::string word;
    for (const WordPart& part : parts) {
      word += part.variable < 0 ? part.text : values[static_cast<std::size_t>(part.variable)];
    }
    words.push_back(std::move(word));
  }
  return words;
}

// A program that has run before is there again soon, if it is being replaced.
ProcessResult CommandRunner::call(const std::vector<std::string>& words, const Plan& plan) {
  auto time = first_pause;
  for (int tries = 1;; ++tries, time *= 2) {
    ProcessResult result = run_process(words, options_.timeout_s, plan.stop, plan.keeper.get());
    if (result.end != End::not_started || tries == max_tries) return result;
    if (!plan.started && !may_pass(result.code)) return result;
    pause(time, plan.stop);
  }
}

// What was wrong with a call, else "", its numbers and the line that they are from.
std::string CommandRunner::judge(const ProcessResult& result, Numbers& values, std::string& line) {
  if (result.end == End::not_started && !started_) {
    refuse_start(options_.command, program_of(words_), result.code);
  }
  if (result.end == End::not_started) {
    return std::string("the program did not start: ") + std::strerror(result.code);
  }
  started_ = true;
  if (result.end == End::timed_out) return "the call took longer than --timeout";
  if (result.end == End::killed)
    return "signal " + std::to_string(result.code) + " ended the program";
  if (result.code != 0) return "exit code " + std::to_string(result.code);
  ProgramOutput output =
      read_output(result.output, static_cast<std::size_t>(options_.constraints) + 1);
  if (!output.complaint.empty()) return output.complaint;
  if (!std::isfinite(output.numbers.front()))
    return "the value that the program printed is not a finite number";
  values = std::move(output.numbers);
  line = std::move(output.line);
  return {};
}

// A program that never succeeds is a mistake, and every call may be expensive.
void CommandRunner::count(const std::string& why, const ProcessResult& result) {
  ++calls_;
  if (why.empty()) return;
  ++failures_;
  const std::string said = words_of(result);
  last_failure_ = why + (said.empty() ? "" : "; the program printed: " + said);
  if (failures_ < calls_ || failures_ < patience) return;
  throw ObjectiveError("command.failed",
                       "command:" + printable(options_.command) + " failed in all of its first " +
                           std::to_string(failures_) + " calls; the last failure: " + why,
                       said.empty() ? "" : "the program printed: " + said,
                       "run the command directly, with values that you choose");
}

void CommandRunner::introduce(const Numbers& values, const std::string& line,
                              double seconds) const {
  if (!tell_first_) return;
  std::string numbers = kiln::detail::show_real(values.front());
  for (std::size_t j = 1; j < values.size(); ++j) {
    numbers += (j == 1 ? " and constraints " : ", ") + kiln::detail::show_real(values[j]);
  }
  tell_first_({seconds, "the first call gave " + numbers + " in its output '" + line + "'"});
}

std::string CommandRunner::failures() const {
  const std::lock_guard lock(mutex_);
  if (failures_ == 0) return {};
  return std::to_string(failures_) + " of " + std::to_string(calls_) +
         " calls failed; the last failure: " + last_failure_;
}

}  // namespace kiln::problems::detail
