// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "cli/problem_options.hpp"
#include "cli/repeat.hpp"
#include "errors.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

struct Default {
  const char* name;
  const char* text;
};

// What is not here has no value unless it is given.
constexpr std::array<Default, 4> defaults{
    {{"seed", "1"}, {"device", "auto"}, {"threads", "auto"}, {"graph-capture", "on"}}};

constexpr const char* default_csv = "16";
constexpr std::int64_t most_csv = 9999;

std::string environment_name(std::string option) {
  for (char& c : option) c = c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  return "KILN_" + option;
}

}  // namespace

std::string label_of(const std::string& name, const Setting& setting) {
  switch (setting.origin) {
    case Origin::environment:
      return environment_name(name);
    case Origin::config:
      return setting.place + ": " + name;
    case Origin::command_line:
    case Origin::standard:
      break;
  }
  return "--" + name;
}

void refuse_value(const std::string& name, const Setting& setting, const std::string& complaint,
                  const std::string& fix) {
  const char* code = setting.origin == Origin::config ? "config.range" : "cli.range";
  throw InvalidArgument(
      code, fmt::format("{}={} {}", label_of(name, setting), clean(setting.text), complaint), {},
      fix);
}

namespace {

// Reads the value of an option by `parse`.
template <class Parse>
auto parsed(const std::string& name, const Setting& setting, const std::string& example,
            Parse parse) {
  return with_fix(fmt::format("--{} {}", name, example),
                  [&] { return parse(clean(setting.text), label_of(name, setting)); });
}

}  // namespace

double positive_duration(const std::string& name, const Setting& setting,
                         const std::string& example) {
  const double seconds = parsed(name, setting, example, parse_duration);
  if (seconds > 0) return seconds;
  refuse_value(name, setting, "is not greater than 0",
               fmt::format("give a positive duration, for example --{} {}", name, example));
}

namespace {

std::int64_t count_of(const std::string& name, const Setting& setting, std::int64_t most,
                      const std::string& example) {
  const std::int64_t value = parsed(name, setting, example, parse_count);
  if (value >= 1 && value <= most) return value;
  refuse_value(name, setting, fmt::format("is outside 1 .. {}", most),
               fmt::format("give a positive number, for example --{} {}", name, example));
}

std::uint64_t seed_of(const Setting& setting) {
  constexpr const char* complaint = "is outside 0 .. 18446744073709551615";
  constexpr const char* fix = "give a non-negative number, for example --seed 1";
  const std::string& text = setting.text;
  const char* const end = text.data() + text.size();
  std::uint64_t seed = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, seed);
  if (error == std::errc() && rest == end) return seed;
  const bool digits =
      !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (digits) refuse_value("seed", setting, complaint, fix);
  const std::int64_t value = parsed("seed", setting, "1", parse_count);
  if (value < 0) refuse_value("seed", setting, complaint, fix);
  return static_cast<std::uint64_t>(value);
}

double target_of(const Setting& setting) {
  return parsed("target", setting, "VALUE, or --target best-known", detail::parse_real);
}

std::int64_t csv_of(const Setting& setting) {
  const std::int64_t chains = parsed("csv", setting, default_csv, parse_count);
  if (chains >= 0 && chains <= most_csv) return chains;
  refuse_value("csv", setting, fmt::format("is outside 0 .. {}", most_csv),
               "draws.npy has the draws of all chains that were kept");
}

ScalarizationKind scalarization_of(const Setting& setting) {
  if (setting.text == "chebyshev") return ScalarizationKind::chebyshev;
  if (setting.text == "augmented") return ScalarizationKind::augmented_chebyshev;
  if (setting.text == "weighted-sum") return ScalarizationKind::weighted_sum;
  refuse_value("scalarize", setting, "is none of chebyshev, augmented and weighted-sum",
               "--scalarize augmented");
}

bool on_or_off(const std::string& name, const Setting& setting) {
  if (setting.text == "on" || setting.text == "true") return true;
  if (setting.text == "off" || setting.text == "false") return false;
  refuse_value(name, setting, "is neither on nor off", fmt::format("--{} on", name));
}

Settings merge(const RunVerb& verb, const Arguments& arguments, const ConfigFile& config) {
  Settings merged;
  for (const Default& standard : defaults) merged[standard.name] = {standard.text};
  merged["schedule"] = {verb.schedule};
  merged[verb.replicas] = {"auto"};
  if (verb.samples) merged["csv"] = {default_csv};
  for (const auto& [name, setting] : config.options) merged[name] = setting;
  for (const std::string& name :
       {std::string("device"), std::string("seed"), std::string("threads"), verb.replicas}) {
    const char* text = std::getenv(environment_name(name).c_str());
    if (text != nullptr && *text != '\0') merged[name] = {text, Origin::environment};
  }
  for (const auto& [name, setting] : settings_of(arguments)) {
    if (name == "parameter" || name == "config" || name == "repeat") continue;
    merged[name] = setting;
  }
  const bool limited = std::ranges::any_of(
      std::array{"time-limit", "sweeps", "target", "evaluations", "generations"},
      [&](const char* name) { return merged.contains(name); });
  if (!limited && !verb.time_limit.empty()) merged["time-limit"] = {verb.time_limit};
  return merged;
}

// `--draws 500` says the same as `-p draws=500`.
void move_to_parameters(CommandOptions& options) {
  for (const std::string& name : options.verb->parameters) {
    const auto given = options.settings.find(name);
    if (given == options.settings.end()) continue;
    const auto known = options.parameters.find(name);
    const bool twice = known != options.parameters.end() &&
                       known->second.origin == Origin::command_line &&
                       given->second.origin == Origin::command_line;
    if (twice) {
      throw InvalidArgument("cli.repeated", fmt::format("--{} and -p {} say the same", name, name),
                            {}, "leave one of them out");
    }
    if (known == options.parameters.end() || known->second.origin <= given->second.origin) {
      options.parameters[name] = given->second;
    }
  }
}

void fill_run(CommandOptions& options) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const Settings& all = options.settings;
  options.run.device = clean(all.at("device").text);
  options.run.seed = seed_of(all.at("seed"));
  options.run.graph_capture = on_or_off("graph-capture", all.at("graph-capture"));
  if (all.at("threads").text != "auto") {
    options.run.threads = static_cast<int>(count_of("threads", all.at("threads"), 4096, "4"));
  }
  const std::string& replicas = options.verb->replicas;
  if (all.at(replicas).text != "auto") {
    options.run.replicas = count_of(replicas, all.at(replicas), std::int64_t{1} << 31, "1024");
  }
  if (all.contains("time-limit")) {
    options.budget.time_limit_s = positive_duration("time-limit", all.at("time-limit"), "30s");
  }
  if (all.contains("sweeps")) {
    options.budget.sweeps = count_of("sweeps", all.at("sweeps"), most, "10k");
  }
  if (all.contains("target")) {
    options.target_best_known = all.at("target").text == "best-known";
    if (!options.target_best_known) options.budget.target = target_of(all.at("target"));
  }
  if (all.contains("top")) options.run.top = count_of("top", all.at("top"), 1000000, "10");
  if (all.contains("csv")) options.csv = csv_of(all.at("csv"));
  if (all.contains("scalarize")) options.scalarization = scalarization_of(all.at("scalarize"));
}

std::string text_or(const Settings& settings, const std::string& name) {
  const auto found = settings.find(name);
  return found == settings.end() ? "" : found->second.text;
}

// An unset variable of the shell is no wish to do without.
void check_paths(const Settings& settings) {
  for (const char* name : {"output", "save", "initial", "past", "data", "reference-front"}) {
    const auto given = settings.find(name);
    if (given == settings.end() || !given->second.text.empty()) continue;
    const std::string label = label_of(name, given->second) + " needs the name of a ";
    throw InvalidArgument("cli.value", label + (given->first == "output" ? "folder" : "file"));
  }
}

// A bad value from a file is reported with its place there; the schedule knows texts only, and
// begins each complaint about a value with its name.
std::string with_places(const std::string& complaints, const Settings& parameters) {
  std::string text;
  std::string_view rest = complaints;
  for (;;) {
    const std::size_t end = rest.find("\n  ");
    const std::string_view complaint = rest.substr(0, end);
    const Setting* origin = nullptr;
    for (const auto& [name, setting] : parameters) {
      if (!setting.place.empty() && complaint.starts_with(name + ":")) origin = &setting;
    }
    if (origin != nullptr) text += origin->place + ": ";
    text += complaint;
    if (end == std::string_view::npos) return text;
    text += "\n  ";
    rest.remove_prefix(end + 3);
  }
}

std::string parameters_hint(const ScheduleEntry& entry) {
  return fmt::format("kiln describe {} lists the parameters", entry.name);
}

// The schedules that have a parameter.
std::string schedules_with(const std::string& parameter) {
  std::string list;
  const Registry registry = builtin_registry();
  for (const ScheduleEntry* entry : registry.schedules()) {
    if (std::ranges::find(entry->fields, parameter, &FieldInfo::name) == entry->fields.end()) {
      continue;
    }
    list += (list.empty() ? "" : ", ") + entry->name;
  }
  return list;
}

// How long a run is, which --evaluations and --generations say of schedules that count in them.
bool is_length(std::string_view parameter) {
  return parameter == "evaluations" || parameter == "generations";
}

// How long a run is goes by another name in other schedules.
std::string fix_for(const std::string& parameter, const ScheduleEntry& entry) {
  if (!is_length(parameter)) return parameters_hint(entry);
  for (const char* other : {"evaluations", "generations"}) {
    const auto& fields = entry.fields;
    if (std::ranges::find(fields, other, &FieldInfo::name) != fields.end()) {
      return fmt::format("--{} N", other);
    }
  }
  return "--sweeps N";
}

void check_names(const ScheduleEntry& entry, const Settings& parameters) {
  std::vector<std::string> names;
  for (const FieldInfo& field : entry.fields) names.push_back(field.name);
  for (const auto& [name, setting] : parameters) {
    if (std::ranges::find(names, name) != names.end()) continue;
    const bool in_file = setting.origin == Origin::config;
    const std::string owners = schedules_with(name);
    const std::string what = in_file           ? fmt::format("{}: '{}'", setting.place, name)
                             : is_length(name) ? fmt::format("--{}", name)
                                               : fmt::format("-p '{}'", name);
    throw InvalidArgument(in_file ? "config.key" : "cli.unknown",
                          fmt::format("{} is not a parameter of schedule '{}'{}", what, entry.name,
                                      nearest_hint(name, names)),
                          owners.empty() ? "" : fmt::format("'{}' is one of {}", name, owners),
                          fix_for(name, entry));
  }
}

// An alias becomes the name, so that a run is recorded and shown by that; what is unknown is
// refused later.
std::string full_name(const std::string& schedule) {
  const Registry registry = builtin_registry();
  return registry.has_schedule(schedule) ? registry.schedule(schedule).name : schedule;
}

// What --config or --repeat says: the options, and of a run its problem, too.
ConfigFile read_file_options(const RunVerb& verb, const Arguments& arguments,
                             CommandOptions& options) {
  if (arguments.has("config") && arguments.has("repeat")) {
    throw InvalidArgument("cli.conflict", "--config and --repeat exclude each other");
  }
  if (arguments.has("config")) return read_config(arguments.text("config"), verb);
  if (!arguments.has("repeat")) return {};
  const RecordedRun recorded = read_recorded_run(arguments.text("repeat"), verb);
  if (arguments.positional.empty() && !arguments.has("allow-command")) {
    refuse_command(recorded, arguments.text("repeat"));
  }
  options.problem = recorded.problem;
  options.expected_fingerprint = recorded.fingerprint;
  options.notes = recorded.notes;
  return recorded.config;
}

}  // namespace

const char* to_string(Origin origin) noexcept {
  switch (origin) {
    case Origin::standard:
      return "default";
    case Origin::config:
      return "config";
    case Origin::environment:
      return "environment";
    case Origin::command_line:
      return "command line";
  }
  return "?";
}

CommandOptions resolve_options(const RunVerb& verb, const Arguments& arguments) {
  CommandOptions options;
  options.verb = &verb;
  const ConfigFile config = read_file_options(verb, arguments, options);
  options.settings = merge(verb, arguments, config);
  options.parameters = config.parameters;
  // What came with the schedule of a recorded run goes with it.
  if (options.settings.at("schedule").origin > Origin::config) {
    std::erase_if(options.parameters,
                  [](const auto& one) { return one.second.origin == Origin::standard; });
  }
  for (const auto& [name, setting] : parameters_of(arguments)) options.parameters[name] = setting;
  move_to_parameters(options);

  const Settings& all = options.settings;
  if (!arguments.positional.empty()) {
    options.problem = arguments.positional.front();
    options.expected_fingerprint.clear();
  }
  options.schedule = full_name(clean(all.at("schedule").text));
  options.settings["schedule"].text = options.schedule;
  options.problem_options = problem_options_of(all);
  options.folder = text_or(all, "output");
  options.save = text_or(all, "save");
  options.initial = text_or(all, "initial");
  options.past = text_or(all, "past");
  options.reference_front = text_or(all, "reference-front");
  options.dry_run = all.contains("dry-run");
  options.json = all.contains("json");
  options.quiet = all.contains("quiet");
  options.verbose = all.contains("verbose");
  fill_run(options);
  if (options.quiet && options.verbose) {
    throw InvalidArgument("cli.conflict", "--quiet and --verbose exclude each other");
  }
  check_paths(all);
  return options;
}

std::unique_ptr<Schedule> make_schedule(const ScheduleEntry& entry, const Settings& parameters) {
  check_names(entry, parameters);
  std::map<std::string, std::string> texts;
  for (const auto& [name, setting] : parameters) texts[name] = setting.text;
  try {
    return entry.make(texts);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(error.code(), with_places(error.message(), parameters), error.expected(),
                          error.fix().empty() ? Fix(parameters_hint(entry)) : error.fix_steps());
  }
}

}  // namespace kiln::cli
