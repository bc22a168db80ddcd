// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "kiln/schedules/pipeline.hpp"

#include "cli/option_values.hpp"
#include "cli/plugin_option.hpp"
#include "cli/problem_options.hpp"
#include "cli/repeat.hpp"
#include "cli/telemetry_options.hpp"
#include "errors.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

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

Settings merge(const RunVerb& verb, const Arguments& arguments, const ConfigFile& config) {
  Settings merged;
  for (const OptionSpec& spec : verb.specs) {
    if (!spec.use.standard.empty()) merged[spec.name] = {spec.use.standard};
  }
  for (const auto& [name, setting] : config.options) merged[name] = setting;
  for (const OptionSpec& spec : verb.specs) {
    if (!spec.use.environment) continue;
    const char* text = std::getenv(environment_name(spec.name).c_str());
    if (text != nullptr && *text != '\0') merged[spec.name] = {text, Origin::environment};
  }
  for (const auto& [name, setting] : settings_of(arguments)) {
    if (name == "parameter" || name == "config" || name == "repeat" || name == plugin_spec().name)
      continue;
    merged[name] = setting;
  }
  const bool limited = std::ranges::any_of(verb.specs, [&](const OptionSpec& spec) {
    return spec.use.limit && merged.contains(spec.name);
  });
  if (!limited && !verb.time_limit.empty()) merged["time-limit"] = {verb.time_limit};
  return merged;
}

// `--draws 500` says the same as `-p draws=500`.
void move_to_parameters(CommandOptions& options) {
  for (const OptionSpec& spec : options.verb->specs) {
    const std::string& name = spec.name;
    const auto given = options.settings.find(name);
    if (!spec.use.parameter || given == options.settings.end()) continue;
    const auto known = options.parameters.find(name);
    const bool twice = known != options.parameters.end() &&
                       known->second.origin == Origin::command_line &&
                       given->second.origin == Origin::command_line;
    if (twice) {
      throw InvalidArgument("cli.repeated",
                            fmt::format("--{} and -p {} set the same option", name, name), {},
                            fmt::format("remove --{} or -p {}", name, name));
    }
    if (known == options.parameters.end() || known->second.origin <= given->second.origin) {
      options.parameters[name] = given->second;
    }
  }
}

// The declaration of an option that the program asks for.
const OptionSpec& declared(const std::string& name) {
  const OptionSpec* const spec = find_run_option(name);
  if (spec == nullptr) throw std::logic_error("no command of kiln declares the option --" + name);
  return *spec;
}

// Bad values are refused here, before anything is done, in the order of the table.
void judge_values(const CommandOptions& options) {
  for (const OptionSpec& spec : options.verb->specs) options.read(spec.name);
  // Of a run of another verb that is repeated.
  for (const auto& [name, setting] : options.settings) options.read(name);
}

// --graph-capture is how it was called when there were two.
Executor wanted_executor(const CommandOptions& options) {
  const auto executor = options.value<Executor>("executor").value_or(Executor::automatic);
  if (!options.has("graph-capture")) return executor;
  if (options.settings.at("executor").origin != Origin::standard) {
    throw InvalidArgument("cli.conflict", "--executor and --graph-capture exclude each other", {},
                          "--executor alone");
  }
  return options.value<bool>("graph-capture").value() ? Executor::automatic : Executor::stream;
}

// What is a member of RunOptions or of the budget.
void fill_run(CommandOptions& options) {
  RunOptions& run = options.run;
  run.device = clean(options.text("device"));
  run.seed = options.value<std::uint64_t>("seed").value_or(run.seed);
  run.draw_naming = options.value<std::optional<DrawNaming>>("draw-naming").value_or(std::nullopt);
  run.executor = wanted_executor(options);
  run.profile = options.has("profile");
  run.threads = static_cast<int>(options.value<std::int64_t>("threads").value_or(run.threads));
  run.replicas = options.value<std::int64_t>(options.verb->replicas).value_or(run.replicas);
  run.top = options.value<std::int64_t>("top").value_or(run.top);
  run.report_interval_s = options.value<double>("report-interval").value_or(run.report_interval_s);
  fill_telemetry(options);
  options.budget.time_limit_s = options.value<double>("time-limit");
  options.budget.sweeps = options.value<std::int64_t>("sweeps");
  options.budget.target = options.value<double>("target");
  if (const auto work = options.value<WorkAmount>("work-limit")) {
    options.budget.work_limit = work->amount;
  }
  options.budget.stop_when = options.value<GainCondition>("stop-when");
  options.budget.until = options.value<DrawConditions>("until").value_or(DrawConditions{});
}

// An unset variable of the shell is no wish to do without.
void check_paths(const RunVerb& verb, const Settings& settings) {
  for (const OptionSpec& spec : verb.specs) {
    if (spec.value != "FILE" && spec.value != "DIR") continue;
    const auto given = settings.find(spec.name);
    if (given == settings.end() || !given->second.text.empty()) continue;
    const char* const need =
        spec.value == "DIR" ? " needs the name of a folder" : " needs the name of a file";
    throw InvalidArgument("cli.value", label_of(spec.name, given->second) + need);
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

bool has_parameter(const ScheduleEntry& entry, const std::string& parameter) {
  return std::ranges::find(entry.fields, parameter, &FieldInfo::name) != entry.fields.end();
}

// The schedules that have a parameter.
std::string schedules_with(const std::string& parameter) {
  std::string list;
  const Registry& registry = known_registry();
  for (const ScheduleEntry* entry : registry.schedules()) {
    if (has_parameter(*entry, parameter)) list += (list.empty() ? "" : ", ") + entry->name;
  }
  return list;
}

// How long a run is, which --evaluations and --generations say of schedules that count in them.
bool is_length(std::string_view parameter) {
  return parameter == "evaluations" || parameter == "generations";
}

// How long a run is goes by another name in other schedules. The default schedule may have what a
// problem's own schedule lacks.
std::string fix_for(const std::string& parameter, const ScheduleEntry& entry) {
  if (!is_length(parameter)) {
    const std::string usual = declared("schedule").use.standard;  // of searches for one value
    const bool serves = !entry.samples && !entry.several_objectives &&
                        has_parameter(known_registry().schedule(usual), parameter);
    return (serves ? "--schedule " + usual + ", or " : "") + parameters_hint(entry);
  }
  for (const char* other : {"evaluations", "generations"}) {
    if (has_parameter(entry, other)) return fmt::format("--{} N", other);
  }
  return "--sweeps N";
}

// Of which stage would it be?
[[noreturn]] void refuse_parameter(const std::string& name, const Setting& setting) {
  throw InvalidArgument(
      "cli.conflict",
      fmt::format("{} is given beside a pipeline", setting.origin == Origin::config
                                                       ? setting.place + ": '" + name + "'"
                                                       : "-p " + name),
      "parameters of a pipeline stand in the brackets of their stage",
      fmt::format("--schedule 'NAME({}={}) > ...'", name, clean(setting.text)));
}

void check_names(const ScheduleEntry& entry, const Settings& parameters) {
  std::vector<std::string> names;
  std::vector<std::string> former;
  for (const FieldInfo& field : entry.fields) {
    names.push_back(field.name);
    former.insert(former.end(), field.former_names.begin(), field.former_names.end());
  }
  for (const auto& [name, setting] : parameters) {
    if (std::ranges::count(names, name) + std::ranges::count(former, name) > 0) continue;
    if (PipelineText::is_one(entry.name)) refuse_parameter(name, setting);
    const bool in_file = setting.origin == Origin::config;
    const std::string owners = schedules_with(name);
    const std::string what = in_file           ? fmt::format("{}: '{}'", setting.place, name)
                             : is_length(name) ? fmt::format("--{}", name)
                                               : fmt::format("-p '{}'", name);
    throw InvalidArgument(
        in_file ? "config.key" : "cli.unknown",
        fmt::format("{} is not a parameter of schedule '{}'{}", what, entry.name,
                    nearest_hint(name, names)),
        owners.empty() ? "" : fmt::format("'{}' is a parameter of {}", name, owners),
        fix_for(name, entry));
  }
}

// An alias becomes the name, so that a run is recorded and shown by that; what is unknown is
// refused later.
void take_full_name(CommandOptions& options, const std::string& schedule) {
  const Registry& registry = known_registry();
  options.schedule = schedule;
  if (PipelineText::is_one(schedule)) {
    try {
      options.schedule = PipelineText(schedule, registry).canonical();
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(
          error.code(),
          label_of("schedule", options.settings["schedule"]) + ": " + clean(error.message()),
          error.expected(), error.fix_steps());
    }
  }
  if (registry.has_schedule(schedule)) {
    const ScheduleEntry& entry = registry.schedule(schedule);
    options.schedule = entry.name;
    if (std::ranges::count(entry.former_names, schedule) > 0) options.former_schedule = schedule;
  }
  options.settings["schedule"].text = options.schedule;
}

// Without a problem, --objective names a file, which is the problem.
void take_source(CommandOptions& options, const Arguments& arguments) {
  if (!arguments.positional.empty() || !options.problem.empty()) return;
  const auto objective = options.settings.find("objective");
  if (objective == options.settings.end()) return;
  options.problem = "source:" + objective->second.text;
  options.settings.erase(objective);
}

// Whether the command line gives a limit, or what counts other steps: then a run does not end where
// another has.
bool ends_elsewhere(const RunVerb& verb, const Arguments& arguments) {
  const Settings parameters = parameters_of(arguments);
  const bool has_limit = std::ranges::any_of(verb.specs, [&](const OptionSpec& spec) {
    const bool limits = spec.use.limit || spec.name == "draws";
    return limits && (arguments.has(spec.name) || parameters.contains(spec.name));
  });
  return has_limit || arguments.has("schedule") || !arguments.positional.empty();
}

// What --config or --repeat says: the options, and of a run its problem, too.
ConfigFile read_file_options(const RunVerb& verb, const Arguments& arguments, TakeOver what,
                             CommandOptions& options) {
  if (arguments.has("config") && arguments.has("repeat")) {
    throw InvalidArgument("cli.conflict", "--config and --repeat exclude each other");
  }
  if (arguments.has("config")) return read_config(arguments.text("config"), verb);
  if (!arguments.has("repeat")) return {};
  const RecordedRun recorded = read_recorded_run(arguments.text("repeat"), verb, what);
  if (arguments.positional.empty() && !arguments.has("allow-command")) {
    refuse_command(recorded, arguments.text("repeat"));
  }
  options.problem = recorded.problem;
  options.expected_fingerprint = recorded.fingerprint;
  options.notes = recorded.notes;
  options.recorded = recorded.resolved;
  if (!ends_elsewhere(verb, arguments)) options.continuation = recorded.continuation;
  if (options.continuation && what == TakeOver::what_decides) {
    options.notes.push_back(options.continuation->note());
  }
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

bool CommandOptions::has(const std::string& name) const {
  return settings.contains(declared(name).name);
}

std::string CommandOptions::text(const std::string& name) const {
  return has(name) ? settings.at(name).text : std::string{};
}

std::any CommandOptions::read(const std::string& name) const {
  const OptionSpec& spec = declared(name);
  const auto given = settings.find(name);
  if (given == settings.end()) return {};
  return spec.use.read ? spec.use.read(name, given->second) : std::any(given->second.text);
}

CommandOptions resolve_options(const RunVerb& verb, const Arguments& arguments, TakeOver what) {
  CommandOptions options;
  options.verb = &verb;
  load_plugins(arguments);
  const ConfigFile config = read_file_options(verb, arguments, what, options);
  options.settings = merge(verb, arguments, config);
  if (arguments.has("repeat")) {
    options.changed_problem_options = changed_problem_options(config.options, options.settings);
  }
  options.parameters = config.parameters;
  // What came with the schedule of a recorded run goes with it.
  if (options.settings.at("schedule").origin > Origin::config) {
    std::erase_if(options.parameters,
                  [](const auto& one) { return one.second.origin == Origin::standard; });
  }
  for (const auto& [name, setting] : parameters_of(arguments)) options.parameters[name] = setting;
  if (options.continuation && verb.samples && !options.continuation->draws.empty()) {
    options.settings["draws"] = {options.continuation->draws, Origin::config, "result.json"};
  }
  move_to_parameters(options);

  const Settings& all = options.settings;
  take_source(options, arguments);
  if (!arguments.positional.empty()) {
    options.problem = arguments.positional.front();
    options.expected_fingerprint.clear();
    options.recorded.reset();  // defaults may follow from the problem
  }
  take_full_name(options, clean(all.at("schedule").text));
  options.problem_options = problem_options_of(all);
  judge_values(options);
  fill_run(options);
  if (options.has("quiet") && options.has("verbose")) {
    throw InvalidArgument("cli.conflict", "--quiet and --verbose exclude each other");
  }
  check_paths(verb, all);
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
