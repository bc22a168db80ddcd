// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "kiln/budget.hpp"
#include "kiln/problem.hpp"
#include "kiln/problems/readers.hpp"
#include "kiln/registry.hpp"
#include "kiln/run.hpp"

#include "arguments.hpp"

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

/// What a configuration file says.
struct ConfigFile {
  Settings options;
  Settings parameters;  ///< of the schedule
};

/// Reads a TOML file: the long options as keys, a table [schedule] with `name` and parameters.
/// @throws InvalidArgument with file:line:column for syntax errors, unknown keys and wrong types.
ConfigFile read_config(const std::string& path, const std::vector<OptionSpec>& specs);

/// Everything that `kiln solve` was told, judged and merged.
struct SolveOptions {
  std::string problem;
  std::string schedule;
  std::string format;                ///< "" for automatic
  std::string data;                  ///< file with the data of a model, "" for none
  std::string folder;                ///< "" for none
  std::string save;                  ///< where run.json is to be written besides, "" for nowhere
  std::string initial;               ///< file of states to begin in, "" for none
  std::string expected_fingerprint;  ///< of the data of a run that is repeated, "" if not known
  std::optional<VarType> vartype;
  RunOptions run;
  Budget budget;
  Sense sense = Sense::minimize;
  std::int32_t colors = 0;  ///< 0: not said
  bool dry_run = false;
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  Settings settings;    ///< of the options above, resolved
  Settings parameters;  ///< of the schedule, as given
};

/// The options of `kiln solve`.
const std::vector<OptionSpec>& solve_specs();

/// Merges defaults, configuration file, environment and command line, in this order, and checks
/// every value. @throws InvalidArgument
SolveOptions resolve_solve_options(const Arguments& arguments);

/// Makes the schedule from its parameters. @throws InvalidArgument with the nearest name and, for
/// values from a configuration file, their place.
std::unique_ptr<Schedule> make_schedule(const ScheduleEntry& entry, const Settings& parameters);

}  // namespace kiln::cli
