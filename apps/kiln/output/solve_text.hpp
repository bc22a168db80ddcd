// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "kiln/backend.hpp"
#include "kiln/result.hpp"

#include "cli/settings.hpp"
#include "run/problem_source.hpp"

namespace kiln::cli {

/// What is known when a run is about to begin.
struct RunFacts {
  const CommandOptions& options;
  const LoadedProblem& loaded;
  DeviceInfo device;
  std::string fallback_reason;
  std::int64_t replicas = 0;
  DrawNaming naming = DrawNaming::words;
  std::string step;                               ///< what a step of the schedule is called
  std::map<std::string, std::string> parameters;  ///< of the schedule, resolved
  /// Limits of a run that continues: its time counts from now, its sweeps from the start.
  std::optional<Budget> continues_until = {};
};

/// "maxcut gset:G22   maximise cut   n 2000  m 19990   best known 13359"
/// @param sampled  without the aim: draws have none
std::string problem_text(const Problem& problem, bool sampled = false);

/// "cpu 2 threads, AVX-512, 1.0 of 23.5 GiB of memory in use"
std::string device_text(const DeviceInfo& device);

/// "after 30 s or at target 13359"
/// @param step  what a step of the schedule is called
/// @param parameters  of the schedule; its generations or sweeps end a run that has no other limit
std::string stop_rule(const CommandOptions& options, const std::string& step,
                      const std::map<std::string, std::string>& parameters);

/// The same of a run: one that continues ends by the limits of its continuation, whatever it was
/// planned for.
std::string stop_rule(const RunFacts& facts);

nlohmann::ordered_json problem_json(const LoadedProblem& loaded, const std::string& source);
nlohmann::ordered_json device_json(const DeviceInfo& device, const std::string& fallback_reason);
/// Each setting with its origin.
nlohmann::ordered_json settings_json(const Settings& settings);

/// What is about to be done: program, problem, schedule, device, stop rule.
std::string banner_of(const RunFacts& facts);

/// The warnings that a GPU was not used, or fewer threads than asked for; "" if there is nothing to
/// warn of.
std::string fallback_warning(const DeviceInfo& device, const std::string& reason);

/// run.json: everything that is needed to do the run again.
std::string run_json(const RunFacts& facts, const std::vector<std::string>& words);

/// The diagnostic that holds KnownValues::bound.
const char* bound_name(bool maximize);

/// The diagnostic that runs have whose evaluations are recorded one by one.
inline constexpr const char* records_evaluations = "failed_evaluations";

/// What ended a run at Stop::sweep_limit: "evaluation limit" where its evaluations are recorded,
/// else "sweep limit".
std::string limit_name(bool records, const std::string& step);

/// How a run has ended whose schedule was done, or whose value no state can better.
std::string end_of_search(const std::string& value_name, bool at_bound);

/// "sweep limit after 4.8 s"
std::string stop_text(const Result& result);

/// The line that says how a run ended and what it found.
std::string done_line(const Result& result, const Problem& problem);

/// All values of a state, in the order of its variables.
std::vector<double> numbers_of(const State& state);

/// The best point, where it consists of numbers that done_line() does not name: variables by their
/// names, of a density what sampling would report. In two lines at most.
/// @param in_file  whether solution.txt has all of them
std::string point_text(const Result& result, const Problem& problem, bool in_file,
                       std::size_t columns);

/// A line for each of the best distinct solutions, where more than one was asked for.
std::string top_text(const Result& result);

/// What the schedule advises, a paragraph each; often empty.
std::string advice_text(const std::vector<std::string>& advice);

/// Stages, counters and parameters, for --verbose.
std::string details_of(const Result& result, double read_s);

/// The result as one document. The numbers of a result that is not verified are null in it.
std::string result_json(const Result& result);

}  // namespace kiln::cli
