// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "multi_objective/renamed.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/options.hpp"
#include "kiln/schedules/amosa.hpp"
#include "kiln/schedules/bayesian_front.hpp"
#include "kiln/schedules/evolutionary.hpp"

namespace kiln {
namespace {

using Texts = std::map<std::string, std::string>;

// All parameters that the schedule had, whatever the strategy: the others it took and ignored.
bool was_a_parameter(const std::string& name) {
  constexpr std::array<std::string_view, 6> others{
      "batch", "initial", "archive", "temperature", "temperature_end", "temperature_spread"};
  if (std::ranges::count(others, name) > 0) return true;
  const std::vector<FieldInfo> fields = EvolutionaryOptions::table().fields();
  return std::ranges::count(fields, name, &FieldInfo::name) > 0;
}

std::string_view present_name(std::string_view schedule, std::string_view former) {
  if (former == "strategy") return {};
  if (schedule == "amosa" && former == "population") return "chains";
  if (schedule == "amosa" && former == "generations") return "sweeps";
  if (schedule == "bayesian-front" && former == "islands") return "studies";
  if (schedule == "bayesian-front" && former == "generations") return "evaluations";
  return former;
}

bool has(const std::vector<FieldInfo>& fields, std::string_view name) {
  return name == "sweeps" || std::ranges::count(fields, name, &FieldInfo::name) > 0;
}

bool is_zero(const std::string& text) {
  return !text.empty() && std::ranges::count(text, '0') == std::ssize(text);
}

// A generation was a batch. A text that is no number is refused by the schedule.
std::string evaluations_of(const std::string& generations, const Texts& texts) {
  const auto batch = texts.find("batch");
  if (batch == texts.end()) return generations;
  try {
    return std::to_string(parse_count(generations, "generations") *
                          parse_count(batch->second, "batch"));
  } catch (const InvalidArgument&) {
    return generations;
  }
}

RenamedSchedule renamed_as(const std::string& schedule, const std::vector<FieldInfo>& fields,
                           const Texts& texts) {
  RenamedSchedule now{schedule, {}};
  for (const auto& [former, text] : texts) {
    std::string name(present_name(schedule, former));
    std::string given = text;
    if (name == "evaluations" && former == "generations") given = evaluations_of(text, texts);
    // 0 stood for an automatic value, which is now the default.
    if (was_a_parameter(former) && (is_zero(text) || !has(fields, name))) name.clear();
    now.parameters.push_back({former, name, given});
  }
  return now;
}

}  // namespace

std::optional<RenamedSchedule> renamed_multi_objective(const Texts& texts) {
  const auto strategy = texts.find("strategy");
  if (strategy == texts.end()) return {};
  if (strategy->second == "amosa") {
    return renamed_as("amosa", AmosaOptions::table().fields(), texts);
  }
  if (strategy->second == "surrogate") {
    return renamed_as("bayesian-front", BayesianFrontOptions::table().fields(), texts);
  }
  return {};
}

}  // namespace kiln
