// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <any>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kiln/budget.hpp"
#include "kiln/problem.hpp"
#include "kiln/registry.hpp"
#include "kiln/run.hpp"

#include "cli/arguments.hpp"
#include "cli/continuation.hpp"
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
  /// The texts of an option that was given several times, in order; `text` shows them all.
  std::vector<std::string> repeated{};
};

/// By long option name, or by parameter name.
using Settings = std::map<std::string, Setting>;

/// The options of a command line. One that is given several times keeps its texts.
Settings settings_of(const Arguments& arguments);

/// How a setting is called in a message about its value: "--seed", "run.toml:3:1: seed".
std::string label_of(const std::string& name, const Setting& setting);

/// @throws InvalidArgument "LABEL=TEXT COMPLAINT"
[[noreturn]] void refuse_value(const std::string& name, const Setting& setting,
                               const std::string& complaint, const std::string& fix);

/// What stood behind each -p. @throws InvalidArgument
Settings parameters_of(const Arguments& arguments);

/// What a configuration file says.
struct ConfigFile {
  Settings options;
  Settings parameters;  ///< of the schedule
};

/// Who reads a run.json: a run that repeats another takes over what decides the answer, and one
/// that continues it all that was given, but for what is shown.
enum class TakeOver : std::uint8_t { what_decides, all_given };

/// What the schedule of a recorded run made of its parameters.
struct RecordedParameters {
  std::string file;      ///< "run.json"
  std::string schedule;  ///< its name
  std::map<std::string, std::string> values;
};

/// What differs between the verbs that run a schedule.
struct RunVerb {
  std::string name;  ///< "solve"
  std::vector<OptionSpec> specs;
  std::string replicas;    ///< how the option for their number is called: "chains" of a sampler
  std::string time_limit;  ///< where no limit is given; "": until the schedule is done
  bool samples = false;    ///< wants draws, and so a schedule that keeps them
};

const RunVerb& solve_verb();
const RunVerb& sample_verb();

/// The declaration of an option of any verb that runs a schedule; null if there is none.
const OptionSpec* find_run_option(const std::string& name);

/// Reads a TOML file: the long options as keys, a table [schedule] with `name` and parameters.
/// @throws InvalidArgument with file:line:column for syntax errors, unknown keys and wrong types.
ConfigFile read_config(const std::string& path, const RunVerb& verb);

/// Everything that a verb was told, judged and merged. An option is asked for by the name that its
/// table declares; std::logic_error is thrown for a name that no verb has.
struct CommandOptions {
  const RunVerb* verb = nullptr;
  std::string problem;
  std::string schedule;
  ProblemOptions problem_options;    ///< what was said about the problem
  std::string expected_fingerprint;  ///< of the data of a run that is repeated, "" if not known
  /// Options of the problem that differ from those of the run that is repeated, a clause each:
  /// "--pick=3, which was 2".
  std::vector<std::string> changed_problem_options;
  std::vector<std::string> notes;              ///< on a run that is repeated
  std::optional<RecordedParameters> recorded;  ///< of a run that is repeated
  std::optional<Continuation> continuation;    ///< of a run that is repeated, if it has one
  bool is_extended = false;          ///< kiln resume gives the run other limits, or has given them
  std::string former_schedule;       ///< the name in the version before, if the user wrote that
  std::vector<std::string> renamed;  ///< what the user wrote by former names, one clause each
  RunOptions run;
  Budget budget;
  WorkKind work_kind = WorkKind::attempts;  ///< what a work limit counts, of the schedule
  bool counts_evaluations = false;  ///< the sweeps of the budget are what `evaluations` come to
  Settings settings;                ///< of all options, resolved
  Settings parameters;              ///< of the schedule, as given

  /// Whether an option has a value, or a flag is set.
  bool has(const std::string& name) const;
  /// The text of an option, "" where it is not given.
  std::string text(const std::string& name) const;
  /// What its reader made of the text; nothing where it is not given.
  template <class T>
  std::optional<T> value(const std::string& name) const {
    const std::any any = read(name);
    return any.has_value() ? std::optional(std::any_cast<T>(any)) : std::nullopt;
  }
  /// The same of any type. @throws InvalidArgument if the text is refused
  std::any read(const std::string& name) const;
};

/// Merges defaults, configuration file, environment and command line, in this order, and checks
/// every value. @throws InvalidArgument
CommandOptions resolve_options(const RunVerb& verb, const Arguments& arguments,
                               TakeOver what = TakeOver::what_decides);

/// Makes the schedule from its parameters. @throws InvalidArgument with the nearest name and, for
/// values from a configuration file, their place.
std::unique_ptr<Schedule> make_schedule(const ScheduleEntry& entry, const Settings& parameters);

}  // namespace kiln::cli
