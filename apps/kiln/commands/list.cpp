// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "kiln/backend.hpp"

#include "bench/suite.hpp"
#include "cli/arguments.hpp"
#include "cli/catalogue.hpp"
#include "cli/plugin_option.hpp"
#include "commands/commands.hpp"
#include "output/console.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

/// A table with a row per thing, and the same as a document.
struct Listing {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> notes;
  Json json = Json::array();
};

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

Listing list_schedules() {
  Listing listing;
  const Registry& registry = known_registry();
  for (const ScheduleEntry* entry : registry.schedules()) {
    listing.rows.push_back({entry->name, entry->sentence});
    listing.json.push_back(json_of(*entry));
  }
  return listing;
}

Listing list_problems() {
  Listing listing;
  const Registry& registry = known_registry();
  for (const ProblemEntry* entry : registry.problems()) {
    listing.rows.push_back({pattern_of(*entry), entry->sentence});
    listing.json.push_back(json_of(*entry));
  }
  return listing;
}

Listing list_formats() {
  Listing listing;
  for (const FormatInfo& info : problems::formats()) {
    listing.rows.push_back({info.name, join(info.suffixes), info.description});
    listing.json.push_back(json_of(info));
  }
  return listing;
}

Listing list_all_devices() {
  Listing listing;
  std::string reason;
  for (const DeviceInfo& info : list_devices(&reason)) {
    listing.rows.push_back({clean(info.name), clean(info.description)});
    listing.json.push_back({{"name", clean(info.name)},
                            {"description", clean(info.description)},
                            {"memory_total", info.memory_total},
                            {"memory_free", info.memory_free},
                            {"parallel_units", info.parallel_units}});
  }
  if (!reason.empty()) listing.notes.push_back("no CUDA device: " + clean(reason));
  return listing;
}

Listing list_kernels() {
  Listing listing;
  for (const KernelInfo& kernel : kernels()) {
    const std::string also = kernel.equal_bits.empty() ? "" : ", E";
    listing.rows.push_back({kernel.name, kernel.accuracy + also, kernel.sentence});
    listing.json.push_back(json_of(kernel));
  }
  return listing;
}

Listing list_suites() {
  Listing listing;
  for (const Suite& suite : suites()) {
    listing.rows.push_back({suite.name, suite.sentence});
    listing.json.push_back({{"name", suite.name}, {"sentence", suite.sentence}});
  }
  return listing;
}

// What a plug-in adds, and for which devices it has kernels.
std::string parts_of(const PluginInfo& plugin) {
  std::string text;
  const auto add = [&](const char* what, const std::vector<std::string>& names) {
    if (!names.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", what, join(names));
  };
  add("schedules", plugin.schedules);
  add("problems", plugin.problems);
  add("CPU kernels", plugin.cpu_kernels);
  add("GPU kernels", plugin.cuda_kernels);
  return clean(text);
}

Listing list_plugins() {
  Listing listing;
  for (const PluginInfo& plugin : known_plugins()) {
    listing.rows.push_back({clean(plugin.name), clean(plugin.version), clean(plugin.summary)});
    listing.rows.push_back({"", "", parts_of(plugin)});
    listing.rows.push_back({"", "", clean(plugin.path.string())});
    listing.json.push_back({{"name", clean(plugin.name)},
                            {"version", clean(plugin.version)},
                            {"sentence", clean(plugin.summary)},
                            {"path", clean(plugin.path.string())},
                            {"schedules", plugin.schedules},
                            {"problems", plugin.problems},
                            {"cpu_kernels", plugin.cpu_kernels},
                            {"cuda_kernels", plugin.cuda_kernels}});
  }
  if (known_plugins().empty()) {
    listing.notes.push_back("no plug-ins: none in " + clean(plugin_folder().string()) +
                            " or in KILN_PLUGIN_PATH, and none named by --plugin");
  }
  return listing;
}

struct Topic {
  const char* name;
  Listing (*list)();
};

constexpr std::array<Topic, 7> topics{{{"schedules", list_schedules},
                                       {"problems", list_problems},
                                       {"formats", list_formats},
                                       {"devices", list_all_devices},
                                       {"kernels", list_kernels},
                                       {"suites", list_suites},
                                       {"plugins", list_plugins}}};

const Topic& find_topic(const std::string& name) {
  for (const Topic& topic : topics) {
    if (name == topic.name) return topic;
  }
  const std::vector<std::string> names = list_topics();
  const std::string near = nearest_name(name, names);
  throw InvalidArgument(
      "cli.unknown", fmt::format("unknown topic '{}'{}", clean(name), nearest_hint(name, names)),
      "available: " + join(names), "kiln list " + (near.empty() ? names.front() : near));
}

}  // namespace

std::vector<std::string> list_topics() {
  std::vector<std::string> names;
  for (const Topic& topic : topics) names.emplace_back(topic.name);
  return names;
}

const std::vector<OptionSpec>& list_specs() {
  static const std::vector<OptionSpec> specs{plugin_spec(),
                                             {"json", 0, "", "print one JSON document"},
                                             {"help", 'h', "", "show this help"}};
  return specs;
}

std::string list_help() {
  return "usage: kiln list schedules|problems|formats|devices|kernels|suites|plugins\n"
         "                 [--plugin FILE] [--json]\n\n" +
         paragraph(
             "Lists the schedules, problems, formats, kernels or suites of this build, the "
             "plug-ins that it finds, or the devices of this machine.") +
         "\noptions:\n" + describe_options(list_specs()) +
         "\nexamples:\n"
         "  kiln list problems\n"
         "  kiln list devices --json\n"
         "\n" +
         paragraph(
             "`kiln describe NAME` describes a schedule, a family of problems, a format or a "
             "kernel.");
}

ExitCode run_list(const Words& words) {
  const Arguments arguments = parse_arguments("list", words, list_specs(), 1, {"plugin"});
  if (arguments.has("help")) {
    print_text(list_help());
    return ExitCode::ok;
  }
  if (arguments.positional.empty()) {
    throw InvalidArgument("cli.missing", "kiln list needs a topic",
                          "schedules, problems, formats, devices, kernels, suites or plugins",
                          "kiln list schedules");
  }
  const Topic& topic = find_topic(arguments.positional.front());
  load_plugins(arguments);
  const Listing listing = topic.list();
  if (arguments.has("json")) {
    Json document = {{topic.name, listing.json}};
    if (!listing.notes.empty()) document["notes"] = listing.notes;
    print_result(document.dump() + "\n");
    return ExitCode::ok;
  }
  print_text(table_text(listing.rows));
  for (const std::string& note : listing.notes) print_text(note + "\n");
  return ExitCode::ok;
}

}  // namespace kiln::cli
