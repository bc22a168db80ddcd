// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kiln/commands/command_ring.hpp"
#include "kiln/kiln.hpp"

#include "models/small_models.hpp"

namespace kiln::test::commands {

using Texts = std::map<std::string, std::string>;

inline Problem spins(std::int32_t n = 60) {
  return make_ising(test::random_ising(n, 4, 3), "spins");
}

inline RunOptions options(std::int64_t replicas = 32) {
  RunOptions options;
  options.device = "cpu";
  options.threads = 1;
  options.replicas = replicas;
  options.report_interval_s = 0;  // every look of the host is a report point
  return options;
}

inline RunOptions with_ring(RunOptions options) {
  options.commands.ring = std::make_shared<CommandRing>();
  return options;
}

struct Finished {
  Result result;
  Archive archive;
};

inline Finished run_to_end(const Problem& problem, const std::string& schedule, const Texts& texts,
                           const RunOptions& options, std::int64_t sweeps,
                           const Observers& observers = {}) {
  const std::unique_ptr<Schedule> made = builtin_registry().schedule(schedule).make(texts);
  kiln::Run run(problem, *made, {.sweeps = sweeps}, options, open_backend("cpu", 1));
  Finished finished{run.advance(observers), {}};
  run.save(finished.archive);
  return finished;
}

inline State state_of(const Problem& problem, int value) {
  const auto n = static_cast<std::size_t>(problem.objective->space().variables());
  return {std::vector<std::int8_t>(n, static_cast<std::int8_t>(value))};
}

/// Posts commands at report points, and keeps their log and outcomes.
struct Script {
  std::map<int, std::pair<CommandKind, CommandData>> at;
  std::vector<LoggedCommand> log;
  std::vector<CommandOutcome> outcomes;
  int points = 0;

  Finished play(const Problem& problem, const std::string& schedule, const Texts& texts,
                RunOptions run, std::int64_t sweeps) {
    run = with_ring(std::move(run));
    run.commands.log = [this](const LoggedCommand& one) { log.push_back(one); };
    const Observer post([&](const ReportPoint&) {
      const auto found = at.find(points++);
      if (found == at.end()) return;
      run.commands.ring->post(found->second.first, found->second.second,
                              [this](const CommandOutcome& one) { outcomes.push_back(one); });
    });
    return run_to_end(problem, schedule, texts, run, sweeps, {post});
  }
};

inline Finished repeat(const Problem& problem, const std::string& schedule, const Texts& texts,
                       RunOptions run, std::int64_t sweeps, const std::vector<LoggedCommand>& log) {
  std::string text;
  for (const LoggedCommand& one : log) text += log_line(one);
  run.commands.repeat = read_command_log(text, "commands.ndjson");
  run.report_interval_s = 1e6;  // other looks of the host than those of the first run
  return run_to_end(problem, schedule, texts, run, sweeps);
}

inline const Texts ladder{{"rungs", "4"}, {"burn_in", "40"}};

}  // namespace kiln::test::commands
