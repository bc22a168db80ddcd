// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/solve_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "kiln/registry.hpp"
#include "kiln/version.hpp"

#include "cli/document_file.hpp"
#include "cli/run_registry.hpp"
#include "experiments/evaluation_plan.hpp"
#include "experiments/evaluation_variables.hpp"
#include "hardware/sensors.hpp"
#include "output/console.hpp"
#include "output/text.hpp"
#include "output/wording.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(between)) + word;
  return text;
}

// Four digits are enough to recognise a temperature; --verbose and the result have all of them.
std::string shortened(const std::string& value) {
  double number = 0;
  const char* const end = value.data() + value.size();
  const bool whole = value.find_first_of(".e") == std::string::npos;
  const auto [rest, error] = std::from_chars(value.data(), end, number);
  if (whole || error != std::errc() || rest != end) return value;
  return fmt::format("{:.4g}", number);
}

// What was chosen, by the user or by the schedule; defaults and what is not used (0 or -1 where
// that means "choose for me") are left to --verbose and the result.
std::string parameter_lines(const std::map<std::string, std::string>& parameters,
                            const std::vector<FieldInfo>& fields) {
  std::string all;
  for (const FieldInfo& field : fields) {
    const auto found = parameters.find(field.name);
    if (found == parameters.end()) continue;
    const std::string& value = found->second;
    const bool unused = field.default_text == "automatic" && (value == "0" || value == "-1");
    if (value.empty() || unused || value == field.default_text) continue;
    all += fmt::format("{}{}={}", all.empty() ? "" : " ", field.name, shortened(value));
  }
  std::string text;
  for (const std::string& line : wrap(clean(all), prose_columns()))
    text += fmt::format("{:13}{}\n", "", line);
  return text;
}

// Of a best known value of 0 there is no share: the difference itself.
std::string gap_text(const Result& result) {
  if (result.gap) return fmt::format("   gap {:.3f} %", 100 * *result.gap);
  if (!result.best_known) return {};
  const double behind = result.sense == Sense::maximize ? *result.best_known - result.objective
                                                        : result.objective - *result.best_known;
  return fmt::format("   gap {} (best known 0)", human_value(behind, result.integral));
}

std::size_t differing_variables(const State& a, const State& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::visit(
        [&](const auto& values) {
          const auto& others = std::get<std::decay_t<decltype(values)>>(b[i]);
          for (std::size_t j = 0; j < values.size(); ++j) count += values[j] != others[j] ? 1 : 0;
        },
        a[i]);
  }
  return count;
}

std::string counters_text(const Counters& c) {
  return fmt::format("launches {}, graph launches {}, allocations {}, copies {}, waits {}",
                     c.launches, c.graph_launches, c.allocations, c.copies, c.synchronizations);
}

// Values that a program or a table gave cannot be computed anew: what was kept was looked up.
std::string verdict_on(const Result& result, const Problem& problem) {
  const std::optional<Experiment>& experiment = problem.experiment;
  if (experiment && experiment->keep_programs) {
    return "printed by the program; not recomputed";
  }
  if (experiment && experiment->candidates) return "value from the row of the table";
  return fmt::format("recomputed on the CPU in {}: equal",
                     result.integral ? "integers" : "double precision");
}

// How soon the run was good, and not only how good it was.
std::string incumbents_text(const Result& result) {
  if (!result.primal_integral) return {};
  std::string text = fmt::format("incumbents   {}   primal integral {:.6g} s, to {}\n",
                                 result.incumbents_found, *result.primal_integral,
                                 result.best_known ? "the best known value" : "the final value");
  if (result.time_to_gap.empty()) return text;
  std::string rows;
  for (const TimeToGap& row : result.time_to_gap) {
    rows += fmt::format("   {:g} % at {:.3f} s", 100 * row.gap, row.time_s);
  }
  return text + "time to gap" + rows.substr(1) + "\n";
}

}  // namespace

std::vector<double> numbers_of(const State& state) {
  std::vector<double> numbers;
  for (const BlockValues& block : state) {
    std::visit(
        [&](const auto& values) {
          for (const auto value : values) numbers.push_back(static_cast<double>(value));
        },
        block);
  }
  return numbers;
}

std::string problem_text(const Problem& problem, bool sampled) {
  // "re:33" says its family itself.
  const bool named = problem.identity.name.starts_with(problem.identity.family + ":");
  std::string text =
      (named ? "" : problem.identity.family + " ") + clean(problem.identity.name) + "   ";
  if (!sampled) text += aim_text(problem) + "   ";
  std::vector<std::string> sizes;
  for (const auto& [name, value] : problem.identity.sizes)
    sizes.push_back(fmt::format("{} {}", name, value));
  text += joined(sizes, "  ");
  const int constraints = problem.objectives ? 0 : problem.objective->constraints();
  if (constraints > 0) text += fmt::format("  constraints {}", constraints);
  if (problem.known.best) {
    text +=
        fmt::format("   best known {}", human_value(*problem.known.best, problem.units.integral));
  }
  return text;
}

std::string stop_rule(const CommandOptions& options, const std::string& step,
                      const std::map<std::string, std::string>& parameters) {
  std::vector<std::string> rules;
  if (options.budget.time_limit_s)
    rules.push_back(fmt::format("after {:g} s", *options.budget.time_limit_s));
  if (options.budget.sweeps)
    rules.push_back(fmt::format("after {} {}{}", *options.budget.sweeps, step,
                                *options.budget.sweeps == 1 ? "" : "s"));
  if (options.budget.work_limit) {
    rules.push_back(
        fmt::format("after {} {}", *options.budget.work_limit, to_string(options.work_kind)));
  }
  if (options.budget.target)
    rules.push_back("at target " + human_value(*options.budget.target, false));
  if (options.budget.stop_when) rules.push_back("when " + options.budget.stop_when->text());
  if (!options.budget.until.empty()) {
    rules.push_back("when the draws meet " + options.budget.until.text());
  }
  const auto draws = parameters.find("draws");
  if (!rules.empty() && options.verb->samples && draws != parameters.end()) {
    rules.push_back(fmt::format("after {} draws", draws->second));
  }
  for (const char* length : {"generations", "cooling_sweeps"}) {
    const auto steps = parameters.find(length);
    if (rules.empty() && steps != parameters.end()) {
      rules.push_back(
          fmt::format("after {} {}{}", steps->second, step, steps->second == "1" ? "" : "s"));
    }
  }
  if (rules.empty()) return "at the end of the schedule";
  return joined(rules, " or ");
}

std::string device_text(const DeviceInfo& device) {
  std::string text = clean(device.name) + " " + clean(device.description);
  if (device.memory_total > 0 && device.memory_free <= device.memory_total) {
    const auto gib = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 0x1p30; };
    text += fmt::format(", {:.1f} of {:.1f} GiB of memory in use",
                        gib(device.memory_total - device.memory_free), gib(device.memory_total));
  }
  return text;
}

Json settings_json(const Settings& settings) {
  Json json = Json::object();
  for (const auto& [name, setting] : settings) {
    json[name] = {{"value", setting.text.empty() ? Json(true) : Json(exact_text(setting.text))},
                  {"origin", to_string(setting.origin)}};
    if (!setting.place.empty()) json[name]["place"] = setting.place;
  }
  return json;
}

Json problem_json(const LoadedProblem& loaded, const std::string& source) {
  const Problem& problem = loaded.problem;
  Json json = {
      {"name", clean(problem.identity.name)},
      {"source", exact_text(source)},
      {"family", problem.identity.family},
      {"fingerprint", loaded.fingerprint.empty() ? Json(nullptr) : Json(loaded.fingerprint)}};
  for (const auto& [name, value] : problem.identity.sizes) json["sizes"][name] = value;
  json["objective"] = {{"name", clean(problem.units.value_name)},
                       {"sense", option_of(problem.units.sense)}};
  return json;
}

Json device_json(const DeviceInfo& device, const std::string& fallback_reason) {
  return {
      {"name", clean(device.name)},
      {"description", clean(device.description)},
      {"fallback_reason", fallback_reason.empty() ? Json(nullptr) : Json(clean(fallback_reason))}};
}

std::string banner_of(const RunFacts& facts) {
  const Problem& problem = facts.loaded.problem;
  const CommandOptions& options = facts.options;
  const Registry registry = run_registry(options.schedule);
  const ScheduleEntry& entry = registry.schedule(options.schedule);
  const std::optional<EvaluationPlan> plan =
      evaluation_plan(options, entry, facts.parameters, problem);
  std::string text =
      fmt::format("kiln {:<8}{}", version(), problem_text(problem, options.verb->samples));
  text += fmt::format("\nschedule     {}   {} {}   seed {}\n", options.schedule,
                      plan ? "studies" : options.verb->replicas,
                      plan ? plan->studies : facts.replicas, options.run.seed);
  text += parameter_lines(facts.parameters, entry.fields);
  text += fmt::format("device       {}\nstop         {}\n", device_text(facts.device),
                      stop_rule(facts));
  for (const std::string& note : facts.loaded.notes)
    text += fmt::format("note         {}\n", clean(note));
  return text + "\n";
}

std::string fallback_warning(const DeviceInfo& device, const std::string& reason) {
  std::string text;
  // "64 of 4096 threads, AVX-512"
  const std::string threads = device.description.substr(0, device.description.find(','));
  if (device.name == "cpu" && threads.find(" of ") != std::string::npos) {
    text = fmt::format(
        "warning[device.threads]: running on {}: the system grants no more threads, or more "
        "threads would only wait\n",
        clean(threads));
  }
  if (reason.empty()) return text;
  if (device.name != "cpu") {
    return text + fmt::format("warning[device.fallback]: {}: running on {}\n", clean(reason),
                              clean(device.name));
  }
  const bool whole = reason.starts_with("no usable GPU");
  return text +
         fmt::format("warning[device.fallback]: {}: running on {} CPU thread{}\n",
                     whole ? clean(reason) : fmt::format("no usable GPU ({})", clean(reason)),
                     device.parallel_units, device.parallel_units == 1 ? "" : "s");
}

std::string run_json(const RunFacts& facts, const std::vector<std::string>& words) {
  Json json;
  json["schema"] = "kiln.run/2";
  json["kiln"] = version();
  Json command = Json::array({"kiln", facts.options.verb->name});
  for (const std::string& word : words) command.push_back(exact_text(word));
  json["command"] = command;
  json["problem"] = problem_json(facts.loaded, facts.options.problem);
  json["options"] = settings_json(facts.options.settings);
  json["schedule"] = {{"name", facts.options.schedule},
                      {"given", settings_json(facts.options.parameters)},
                      {"parameters", facts.parameters}};
  const std::optional<double>& target = facts.options.budget.target;
  json["target"] = target ? Json(*target) : Json(nullptr);
  json["replicas"] = facts.replicas;
  json["seed"] = facts.options.run.seed;
  json["draws"] = to_string(facts.naming);
  json["device"] = device_json(facts.device, facts.fallback_reason);
  if (facts.options.continuation) json["continued"] = facts.options.continuation->json();
  json["notes"] = Json::array();
  for (const std::string& note : facts.loaded.notes) json["notes"].push_back(clean(note));
  return document_text(json, 2);
}

std::string done_line(const Result& result, const Problem& problem) {
  std::string line = "done   " + stop_text(result);
  line += fmt::format("   {} {} ({})", clean(result.value_name),
                      human_value(result.objective, result.integral), participle_of(result.sense));
  line += gap_text(result);
  if (!result.constraints.empty()) line += "   feasible";
  line += fmt::format("   {}\n", verdict_on(result, problem));
  if (result.misses_target()) {
    line +=
        fmt::format("       the target {} was not reached\n", human_value(*result.target, false));
  }
  if (result.front) return line;  // its solution stands below its members
  for (const auto& [name, value] : result.named_solution) {
    line += fmt::format("with   {} = {}\n", clean(name), clean(value));
  }
  return line;
}

std::string point_text(const Result& result, const Problem& problem, bool in_file,
                       std::size_t columns) {
  const auto is_number = [&](const Block& block) {
    if (block.kind == BlockKind::binary) return !problem.coordinates.empty();
    return block.kind == BlockKind::real || block.kind == BlockKind::integer;
  };
  const std::vector<Block>& blocks = problem.objective->space().blocks();
  if (!result.named_solution.empty() || !std::ranges::all_of(blocks, is_number)) return {};
  std::vector<double> point = numbers_of(result.solution);
  std::vector<std::pair<std::string, std::string>> values;
  const Quantities quantities = problem.posterior ? problem.posterior->quantities : Quantities{};
  if (quantities.compute && !quantities.names.empty()) {
    std::vector<double> told(quantities.names.size());
    quantities.compute(point, told);
    for (std::size_t k = 0; k < told.size(); ++k)
      values.emplace_back(quantities.names[k], fmt::format("{:.6g}", told[k]));
    return values_text("with", values, "", columns);
  }
  const EvaluationVariables variables(problem);
  for (std::size_t k = 0; k < point.size(); ++k) {
    const int digits = point[k] == std::floor(point[k]) ? 10 : 6;  // integers are told in full
    values.emplace_back(variables.name(k), fmt::format("{:.{}g}", point[k], digits));
  }
  return values_text("with", values, in_file ? " in solution.txt" : "; -o FOLDER writes all",
                     columns);
}

std::string top_text(const Result& result) {
  std::string text;
  std::size_t rank = 0;
  for (const Solution& one : result.top) {
    text +=
        fmt::format("top {:>3}  {}   in {} of {} replicas", ++rank,
                    human_value(one.objective, result.integral), one.count, result.work.replicas);
    if (rank > 1) {
      const auto differing = differing_variables(one.state, result.top.front().state);
      text += fmt::format("   {} variable{} from top 1", differing,
                          differing == 1 ? " differs" : "s differ");
    }
    text += "\n";
  }
  return text;
}

std::string advice_text(const std::vector<std::string>& advice) {
  std::string text;
  for (const std::string& sentence : advice) {
    const char* label = "advice";
    for (const std::string& part : wrap(clean(sentence), prose_columns())) {
      text += fmt::format("{:13}{}\n", std::exchange(label, ""), part);
    }
  }
  return text;
}

std::string details_of(const Result& result, double read_s) {
  std::string text = fmt::format(
      "time         reading {:.3f} s   set-up {:.3f} s   run {:.3f} s   best at {:.3f} s\n", read_s,
      result.time.setup_s - read_s, result.time.run_s, result.time.to_best_s);
  text += fmt::format(
      "work         sweeps {}   replicas {}   attempts {:.0f}   ticks {}   accepted {}\n",
      result.work.sweeps, result.work.replicas, result.work.attempts, result.work.ticks,
      result.work.accepted);
  text += incumbents_text(result);
  if (result.work.gradients) text += fmt::format("  gradients  {}\n", *result.work.gradients);
  text += fmt::format("draws        {}\n", to_string(result.draw_naming));
  text += fmt::format("queue        {}\n", counters_text(result.work.device));
  text += fmt::format("  in ticks   {}\n", counters_text(result.work.in_ticks));
  if (result.hardware) text += hardware_text(*result.hardware);
  for (const auto& [name, value] : result.parameters) {
    text += fmt::format("parameter    {} = {}\n", name, clean(value));
  }
  for (const auto& [name, value] : result.diagnostics) {
    text += fmt::format("diagnostic   {} = {}\n", name, value);
  }
  for (const auto& [name, values] : result.series) {
    std::string list;
    for (const double value : values)
      list += fmt::format("{}{:.4g}", list.empty() ? "" : " ", value);
    text += fmt::format("series       {} = {}\n", name, list);
  }
  return text;
}

std::string result_json(const Result& result) {
  if (result.verified) return result.to_json() + "\n";
  Json json = Json::parse(result.to_json());
  json["objective"]["best"] = nullptr;
  json["objective"]["gap"] = nullptr;
  json["energy"] = nullptr;
  return json.dump() + "\n";
}

}  // namespace kiln::cli
