// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "arguments.hpp"
#include "catalogue.hpp"
#include "commands/commands.hpp"
#include "console.hpp"
#include "text.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<OptionSpec>& describe_specs() {
  static const std::vector<OptionSpec> specs{{"json", 0, "", "print one JSON document"},
                                             {"help", 'h', "", "show this help"}};
  return specs;
}

/// One thing that has a name, for people and for programs.
struct Description {
  std::string name;
  std::string text;
  Json json;
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

std::string head_of(const std::string& name, const char* kind, const std::string& sentence) {
  std::string text = fmt::format("{}: {}\n", name, kind);
  for (const std::string& line : wrap(sentence, 94)) text += indented(line);
  return text;
}

Json with_kind(const char* kind, const Json& json) {
  Json document = {{"kind", kind}};
  document.update(json);
  return document;
}

Description describe(const ScheduleEntry& entry) {
  return {entry.name,
          head_of(entry.name, "a schedule", entry.sentence) + "\nparameters, for -p NAME=VALUE:\n" +
              fields_text(entry.fields) +
              fmt::format("\nexample:\n  kiln solve gset:G22 --schedule {}\n", entry.name),
          with_kind("schedule", json_of(entry))};
}

Description describe(const ProblemEntry& entry) {
  std::string text = head_of(entry.name, "a family of problems", entry.sentence);
  text += fmt::format("\nname:\n  {}\n\nexamples:\n", pattern_of(entry));
  for (const std::string& example : entry.examples) {
    text += fmt::format("  kiln solve {}\n", example);
  }
  return {entry.name, text, with_kind("problem", json_of(entry))};
}

Description describe(const FormatInfo& info) {
  std::string text = head_of(info.name, "a file format", info.description);
  text += "\nsuffixes:\n ";
  for (const std::string& suffix : info.suffixes) text += " " + suffix;
  text += "\n\ngrammar:\n";
  for (const std::string& rule : info.grammar) text += indented(rule);
  text += "\nexample:\n" + indented(info.example);
  return {info.name, text, with_kind("format", json_of(info))};
}

std::vector<Description> all_descriptions() {
  std::vector<Description> all;
  const Registry registry = builtin_registry();
  for (const ScheduleEntry* entry : registry.schedules()) all.push_back(describe(*entry));
  for (const ProblemEntry* entry : registry.problems()) all.push_back(describe(*entry));
  for (const FormatInfo& info : problems::formats()) all.push_back(describe(info));
  return all;
}

Description find_description(const std::string& name) {
  std::vector<std::string> names;
  for (Description& description : all_descriptions()) {
    if (description.name == name) return std::move(description);
    names.push_back(description.name);
  }
  throw InvalidArgument(
      "cli.unknown",
      fmt::format("nothing is called '{}'{}", clean(name), nearest_hint(name, names)),
      fmt::format("there are: {}", fmt::join(names, ", ")));
}

}  // namespace

std::string describe_help() {
  return "usage: kiln describe NAME [--json]\n\n"
         "Tells all about a schedule, a family of problems or a file format: parameters with "
         "type,\n"
         "unit, range and default, grammar, examples.\n\noptions:\n" +
         describe_options(describe_specs()) +
         "\nexamples:\n"
         "  kiln describe simulated-annealing\n"
         "  kiln describe torus\n"
         "  kiln describe qubo --json\n";
}

ExitCode run_describe(const Words& words) {
  const Arguments arguments = parse_arguments("describe", words, describe_specs(), 1);
  if (arguments.has("help")) {
    print_result(describe_help());
    return ExitCode::ok;
  }
  if (arguments.positional.empty()) {
    throw InvalidArgument("cli.missing", "kiln describe needs a name",
                          "a schedule, a family of problems or a file format",
                          "kiln describe simulated-annealing");
  }
  const Description description = find_description(arguments.positional.front());
  print_result(arguments.has("json") ? description.json.dump() + "\n" : description.text);
  return ExitCode::ok;
}

}  // namespace kiln::cli
