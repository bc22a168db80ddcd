// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "kiln/schedules/pipeline.hpp"

#include "cli/arguments.hpp"
#include "cli/catalogue.hpp"
#include "cli/plugin_option.hpp"
#include "cli/problem_options.hpp"
#include "commands/commands.hpp"
#include "output/console.hpp"
#include "output/sweep_order.hpp"
#include "output/text.hpp"
#include "output/wording.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

const std::vector<OptionSpec>& describe_specs() {
  static const std::vector<OptionSpec> specs{plugin_spec(),
                                             {"json", 0, "", "print one JSON document"},
                                             {"help", 'h', "", "show this help"}};
  return specs;
}

namespace {

/// One thing that has a name, for people and for programs.
struct Description {
  std::string kind;
  std::string name;
  std::string text;
  Json json;
  std::vector<std::string> aliases = {};
};

std::string indented(std::string_view block) {
  std::string text;
  while (!block.empty()) {
    const std::size_t end = std::min(block.find('\n'), block.size());
    text += fmt::format("  {}\n", block.substr(0, end));
    block.remove_prefix(std::min(end + 1, block.size()));
  }
  return text;
}

std::string wrapped(const std::string& sentence) {
  std::string text;
  for (const std::string& line : wrap(sentence, result_columns() - 2)) text += indented(line);
  return text;
}

std::string wrapped_lines(std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    text += wrapped(std::string(lines.substr(0, end)));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return text;
}

std::string head_of(const std::string& name, const char* kind, const std::string& sentence) {
  return fmt::format("{}: {}\n", name, kind) + wrapped(sentence);
}

Json with_kind(const char* kind, const Json& json) {
  Json document = {{"kind", kind}};
  document.update(json);
  return document;
}

std::string names_text(const char* head, const std::vector<std::string>& names) {
  return names.empty() ? "" : fmt::format("\n{}:\n  {}\n", head, fmt::join(names, ", "));
}

Description describe(const ScheduleEntry& entry) {
  std::vector<std::string> all_names = entry.aliases;
  all_names.insert(all_names.end(), entry.former_names.begin(), entry.former_names.end());
  return {"schedule", entry.name,
          head_of(entry.name, "a schedule", entry.sentence) +
              names_text("also called", entry.aliases) +
              names_text("formerly", entry.former_names) + "\nparameters, for -p NAME=VALUE:\n" +
              fields_text(entry.fields) +
              fmt::format("\nexample:\n  kiln {} {} --schedule {}\n",
                          entry.samples ? "sample" : "solve", entry.example, entry.name),
          with_kind("schedule", json_of(entry)), all_names};
}

std::string limit_text(const StageLimit& limit) {
  std::vector<std::string> all;
  if (limit.sweeps) all.push_back(fmt::format("{} sweeps", *limit.sweeps));
  if (limit.time_limit_s) all.push_back(fmt::format("{:g} s", *limit.time_limit_s));
  return fmt::format("{}", fmt::join(all, " or "));
}

// What its stages are given and what ends them; each is described under its own name.
Description describe(const PipelineText& pipeline) {
  Json stages = Json::array();
  std::string text = head_of(pipeline.canonical(), "a pipeline",
                             "Schedules that follow each other on the same replicas.");
  text += "\nstages:\n";
  for (const StageText& one : pipeline.stages()) {
    const std::string ends = limit_text(one.limit);
    stages.push_back({{"schedule", one.schedule},
                      {"limit", ends.empty() ? Json(nullptr) : Json(ends)},
                      {"parameters", one.parameters}});
    text += wrapped(fmt::format("{}. {}, {}", stages.size(), one.schedule,
                                ends.empty() ? "until the limit of the run" : "for " + ends));
    for (const auto& [name, value] : one.parameters)
      text += fmt::format("    {}={}\n", name, value);
  }
  text += fmt::format("\nexample:\n  kiln solve gset:G22 --schedule \"{}\" --sweeps 10000\n",
                      pipeline.canonical());
  return {"schedule",
          pipeline.canonical(),
          text,
          {{"kind", "pipeline"}, {"name", pipeline.canonical()}, {"stages", std::move(stages)}}};
}

Description describe(const ProblemEntry& entry) {
  std::string text = head_of(entry.name, "a family of problems", entry.sentence);
  text += fmt::format("\nname:\n  {}\n", pattern_of(entry));
  if (!entry.names.empty()) text += "\nwhere NAME is:\n";
  std::vector<std::vector<std::string>> rows;
  for (const NamedSentence& name : entry.names) rows.push_back({name.name, name.sentence});
  if (!rows.empty()) text += indented(table_text(rows));
  const std::vector<OptionSpec> options = problem_specs_of(entry);
  if (!options.empty()) text += "\noptions:\n" + describe_options(options);
  text += "\nexamples:\n";
  for (const std::string& example : entry.examples) {
    text += fmt::format("  kiln solve {}\n", example);
  }
  return {"problem", entry.name, text, with_kind("problem", json_of(entry))};
}

/// Variables of one kind in a row, or one that has a name.
struct VariableRow {
  std::string name;
  const char* kind;
  Bounds bounds;
  std::int64_t count = 1;
};

std::vector<VariableRow> variables_of(const Problem& problem) {
  std::vector<VariableRow> rows;
  std::int64_t first = 1;
  for (const Block& block : problem.objective->space().blocks()) {
    const bool named = !problem.coordinates.empty();
    const std::int64_t step = named || !block.box.empty() ? 1 : block.count;
    for (std::int64_t i = 0; i < block.count; i += step, first += step) {
      std::string name = named ? problem.coordinates[static_cast<std::size_t>(first - 1)].name : "";
      if (name.empty()) {
        name = step == 1 ? fmt::format("x[{}]", first)
                         : fmt::format("x[{}] .. x[{}]", first, first + step - 1);
      }
      rows.push_back({std::move(name), to_string(block.kind), block.bounds(i), step});
    }
  }
  return rows;
}

Json named_json(const std::string& text) {
  const NamedUnit known = named_unit(text);
  return {{"name", known.name}, {"unit", known.unit.empty() ? Json(nullptr) : Json(known.unit)}};
}

Json bound_json(double bound) { return std::isfinite(bound) ? Json(bound) : Json(nullptr); }

std::string objectives_text(const Problem& problem, Json& json) {
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::string& name, bool maximized) {
    rows.push_back({clean(name), maximized ? "maximised" : "minimised"});
    json.push_back(named_json(clean(name)));
    json.back()["sense"] = option_of(maximized ? Sense::maximize : Sense::minimize);
  };
  if (!problem.objectives) {
    add(problem.units.value_name, problem.units.sense == Sense::maximize);
    return indented(table_text(rows));
  }
  const Objectives& all = *problem.objectives;
  for (std::size_t k = 0; k < all.count(); ++k) {
    add(all.names[k], all.maximized[k]);
    if (all.ideal.empty()) continue;
    const double sign = all.maximized[k] ? -1 : 1;
    json.back()["ideal"] = sign * all.ideal[k];
    json.back()["nadir"] = sign * all.nadir[k];
    rows.back().push_back(
        fmt::format("box {:.6g} .. {:.6g}", sign * all.ideal[k], sign * all.nadir[k]));
  }
  return indented(table_text(rows));
}

std::string variables_text(const Problem& problem, Json& json) {
  constexpr std::size_t most = 40;
  std::vector<std::vector<std::string>> rows;
  for (const VariableRow& row : variables_of(problem)) {
    json.push_back(named_json(clean(row.name)));
    json.back().update({{"kind", row.kind},
                        {"lower", bound_json(row.bounds.lower)},
                        {"upper", bound_json(row.bounds.upper)},
                        {"count", row.count}});
    if (rows.size() == most) continue;
    rows.push_back({clean(row.name), row.kind,
                    fmt::format("{:g} .. {:g}", row.bounds.lower, row.bounds.upper)});
  }
  std::string text = indented(table_text(rows));
  if (json.size() > most) text += fmt::format("  and {} more\n", json.size() - most);
  return text;
}

/// What a family says of one of its problems: of "1,30" and "ackley-10" it is that of "1" and
/// "ackley-D".
std::string sentence_of(const ProblemEntry& entry, const std::string& parameters) {
  const std::string first = parameters.substr(0, parameters.find(','));
  const std::string sized = first.substr(0, first.rfind('-')) + "-D";
  for (const std::string& name : {parameters, first, sized, first + "-D"}) {
    const auto known = std::ranges::find(entry.names, name, &NamedSentence::name);
    if (known != entry.names.end()) return known->sentence;
  }
  return entry.sentence;
}

/// Of one problem of a family: what is minimised, and over which variables.
Description describe_problem(const ProblemEntry& entry, const std::string& parameters) {
  const Problem problem = entry.make(parameters);
  const std::string sentence = sentence_of(entry, parameters);
  Json objectives = Json::array(), variables = Json::array();
  std::string text = head_of(clean(problem.identity.name), "a problem", sentence);
  text += "\nobjectives:\n" + objectives_text(problem, objectives);
  text += "\nvariables:\n" + variables_text(problem, variables);
  const std::string order = sweep_order_text(*problem.objective);
  if (!order.empty()) text += "\nsweeps:\n" + wrapped_lines(order);
  text += fmt::format("\nmore:\n  kiln describe {}\n\nexample:\n  kiln solve {}\n", entry.name,
                      clean(problem.identity.name));
  Json json = {{"kind", "problem"},        {"name", clean(problem.identity.name)},
               {"family", entry.name},     {"sentence", sentence},
               {"objectives", objectives}, {"variables", variables}};
  if (!order.empty()) json["sweeps"] = sweep_order_json(*problem.objective);
  return {"problem", problem.identity.name, text, std::move(json)};
}

/// Of "re:21" that of re; none for the name of a family alone.
const ProblemEntry* family_of(const Registry& registry, const std::string& name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos || !registry.has_problem(name.substr(0, colon))) return nullptr;
  return &registry.problem(name.substr(0, colon));
}

/// A problem as far as its name tells: what runs a program or reads a table has options, and a
/// model may need data. Then it is the family that is described. A sense changes no variable.
Description describe_instance(const ProblemEntry& entry, const std::string& name) {
  const auto matters = [](const std::string& option) { return option != "sense"; };
  try {
    if (std::ranges::none_of(entry.settings, matters)) {
      return describe_problem(entry, name.substr(name.find(':') + 1));
    }
  } catch (const InvalidArgument& error) {
    if (error.code() != "data.missing") throw;
  }
  Description family = describe(entry);
  family.text =
      paragraph(fmt::format("{} is a problem of the family {}. Options and data determine "
                            "its variables; kiln check with these options and data shows "
                            "the variables.",
                            clean(name), entry.name)) +
      "\n" + family.text;
  return family;
}

Description describe(const FormatInfo& info) {
  std::string text = head_of(info.name, "a file format", info.description);
  text += "\nsuffixes:\n ";
  for (const std::string& suffix : info.suffixes) text += " " + suffix;
  text += "\n\ngrammar:\n";
  for (const std::string& rule : info.grammar) text += indented(rule);
  if (!info.example.empty()) text += "\nexample:\n" + indented(info.example);
  return {"format", info.name, text, with_kind("format", json_of(info))};
}

Description describe(const KernelInfo& kernel) {
  std::string text = head_of(kernel.name, "a kernel", kernel.sentence);
  text += "\naccuracy:\n" + wrapped(accuracy_text(kernel));
  const std::string variants = variants_text(kernel, result_columns() - 2);
  if (!variants.empty()) {
    text += "\nvariants, all with the same bits:\n" + indented(variants);
  }
  text += "\nmore:\n" + wrapped(fmt::format("docs/kernels/{}.md and the header {}",
                                            kernel.component, header_of(kernel)));
  text += fmt::format("\nexample:\n  kiln bench kernels --only {}\n", kernel.name);
  return {"kernel", kernel.name, text, with_kind("kernel", json_of(kernel))};
}

std::vector<Description> all_descriptions() {
  std::vector<Description> all;
  const Registry& registry = known_registry();
  for (const ScheduleEntry* entry : registry.schedules()) all.push_back(describe(*entry));
  for (const ProblemEntry* entry : registry.problems()) all.push_back(describe(*entry));
  for (const FormatInfo& info : problems::formats()) all.push_back(describe(info));
  for (const KernelInfo& kernel : kernels()) all.push_back(describe(kernel));
  return all;
}

const std::vector<std::string>& kinds() {
  static const std::vector<std::string> all{"schedule", "problem", "format", "kernel"};
  return all;
}

/// @param kind  one of kinds(), or nothing: then the first of that name in their order is meant.
Description find_description(const std::optional<std::string>& kind, const std::string& name) {
  const Registry& registry = known_registry();
  if (PipelineText::is_one(name) && kind.value_or("schedule") == "schedule") {
    return describe(PipelineText(name, registry));
  }
  if (const ProblemEntry* const family = family_of(registry, name);
      family != nullptr && kind.value_or("problem") == "problem") {
    return describe_instance(*family, name);
  }
  std::vector<std::string> names, shown;
  for (Description& description : all_descriptions()) {
    if (kind && description.kind != *kind) continue;
    const bool alias = std::ranges::count(description.aliases, name) > 0;
    if (description.name == name || alias) return std::move(description);
    names.push_back(description.name);
    if (kind || description.kind != "kernel") shown.push_back(description.name);
  }
  const std::string instance = problem_of_instance(name, registry);
  throw InvalidArgument(
      "cli.unknown",
      fmt::format("no {} is named '{}'{}", kind.value_or("schedule, problem, format or kernel"),
                  clean(name), nearest_hint(name, names)),
      fmt::format("available: {}{}", fmt::join(shown, ", "),
                  kind ? "" : ", and the kernels that kiln list kernels shows"),
      instance.empty() ? "" : "kiln describe " + instance);
}

Description find_description(const std::vector<std::string>& words) {
  if (words.size() == 1) return find_description(std::nullopt, words[0]);
  if (std::ranges::find(kinds(), words[0]) == kinds().end()) {
    throw InvalidArgument(
        "cli.unknown",
        fmt::format("unknown kind '{}'{}", clean(words[0]), nearest_hint(words[0], kinds())),
        fmt::format("available: {}", fmt::join(kinds(), ", ")),
        "kiln describe schedule simulated-annealing");
  }
  return find_description(words[0], words[1]);
}

}  // namespace

std::string describe_help() {
  return "usage: kiln describe [schedule|problem|format|kernel] NAME [--json]\n\n" +
         paragraph(
             "Describes a schedule, a family of problems, one of its problems, a file format or a "
             "kernel: parameters with type, unit, range and default, objectives and "
             "variables, grammar, accuracy, examples.") +
         "\noptions:\n" + describe_options(describe_specs()) +
         "\nexamples:\n"
         "  kiln describe simulated-annealing\n"
         "  kiln describe torus\n"
         "  kiln describe re:21\n"
         "  kiln describe format qubo --json\n"
         "  kiln describe kernel metropolis_sweep\n";
}

ExitCode run_describe(const Words& words) {
  const Arguments arguments = parse_arguments("describe", words, describe_specs(), 2, {"plugin"});
  if (arguments.has("help")) {
    print_text(describe_help());
    return ExitCode::ok;
  }
  if (arguments.positional.empty()) {
    throw InvalidArgument("cli.missing", "kiln describe needs a name",
                          "a schedule, a family of problems, a file format or a kernel",
                          "kiln describe simulated-annealing");
  }
  load_plugins(arguments);
  const Description description = find_description(arguments.positional);
  if (arguments.has("json")) {
    print_result(description.json.dump() + "\n");
  } else {
    print_text(description.text);
  }
  return ExitCode::ok;
}

}  // namespace kiln::cli
