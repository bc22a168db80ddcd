// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "fix_words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kiln/registry.hpp"

#include "cli/plugin_option.hpp"

namespace kiln::cli {
namespace {

bool has(const ScheduleEntry& entry, const std::string& member) {
  if (member == "several_objectives") return entry.several_objectives;
  if (member == "constraints") return entry.constraints;
  return member == "samples" && entry.samples;
}

// The default of the schedules that are declared so, or the first.
std::string schedule_with(const std::string& member) {
  const Registry& registry = known_registry();
  const auto all = registry.schedules();
  const auto fits = [&](const ScheduleEntry* entry) { return has(*entry, member); };
  auto found = std::ranges::find_if(
      all, [&](const ScheduleEntry* entry) { return fits(entry) && entry->is_default; });
  if (found == all.end()) found = std::ranges::find_if(all, fits);
  return found == all.end() ? "NAME" : (*found)->name;
}

// The options of schedules that let them do without a need.
std::string option_without(const std::string& need) {
  if (need == "heat_bath") return "run with moves=metropolis";
  if (need == "shared_noise") return "-p noise=independent";
  if (need == "Parametric") return "-p coordinate=temperature";
  return "choose another schedule";
}

// The one table of codes and words.
std::string words_of(const FixStep& step, std::string_view verb) {
  switch (step.code) {
    case FixCode::text:
      return step.argument;
    case FixCode::use_device:
      return "run with --device " + step.argument;
    case FixCode::use_another_gpu:
      return "try another GPU (--device cuda:N)";
    case FixCode::use_executor:
      return "--executor " + step.argument;
    case FixCode::set_replicas:
      return replicas_option(verb) + " " + step.argument;
    case FixCode::fewer_replicas:
      return "use fewer replicas: " + replicas_option(verb);
    case FixCode::more_replicas:
      return "more " + replicas_option(verb);
    case FixCode::longer_time_limit:
      return "raise --time-limit";
    case FixCode::work_limit:
      return "--work-limit " + step.argument;
    case FixCode::initial_states:
      return "--initial FILE with " + step.argument;
    case FixCode::feasible_initial_state:
      return "start from a feasible state (--initial)";
    case FixCode::choose_schedule:
      return "--schedule " + schedule_with(step.argument);
    case FixCode::drop_need:
    case FixCode::drop_requirement:
      return option_without(step.argument);
    case FixCode::keep_sense:
      return step.argument == "any" ? "remove --sense, --minimize and --maximize"
                                    : "remove --sense and --" + step.argument;
    case FixCode::list_names:
      return "kiln list " + step.argument + "s";
  }
  return step.argument;
}

}  // namespace

std::string replicas_option(std::string_view verb) {
  return verb == "sample" ? "--chains" : "--replicas";
}

std::string less_memory(bool samples) {
  return samples ? "fewer --chains, a smaller -p keep or a larger -p thin"
                 : "fewer " + replicas_option({});
}

std::string fix_text(const Error& error, std::string_view verb) {
  return error.fix_steps().worded([&](const FixStep& step) { return words_of(step, verb); });
}

std::string expected_text(const Error& error) {
  const auto& steps = error.fix_steps().steps();
  const bool constrained = std::ranges::any_of(steps, [](const FixStep& step) {
    return step.code == FixCode::choose_schedule && step.argument == "constraints";
  });
  if (!constrained || !error.expected().empty()) return error.expected();
  return fmt::format(
      "{} supports constraints with one objective; {} supports constraints with several objectives",
      schedule_with("constraints"), schedule_with("several_objectives"));
}

}  // namespace kiln::cli
