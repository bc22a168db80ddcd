// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "arguments.hpp"
#include "catalogue.hpp"
#include "commands/commands.hpp"
#include "console.hpp"
#include "problem_options.hpp"
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

std::string head_of(const std::string& name, const char* kind, const std::string& sentence) {
  std::string text = fmt::format("{}: {}\n", name, kind);
  for (const std::string& line : wrap(sentence, 77)) text += indented(line);
  return text;
}

Json with_kind(const char* kind, const Json& json) {
  Json document = {{"kind", kind}};
  document.update(json);
  return document;
}

Description describe(const ScheduleEntry& entry) {
  return {"schedule", entry.name,
          head_of(entry.name, "a schedule", entry.sentence) +
              (entry.aliases.empty()
                   ? ""
                   : fmt::format("\nalso called:\n  {}\n", fmt::join(entry.aliases, ", "))) +
              "\nparameters, for -p NAME=VALUE:\n" + fields_text(entry.fields) +
              fmt::format("\nexample:\n  kiln {} {} --schedule {}\n",
                          entry.samples ? "sample" : "solve", entry.example, entry.name),
          with_kind("schedule", json_of(entry)), entry.aliases};
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
  text +=
      fmt::format("\naccuracy:\n  class {}: {}\n", kernel.accuracy, accuracy_text(kernel.accuracy));
  text += fmt::format(
      "\nmore:\n  docs/kernels/{}.md, the header {}\n\nexample:\n"
      "  kiln bench kernels --only {}\n",
      kernel.component, header_of(kernel), kernel.name);
  return {"kernel", kernel.name, text, with_kind("kernel", json_of(kernel))};
}

std::vector<Description> all_descriptions() {
  std::vector<Description> all;
  const Registry registry = builtin_registry();
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
  std::vector<std::string> names, shown;
  for (Description& description : all_descriptions()) {
    if (kind && description.kind != *kind) continue;
    const bool alias = std::ranges::count(description.aliases, name) > 0;
    if (description.name == name || alias) return std::move(description);
    names.push_back(description.name);
    if (kind || description.kind != "kernel") shown.push_back(description.name);
  }
  throw InvalidArgument("cli.unknown",
                        fmt::format("{} is called '{}'{}", kind ? "no " + *kind : "nothing",
                                    clean(name), nearest_hint(name, names)),
                        fmt::format("there are: {}{}", fmt::join(shown, ", "),
                                    kind ? "" : ", and what kiln list kernels shows"));
}

Description find_description(const std::vector<std::string>& words) {
  if (words.size() == 1) return find_description(std::nullopt, words[0]);
  if (std::ranges::find(kinds(), words[0]) == kinds().end()) {
    throw InvalidArgument("cli.unknown",
                          fmt::format("unknown kind of thing '{}'{}", clean(words[0]),
                                      nearest_hint(words[0], kinds())),
                          fmt::format("there are: {}", fmt::join(kinds(), ", ")),
                          "kiln describe schedule simulated-annealing");
  }
  return find_description(words[0], words[1]);
}

}  // namespace

std::string describe_help() {
  return "usage: kiln describe [schedule|problem|format|kernel] NAME [--json]\n\n"
         "Tells all about a schedule, a family of problems, a file format or a kernel: parameters\n"
         "with type, unit, range and default, grammar, accuracy, examples.\n\noptions:\n" +
         describe_options(describe_specs()) +
         "\nexamples:\n"
         "  kiln describe simulated-annealing\n"
         "  kiln describe torus\n"
         "  kiln describe format qubo --json\n"
         "  kiln describe kernel metropolis_sweep\n";
}

ExitCode run_describe(const Words& words) {
  const Arguments arguments = parse_arguments("describe", words, describe_specs(), 2);
  if (arguments.has("help")) {
    print_text(describe_help());
    return ExitCode::ok;
  }
  if (arguments.positional.empty()) {
    throw InvalidArgument("cli.missing", "kiln describe needs a name",
                          "a schedule, a family of problems, a file format or a kernel",
                          "kiln describe simulated-annealing");
  }
  const Description description = find_description(arguments.positional);
  if (arguments.has("json")) {
    print_result(description.json.dump() + "\n");
  } else {
    print_text(description.text);
  }
  return ExitCode::ok;
}

}  // namespace kiln::cli
