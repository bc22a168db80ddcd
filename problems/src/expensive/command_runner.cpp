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

/// A call under way. While as many as there may be are, it waits.
class CommandRunner::Place {
 public:
  Place(CommandRunner& runner, const std::stop_token& stop) : runner_(runner) {
    std::unique_lock lock(runner_.mutex_);
    const int most = runner_.options_.jobs;
    runner_.room_.wait(lock, stop, [&] { return most == 0 || runner_.under_way_ < most; });
    ++runner_.under_way_;  // also where it is to stop: the call sees that, and begins nothing
  }
  ~Place() {
    const std::lock_guard lock(runner_.mutex_);
    --runner_.under_way_;
    runner_.room_.notify_one();
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

 private:
  CommandRunner& runner_;
};

CommandRunner::CommandRunner(CommandOptions options)
    : options_(std::move(options)), words_(split_command(options_)), states_(options_.variables) {
  if (options_.worker == WorkerForm::none) return;
  workers_ = std::make_unique<WorkerPool>(options_, words_for({}));
}

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
  const Place place(*this, plan.stop);
  const auto begin = Clock::now();
  CallOutcome outcome = call(values_of(key), plan);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (outcome.end == CallOutcome::End::stopped) {
    throw EvaluationCutOff("command.cut_off",
                           "the run ended during a call of command:" + printable(options_.command));
  }
  const std::lock_guard lock(mutex_);
  require_started(outcome);
  count(outcome);
  if (outcome.why.empty() && calls_ == failures_ + 1) {
    introduce(outcome.values, outcome.line, seconds);
  }
  // Of two calls at once the first counts, for a program that is not always of one opinion.
  return give(records_.try_emplace(key, std::move(outcome.values)).first->second, g);
}

std::vector<std::string> CommandRunner::values_of(const Numbers& key) const {
  std::vector<std::string> values(options_.variables.size());
  for (std::size_t i = 0; i < key.size(); ++i) {
    values[static_cast<std::size_t>(states_.order()[i])] = text_of(variable(i), key[i]);
  }
  return values;
}

std::vector<std::string> CommandRunner::words_for(const std::vector<std::string>& values) const {
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
CallOutcome CommandRunner::call(const std::vector<std::string>& values, const Plan& plan) {
  auto time = first_pause;
  for (int tries = 1;; ++tries, time *= 2) {
    CallOutcome outcome = workers_ ? workers_->call(values, plan.stop, plan.keeper)
                                   : call_program(words_for(values), plan);
    if (outcome.end != CallOutcome::End::not_started || tries == max_tries) return outcome;
    if (!plan.started && !may_pass(outcome.reason)) return outcome;
    pause(time, plan.stop);
  }
}

CallOutcome CommandRunner::call_program(const std::vector<std::string>& words,
                                        const Plan& plan) const {
  return judge(run_process(words, options_.timeout_s, plan.stop, plan.keeper.get()));
}

// What a process gave, or what was wrong with it.
CallOutcome CommandRunner::judge(const ProcessResult& result) const {
  const auto failed = [&](std::string why) {
    return CallOutcome{.why = std::move(why), .said = words_of(result)};
  };
  switch (result.end) {
    case End::not_started:
      return {.end = CallOutcome::End::not_started, .reason = result.code};
    case End::stopped:
      return {.end = CallOutcome::End::stopped};
    case End::timed_out:
      return failed("the call took longer than --timeout");
    case End::killed:
      return failed("signal " + std::to_string(result.code) + " ended the program");
    case End::exited:
      break;
  }
  if (result.code != 0) return failed("exit code " + std::to_string(result.code));
  ProgramOutput output =
      read_output(result.output, static_cast<std::size_t>(options_.constraints) + 1);
  if (!output.complaint.empty()) return failed(output.complaint);
  if (!std::isfinite(output.numbers.front())) {
    return failed("the value that the program printed is not a finite number");
  }
  return {.end = CallOutcome::End::values,
          .values = std::move(output.numbers),
          .line = std::move(output.line)};
}

void CommandRunner::require_started(CallOutcome& outcome) {
  if (outcome.end != CallOutcome::End::not_started) {
    started_ = true;
    return;
  }
  if (!started_) refuse_start(options_.command, program_of(words_), outcome.reason);
  outcome.why = std::string("the program did not start: ") + std::strerror(outcome.reason);
}

// A program that never succeeds is a mistake, and every call may be expensive.
void CommandRunner::count(const CallOutcome& outcome) {
  ++calls_;
  if (outcome.why.empty()) return;
  ++failures_;
  const std::string& said = outcome.said;
  last_failure_ = outcome.why + (said.empty() ? "" : "; the program printed: " + said);
  if (failures_ < calls_ || failures_ < patience) return;
  throw ObjectiveError("command.failed",
                       "command:" + printable(options_.command) + " failed in all of its first " +
                           std::to_string(failures_) + " calls; the last failure: " + outcome.why,
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
