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

// The number of sweeps is an option of the run.
void take_sweeps(CommandOptions& options, const Setting& setting) {
  if (!options.has("sweeps")) options.settings["sweeps"] = setting;
  options.budget.sweeps = options.value<std::int64_t>("sweeps");
}

void take_parameters(CommandOptions& options, const RenamedSchedule& now) {
  const Settings former = std::move(options.parameters);
  options.parameters.clear();
  for (const RenamedSchedule::Parameter& one : now.parameters) {
    Setting setting = former.at(one.former);
    setting.text = one.text;
    if (one.name.empty()) {
      if (one.former != "strategy") {
        options.renamed.push_back(fmt::format("'{}' has no effect there", clean(one.former)));
      }
      continue;
    }
    if (one.name == "sweeps") {
      take_sweeps(options, setting);
    } else {
      options.parameters[one.name] = setting;
    }
    if (one.name != one.former) {
      options.renamed.push_back(
          fmt::format("'{}' is now {}", one.former,
                      one.name == "sweeps" ? fmt::format("--sweeps {}", clean(one.text))
                                           : fmt::format("'{}={}'", one.name, clean(one.text))));
    }
  }
}

// The options that have this name of the version before.
std::vector<std::string> present_names_of(const std::string& former, const ScheduleEntry& entry) {
  std::vector<std::string> names;
  for (const FieldInfo& field : entry.fields) {
    if (std::ranges::count(field.former_names, former) > 0) names.push_back(field.name);
  }
  return names;
}

bool has_field(const ScheduleEntry& entry, std::string_view name) {
  return std::ranges::count(entry.fields, name, &FieldInfo::name) > 0;
}

// Schedules that count in generations or evaluations took sweeps for these.
void note_sweeps(CommandOptions& options, const ScheduleEntry& entry) {
  if (!options.has("sweeps")) return;
  for (const char* limit : {"generations", "evaluations"}) {
    if (!has_field(entry, limit)) continue;
    const char* const steps = limit[0] == 'g' ? "generations" : "batches";
    options.renamed.push_back(fmt::format("--sweeps counts the {} of '{}'; its limit is now --{}",
                                          steps, entry.name, limit));
    return;
  }
}

}  // namespace

void take_present_names(CommandOptions& options, const Registry& registry) {
  const ScheduleEntry& written = registry.schedule(options.schedule);
  const std::string name = options.former_schedule.empty() ? written.name : options.former_schedule;
  const auto strategy = options.parameters.find("strategy");
  const std::string with =
      strategy == options.parameters.end() ? "" : " with strategy=" + clean(strategy->second.text);
  std::optional<RenamedSchedule> now;
  if (written.renamed) now = written.renamed(texts_of(options.parameters));
  if (now) {
    options.renamed.push_back(fmt::format("schedule '{}'{} is now '{}'", name, with, now->name));
    options.schedule = now->name;
    options.settings["schedule"].text = now->name;
    take_parameters(options, *now);
  } else if (name != written.name) {
    options.renamed.push_back(fmt::format("schedule '{}' is now '{}'", name, written.name));
  }
  const ScheduleEntry& entry = registry.schedule(options.schedule);
  for (const auto& [former, setting] : options.parameters) {
    if (has_field(entry, former)) continue;
    const std::vector<std::string> names = present_names_of(former, entry);
    if (names.empty()) continue;
    options.renamed.push_back(
        fmt::format("parameter '{}' is now '{}'", former, fmt::join(names, "' or '")));
  }
  if (!now) note_sweeps(options, entry);
}

std::string renamed_warning(const CommandOptions& options) {
  if (options.renamed.empty()) return {};
  const std::string sentence =
      fmt::format("warning[cli.renamed]: {}; version 0.3 refuses the former name{}",
                  fmt::join(options.renamed, "; "), options.renamed.size() == 1 ? "" : "s");
  std::string text;
  const std::size_t width = std::max<std::size_t>(note_columns(), 40) - 3;
  for (const std::string& line : wrap(sentence, width)) {
    text += fmt::format("{}{}\n", text.empty() ? "" : "  ", line);
  }
  return text;
}

}  // namespace kiln::cli
