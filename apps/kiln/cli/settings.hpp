// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kiln/budget.hpp"
#include "kiln/kernels/fronts/scalarization.hpp"
#include "kiln/problem.hpp"
#include "kiln/registry.hpp"
#include "kiln/run.hpp"

#include "cli/arguments.hpp"
#include "run/problem_source.hpp"

namespace kiln::cli {

/// Where a value comes from, in rising precedence.
enum class Origin : std::uint8_t { standard, config, environment, command_line };

const char* to_string(Origin) noexcept;

/// A value as text, with what is needed to say where it stood.
struct Setting {
  std::string text;
  Origin origin = Origin::standard;
  std::string place{};  ///< "run.toml:3:1" for values from a configuration file
};

/// By long option name, or by parameter name.
using Settings = std::map<std::string, Setting>;

/// The options of a command line. One that is given several times is one list.
Settings settings_of(const Arguments& arguments);

/// How a setting is called in a message about its value: "--seed", "run.toml:3:1: seed".
std::string label_of(const std::string& name, const Setting& setting);

/// @throws InvalidArgument "LABEL=TEXT COMPLAINT"
[[noreturn]] void refuse_value(const std::string& name, const Setting& setting,
                               const std::string& complaint, const std::string& fix);

/// The seconds of a setting such as 30s or 5m. @throws InvalidArgument unless they are above 0
/// @param example  what the fix of the error shows
double positive_duration(const std::string& name, const Setting& setting,
                         const std::string& example);

/// What stood behind each -p. @throws InvalidArgument
Settings parameters_of(const Arguments& arguments);

/// What a configuration file says.
struct ConfigFile {
  Settings options;
  Settings parameters;  ///< of the schedule
};

/// What differs between the verbs that run a schedule.
struct RunVerb {
  std::string name;  ///< "solve"
  std::vector<OptionSpec> specs;
  std::string schedule;    ///< the default
  std::string replicas;    ///< how the option for their number is called: "chains" of a sampler
  std::string time_limit;  ///< where no limit is given; "": until the schedule is done
  /// Options that stand for the parameter of that name of the schedule.
  std::vector<std::string> parameters;
  bool samples = false;  ///< wants draws, and so a schedule that keeps them
};

const RunVerb& solve_verb();
const RunVerb& sample_verb();

/// Reads a TOML file: the long options as keys, a table [schedule] with `name` and parameters.
/// @throws InvalidArgument with file:line:column for syntax errors, unknown keys and wrong types.
ConfigFile read_config(const std::string& path, const RunVerb& verb);

/// Everything that a verb was told, judged and merged.
struct CommandOptions {
  const RunVerb* verb = nullptr;
  std::string problem;
  std::string schedule;
  ProblemOptions problem_options;  ///< what was said about the problem
  std::string folder;              ///< "" for none
  std::string save;                ///< where run.json is to be written besides, "" for nowhere
  std::string initial;             ///< file of states to begin in, "" for none
  std::string past;                ///< file of evaluations that are known, "" for none
  ScalarizationKind scalarization = ScalarizationKind::augmented_chebyshev;
  std::string reference_front;       ///< file of a front to compare with, "" for none
  std::int64_t csv = 0;              ///< chains whose draws are written as CSV
  std::string expected_fingerprint;  ///< of the data of a run that is repeated, "" if not known
  std::vector<std::string> notes;    ///< on a run that is repeated
  RunOptions run;
  Budget budget;
  bool counts_evaluations = false;  ///< the sweeps of the budget are what `evaluations` come to
  bool target_best_known = false;   ///< the target is what the problem says is best
  bool dry_run = false;
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  Settings settings;    ///< of the options above, resolved
  Settings parameters;  ///< of the schedule, as given
};

/// Merges defaults, configuration file, environment and command line, in this order, and checks
/// every value. @throws InvalidArgument
CommandOptions resolve_options(const RunVerb& verb, const Arguments& arguments);

/// Makes the schedule from its parameters. @throws InvalidArgument with the nearest name and, for
/// values from a configuration file, their place.
std::unique_ptr<Schedule> make_schedule(const ScheduleEntry& entry, const Settings& parameters);

}  // namespace kiln::cli
