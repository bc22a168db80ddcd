// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/present_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "output/console.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

std::map<std::string, std::string> texts_of(const Settings& settings) {
  std::map<std::string, std::string> texts;
  for (const auto& [name, setting] : settings) texts[name] = setting.text;
  return texts;
}

// --sweeps limited a run before the parameter did.
bool sweeps_win(const CommandOptions& options, const Setting& setting) {
  const auto given = options.settings.find("sweeps");
  return given != options.settings.end() && given->second.origin >= setting.origin;
}

bool has_other_limit(const CommandOptions& options) {
  const auto time = options.settings.find("time-limit");
  return options.has("target") ||
         (time != options.settings.end() && time->second.origin != Origin::standard);
}

// Generations of AMOSA: beside another limit they are an option of the run, else the length that
// the schedule has by itself.
bool take_sweeps(CommandOptions& options, const Setting& setting) {
  if (sweeps_win(options, setting)) return false;
  if (!has_other_limit(options) && !options.has("sweeps")) {
    options.parameters["cooling_sweeps"] = setting;
    return true;
  }
  options.settings["sweeps"] = setting;
  options.budget.sweeps = options.value<std::int64_t>("sweeps");
  return true;
}

// The stronger origin wins, as between two settings of one name. Returns whether it is this one.
// @throws InvalidArgument if both are of one origin
bool take_parameter(Settings& parameters, const RenamedSchedule::Parameter& one,
                    const Setting& setting) {
  const auto present = parameters.find(one.name);
  if (present != parameters.end() && present->second.origin == setting.origin) {
    throw InvalidArgument(
        "cli.repeated",
        fmt::format("'{}' is the former name of '{}', and both are given", one.former, one.name),
        {}, fmt::format("leave '{}' out", one.former));
  }
  if (present != parameters.end() && present->second.origin > setting.origin) return false;
  parameters[one.name] = setting;
  return true;
}

void take_parameters(CommandOptions& options, const RenamedSchedule& now) {
  const Settings former = std::move(options.parameters);
  options.parameters.clear();
  for (const RenamedSchedule::Parameter& one : now.parameters) {
    if (one.name == one.former) options.parameters[one.name] = former.at(one.former);
  }
  for (const RenamedSchedule::Parameter& one : now.parameters) {
    if (one.name == one.former) continue;
    Setting setting = former.at(one.former);
    setting.text = one.text;
    if (one.name.empty()) {
      if (one.former != "strategy") {
        options.renamed.push_back(
            fmt::format("'{}' has no effect on the present schedule", clean(one.former)));
      }
      continue;
    }
    const bool is_limit = one.name == "sweeps";
    bool taken = one.name != "evaluations" || !sweeps_win(options, setting);
    if (taken) {
      taken = is_limit ? take_sweeps(options, setting)
                       : take_parameter(options.parameters, one, setting);
    }
    const std::string present = is_limit ? fmt::format("--sweeps {}", clean(one.text))
                                         : fmt::format("'{}={}'", one.name, clean(one.text));
    options.renamed.push_back(fmt::format("'{}' is now {}{}", one.former, present,
                                          taken ? "" : ", which another option overrides"));
  }
}

bool has_field(const ScheduleEntry& entry, std::string_view name) {
  return std::ranges::count(entry.fields, name, &FieldInfo::name) > 0;
}

// What the user says of each choice, else its default.
OptionTexts choices_of(const ScheduleEntry& entry, const Settings& parameters) {
  OptionTexts choices = texts_of(parameters);
  for (const FieldInfo& field : entry.fields) {
    if (field.type == "choice") choices.emplace(field.name, field.default_text);
  }
  return choices;
}

// The stronger origin wins, as between two settings of one name. Of one origin both are refused.
void rename(Settings& parameters, const std::string& former, const std::string& name) {
  const auto present = parameters.find(name);
  const Setting& setting = parameters.at(former);
  if (present != parameters.end()) {
    if (present->second.origin == setting.origin) return;
    if (present->second.origin < setting.origin) present->second = setting;
  } else {
    parameters[name] = setting;
  }
  parameters.erase(former);
}

// Parameters by names of the version before. One that belongs to another alternative keeps its
// name: the schedule ignores it.
void take_parameter_names(CommandOptions& options, const ScheduleEntry& entry) {
  if (!entry.former_names_in) return;
  const OptionTexts choices = choices_of(entry, options.parameters);
  std::map<std::string, std::vector<std::string>> present;
  for (const auto& [former, name] : entry.former_names_in(texts_of(options.parameters))) {
    present[former].push_back(name);
  }
  for (const auto& [former, names] : present) {
    const auto field = std::ranges::find(entry.fields, names.front(), &FieldInfo::name);
    const bool exists = exists_in(choices, *field);
    options.renamed.push_back(
        fmt::format("parameter '{}' is now '{}'{}", former, fmt::join(names, "' or '"),
                    exists ? "" : ", which has no effect with the given options"));
    if (exists) rename(options.parameters, former, names.front());
  }
}

// `--repeat run -p cooling=linear` after a run with `-p cooling=pid -p pid.gain=0.2`.
void drop_replaced_alternatives(const ScheduleEntry& entry, Settings& parameters) {
  for (const FieldInfo& field : entry.fields) {
    const auto choice = parameters.find(field.choice), given = parameters.find(field.name);
    if (choice == parameters.end() || given == parameters.end()) continue;
    const bool replaced = choice->second.origin > given->second.origin;
    if (replaced && choice->second.text != field.alternative) parameters.erase(given);
  }
}

// Schedules that count in generations or evaluations took sweeps for these.
void note_sweeps(CommandOptions& options, const ScheduleEntry& entry) {
  if (!options.has("sweeps")) return;
  for (const char* limit : {"generations", "evaluations"}) {
    if (!has_field(entry, limit)) continue;
    // A recorded number of sweeps does not outlast the limit that replaces it.
    const auto given = options.parameters.find(limit);
    if (given != options.parameters.end() &&
        given->second.origin > options.settings.at("sweeps").origin) {
      options.settings.erase("sweeps");
      options.budget.sweeps.reset();
      return;
    }
    const char* const steps = limit[0] == 'g' ? "generations" : "batches";
    options.renamed.push_back(fmt::format(
        "with schedule '{}', --sweeps counts {}; use --{} instead", entry.name, steps, limit));
    return;
  }
}

}  // namespace

void take_present_names(CommandOptions& options, const Registry& registry) {
  const ScheduleEntry& written = registry.schedule(options.schedule);
  const std::string& former = options.former_schedule;
  const auto strategy = options.parameters.find("strategy");
  std::optional<RenamedSchedule> now;
  if (written.renamed) now = written.renamed(texts_of(options.parameters));
  if (now) {
    const std::string chosen =
        strategy == options.parameters.end() ? "" : "strategy=" + clean(strategy->second.text);
    if (!former.empty()) {
      options.renamed.push_back(fmt::format("schedule '{}'{} is now '{}'", former,
                                            chosen.empty() ? "" : " with " + chosen, now->name));
    } else if (now->name != written.name) {
      options.renamed.push_back(fmt::format("'{}' is now schedule '{}'", chosen, now->name));
    }
    options.schedule = now->name;
    options.settings["schedule"].text = now->name;
    take_parameters(options, *now);
  } else if (!former.empty()) {
    options.renamed.push_back(fmt::format("schedule '{}' is now '{}'", former, written.name));
  }
  const ScheduleEntry& entry = registry.schedule(options.schedule);
  take_parameter_names(options, entry);
  drop_replaced_alternatives(entry, options.parameters);
  if (entry.name == written.name) note_sweeps(options, entry);
}

std::string renamed_warning(const CommandOptions& options) {
  if (options.renamed.empty()) return {};
  const std::string sentence =
      fmt::format("warning[cli.renamed]: {}; a later version of Kiln refuses the former name{}",
                  fmt::join(options.renamed, "; "), options.renamed.size() == 1 ? "" : "s");
  std::string text;
  const std::size_t width = std::max<std::size_t>(note_columns(), 40) - 3;
  for (const std::string& line : wrap(sentence, width)) {
    text += fmt::format("{}{}\n", text.empty() ? "" : "  ", line);
  }
  return text;
}

}  // namespace kiln::cli
