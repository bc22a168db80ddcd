// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "multi_objective/renamed.hpp"

#include <algorithm>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/options.hpp"
#include "kiln/schedules/amosa.hpp"
#include "kiln/schedules/bayesian_front.hpp"
#include "kiln/schedules/evolutionary.hpp"

namespace kiln {
namespace {

using Texts = std::map<std::string, std::string>;

// Ends the range of evaluations, and is a number that a double holds exactly.
constexpr std::int64_t max_evaluations = std::int64_t{1} << 53;

std::string present_name(const std::string& schedule, const std::string& former) {
  if (former == "strategy") return {};
  if (schedule == "amosa" && former == "population") return "chains";
  if (schedule == "amosa" && former == "generations") return "sweeps";
  if (schedule == "bayesian-front" && former == "islands") return "studies";
  if (schedule == "bayesian-front" && former == "generations") return "evaluations";
  return former;
}

bool is_number(const std::string& text, double value) {
  try {
    return detail::parse_real(text, "") == value;
  } catch (const InvalidArgument&) {
    return false;
  }
}

template <class Options>
bool has(const std::string& name) {
  return std::ranges::count(Options::table().fields(), name, &FieldInfo::name) > 0;
}

// Of AMOSA these were chosen automatically at 0. Now their defaults are numbers.
bool was_automatic(const std::string& schedule, const std::string& former,
                   const std::string& text) {
  const bool now_number = schedule == "amosa" && (former == "population" || former == "archive" ||
                                                  former == "mutation_index");
  return now_number && is_number(text, 0);
}

// Parameters of the other strategies. Evolutionary ones ignored temperatures, and the others at the
// values that say nothing.
bool was_ignored(const std::string& former, const std::string& text) {
  if (former == "temperature" || former == "temperature_end" || former == "temperature_spread") {
    return true;
  }
  return (former == "batch" && is_number(text, 1)) ||
         ((former == "initial" || former == "archive") && is_number(text, 0));
}

// A parameter that has no effect any more was judged all the same.
// @throws InvalidArgument if its text is refused
void judge(const std::string& former, const std::string& text) {
  const Texts one{{former, text}};
  if (has<EvolutionaryOptions>(former)) {
    EvolutionaryOptions::table().parse(one, former);
  } else if (has<AmosaOptions>(former)) {
    AmosaOptions::table().parse(one, former);
  } else if (has<BayesianFrontOptions>(former)) {
    BayesianFrontOptions::table().parse(one, former);
  }
}

// A generation was a batch, and 0 stood for about 100 evaluations. A text that is no number is
// refused by the schedule.
std::string evaluations_of(const std::string& generations, const Texts& texts) {
  if (is_number(generations, 0)) return "100";
  const auto batch = texts.find("batch");
  if (batch == texts.end()) return generations;
  try {
    return std::to_string(evaluations_in(parse_count(generations, "generations"),
                                         parse_count(batch->second, "batch")));
  } catch (const InvalidArgument&) {
    return generations;
  }
}

template <class Options>
RenamedSchedule renamed_as(const std::string& schedule, const Texts& texts) {
  RenamedSchedule now{schedule, {}};
  for (const auto& [former, text] : texts) {
    std::string name = present_name(schedule, former);
    std::string given = text;
    if (name == "evaluations" && former == "generations") given = evaluations_of(text, texts);
    if (name == "sweeps" && is_number(text, 0)) given = "250";  // what 0 stood for
    const bool known = has<EvolutionaryOptions>(former) || has<AmosaOptions>(former) ||
                       has<BayesianFrontOptions>(former);
    const bool exists = name == "sweeps" || has<Options>(name);
    const bool automatic = was_automatic(schedule, former, text);
    if (known && !exists && former != "strategy" && !was_ignored(former, text)) judge(former, text);
    if (automatic || (known && !exists)) name.clear();
    now.parameters.push_back({former, name, given});
  }
  return now;
}

std::optional<RenamedSchedule> without_ignored(const Texts& texts) {
  RenamedSchedule now{"evolutionary", {}};
  bool any = false;
  for (const auto& [former, text] : texts) {
    const bool ignored = was_ignored(former, text);
    any |= ignored;
    if (former.starts_with("temperature")) judge(former, text);
    now.parameters.push_back({former, ignored ? "" : former, text});
  }
  return any ? std::optional(now) : std::nullopt;
}

}  // namespace

std::int64_t evaluations_in(std::int64_t batches, std::int64_t batch) {
  if (batches > 0 && batch > 0 && batches > max_evaluations / batch) return max_evaluations;
  return batches * std::min(batch, max_evaluations);
}

std::optional<RenamedSchedule> renamed_multi_objective(const Texts& texts) {
  const auto found = texts.find("strategy");
  const std::string strategy = found == texts.end() ? "" : found->second;
  if (strategy == "amosa") {
    return renamed_as<AmosaOptions>("amosa", texts);
  }
  if (strategy == "surrogate") {
    return renamed_as<BayesianFrontOptions>("bayesian-front", texts);
  }
  return without_ignored(texts);
}

}  // namespace kiln
