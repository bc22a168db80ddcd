// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/dry_run.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "kiln/objectives/draws_planes.hpp"
#include "kiln/version.hpp"

#include "cli/document_file.hpp"
#include "experiments/evaluation_plan.hpp"
#include "output/cost/memory_text.hpp"
#include "output/solve_text.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

void add_row(Rows& rows, const std::string& name, const Setting& setting) {
  const std::string place = setting.place.empty() ? "" : ", " + setting.place;
  rows.push_back({name, setting.text.empty() ? "on" : clean(setting.text),
                  to_string(setting.origin) + clean(place)});
}

/// All parameters of the schedule, in the order of its table: as given, else their defaults. Those
/// of alternatives that are not chosen are left out.
std::vector<std::pair<std::string, Setting>> parameters_of(const DryRun& run) {
  std::vector<std::pair<std::string, Setting>> parameters;
  OptionTexts texts;
  for (const FieldInfo& field : run.schedule.fields) {
    if (!exists_in(texts, field)) continue;
    const auto given = run.options.parameters.find(field.name);
    const bool is_given = given != run.options.parameters.end();
    parameters.emplace_back(field.name, is_given ? given->second : Setting{field.default_text});
    texts[field.name] = parameters.back().second.text;
  }
  return parameters;
}

std::string needed_text(const RunPlan& plan) {
  std::string text = fmt::format("{} needed ({})", human_bytes(plan.bytes_needed()),
                                 owners_text(plan.owned_bytes));
  if (plan.copy_bytes > 0) {
    text += fmt::format(", {} more for a copy of the states during long ticks",
                        human_bytes(plan.copy_bytes));
  }
  if (plan.device.memory_free == 0) return text + "; the free memory is not known";
  text += fmt::format("; {} of {} free: {}", human_bytes(plan.device.memory_free),
                      human_bytes(plan.device.memory_total), plan.fits() ? "fits" : "too much");
  const std::int64_t fitting = plan.fitting_replicas();
  if (!plan.fits() && fitting > 0) text += fmt::format("; --replicas {} would fit", fitting);
  return text;
}

Json owners_json(const RunPlan& plan) {
  Json owners = Json::array();
  for (const MemoryOwner owner : all_memory_owners()) {
    owners.push_back({{"owner", to_string(owner)}, {"planned_bytes", plan.owned_bytes[owner]}});
  }
  return owners;
}

std::string stop_text_of(const DryRun& run) {
  std::optional<EvaluationPlan> plan =
      evaluation_plan(run.options, run.schedule, run.parameters, run.loaded.problem);
  if (!plan) return stop_rule(run.options, run.step, run.parameters);
  plan->studies = run.plan.shape.groups;
  return stop_rule(*plan, run.options);
}

}  // namespace

std::string dry_run_text(const DryRun& run, bool whole) {
  const RunPlan& plan = run.plan;
  std::string text = fmt::format("kiln {:<8}{}\n", version(),
                                 problem_text(run.loaded.problem, run.options.verb->samples));
  text += fmt::format("schedule     {}   replicas {}   groups {}   seed {}\n", run.schedule.name,
                      plan.shape.replicas, plan.groups(), plan.shape.seed);
  if (run.loaded.problem.objective->as<DrawsPlanes>() != nullptr) {
    text += fmt::format("draws        {}\n", to_string(plan.draw_naming));
  }
  text += fmt::format("device       {}\nstop         {}\n", device_text(plan.device),
                      stop_text_of(run));
  if (plan.budget.work_limit && plan.budget.sweeps) {
    text += fmt::format("work         {} {}{} of {} replicas\n", *plan.budget.sweeps, run.step,
                        *plan.budget.sweeps == 1 ? "" : "s", plan.shape.replicas);
  }
  text += fmt::format("memory       {}\n", needed_text(plan));
  for (const std::string& note : run.loaded.notes)
    text += fmt::format("note         {}\n", clean(note));

  std::size_t left_out = 0;
  const auto rows_of = [&](const char* what, const auto& settings) {
    Rows rows{{what, "value", "origin"}};
    for (const auto& [name, setting] : settings) {
      const bool shown = whole || setting.origin != Origin::standard;
      if (shown) add_row(rows, name, setting);
      left_out += shown ? 0 : 1;
    }
    return rows.size() == 1 ? std::string() : "\n" + table_text(rows);
  };
  text += rows_of("option", run.options.settings) + rows_of("parameter", parameters_of(run));
  if (left_out > 0) {
    text += fmt::format("\n{} more options and parameters have their defaults; -v lists them\n",
                        left_out);
  }
  return text + "\ndry run: nothing was run, nothing was written\n";
}

std::string dry_run_json(const DryRun& run) {
  const RunPlan& plan = run.plan;
  Json json;
  json["schema"] = "kiln.plan/1";
  json["kiln"] = version();
  json["problem"] = problem_json(run.loaded, run.options.problem);
  json["options"] = settings_json(run.options.settings);
  json["schedule"] = {{"name", run.schedule.name}, {"parameters", Json::object()}};
  for (const auto& [name, setting] : parameters_of(run)) {
    json["schedule"]["parameters"].update(settings_json({{name, setting}}));
  }
  const std::optional<double>& target = run.options.budget.target;
  json["target"] = target ? Json(*target) : Json(nullptr);
  const std::optional<std::int64_t>& sweeps = plan.budget.sweeps;
  json["sweeps"] = sweeps ? Json(*sweeps) : Json(nullptr);
  json["replicas"] = plan.shape.replicas;
  json["groups"] = plan.groups();
  json["seed"] = plan.shape.seed;
  json["draws"] = to_string(plan.draw_naming);
  json["device"] = device_json(plan.device, plan.opened.fallback_reason);
  const bool known = plan.device.memory_free > 0;
  const std::int64_t fitting = plan.fitting_replicas();
  json["memory"] = {{"batch_bytes", plan.batch_bytes},
                    {"problem_bytes", plan.objective_bytes},
                    {"schedule_bytes", plan.scratch_bytes},
                    {"needed_bytes", plan.bytes_needed()},
                    {"copy_bytes", plan.copy_bytes},
                    {"owners", owners_json(plan)},
                    {"free_bytes", known ? Json(plan.device.memory_free) : Json(nullptr)},
                    {"fits", known ? Json(plan.fits()) : Json(nullptr)},
                    {"fitting_replicas", fitting > 0 ? Json(fitting) : Json(nullptr)}};
  json["notes"] = Json::array();
  for (const std::string& note : run.loaded.notes) json["notes"].push_back(clean(note));
  return document_text(json, -1);
}

}  // namespace kiln::cli
