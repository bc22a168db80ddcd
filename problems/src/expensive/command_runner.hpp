// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "call_outcome.hpp"
#include "command_states.hpp"
#include "command_words.hpp"
#include "process.hpp"
#include "worker_pool.hpp"

namespace kiln::problems::detail {

/// The name of the program that a command calls; "" where it has a variable in it.
std::string program_of(const std::vector<WordTemplate>& words);

/// @throws ObjectiveError `command.start` with the reason of the system, an errno
[[noreturn]] void refuse_start(const std::string& command, const std::string& program, int reason);

/// Calls the program and keeps what it gave; used from several threads.
class CommandRunner {
 public:
  explicit CommandRunner(CommandOptions options);

  const CommandOptions& options() const { return options_; }
  const CommandStates& states() const { return states_; }
  const CommandVariable& variable(std::size_t place) const {
    return options_.variables[static_cast<std::size_t>(states_.order()[place])];
  }

  void watch(std::stop_token stop);
  void keep_programs(std::shared_ptr<ProgramKeeper> keeper);
  void tell_first(std::function<void(const FirstEvaluation&)> tell);

  /// The value in the user's sense, NaN for a call that failed, and the constraints.
  /// @throws EvaluationCutOff for a call that was ended because a stop was requested;
  /// ObjectiveError for a program that cannot be started at all, or never succeeds.
  double evaluate(StateSpan state, std::span<double> g);

  /// How many calls failed, and why the last one did; "" where none has.
  std::string failures() const;

 private:
  struct Plan;
  class Place;
  std::vector<std::string> values_of(const Numbers& key) const;
  std::vector<std::string> words_for(const std::vector<std::string>& values) const;
  CallOutcome call(const std::vector<std::string>& values, const Plan& plan);
  CallOutcome call_program(const std::vector<std::string>& words, const Plan& plan) const;
  CallOutcome judge(const ProcessResult& result) const;
  void require_started(CallOutcome& outcome);
  void count(const CallOutcome& outcome);
  void introduce(const Numbers& values, const std::string& line, double seconds) const;

  CommandOptions options_;
  std::vector<WordTemplate> words_;
  CommandStates states_;
  mutable std::mutex mutex_;  // of what follows
  std::stop_token stop_;
  std::shared_ptr<ProgramKeeper> keeper_;
  std::function<void(const FirstEvaluation&)> tell_first_;
  std::map<Numbers, Numbers> records_;  // value and constraints; empty: it failed
  int calls_ = 0, failures_ = 0;
  bool started_ = false;
  std::string last_failure_;
  int under_way_ = 0;  // calls, of which there are options_.jobs at most
  std::condition_variable_any room_;
  std::unique_ptr<WorkerPool> workers_;  // the first to go; null where each call is a process
};

}  // namespace kiln::problems::detail
