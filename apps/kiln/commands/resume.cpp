// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "cli/repeat.hpp"
#include "cli/settings.hpp"
#include "commands/commands.hpp"
#include "commands/run_outputs.hpp"
#include "output/console.hpp"
#include "output/text.hpp"
#include "run/session.hpp"

namespace kiln::cli {
namespace {

// Limits are those of the rest of the run; the others replace what the run was given.
constexpr std::array<std::string_view, 3> limits{"time-limit", "sweeps", "target"};
constexpr std::array<std::string_view, 11> others{
    "device",        "threads", "graph-capture", "report-interval", "checkpoint-every",
    "allow-command", "metrics", "json",          "quiet",           "verbose",
    "help"};

std::string sentence_of(const OptionSpec& spec) {
  if (spec.name == "time-limit") return "stop after this time from now: 500ms, 30s, 5m, 2h";
  if (spec.name == "sweeps") return "stop after N sweeps of each replica, counted from the start";
  if (spec.name == "target") return "stop at this value or a better value";
  if (spec.name == "allow-command") return "let Kiln call the program that run.json names";
  return spec.sentence;
}

const std::vector<OptionSpec>& resume_specs() {
  static const std::vector<OptionSpec> specs = [] {
    std::vector<OptionSpec> all;
    const auto add = [&](std::string_view name) {
      OptionSpec spec = *find_run_option(std::string(name));
      spec.sentence = sentence_of(spec);
      all.push_back(spec);
    };
    for (const std::string_view name : limits) add(name);
    for (const std::string_view name : others) add(name);
    return all;
  }();
  return specs;
}

Budget given_limits(const Arguments& arguments) {
  const auto value = [&](const char* name) {
    const OptionSpec& spec = *find_run_option(name);
    if (!arguments.has(name)) return std::any();
    return spec.use.read(name, {arguments.text(name), Origin::command_line});
  };
  Budget given;
  if (const std::any time = value("time-limit"); time.has_value()) {
    given.time_limit_s = std::any_cast<double>(time);
  }
  if (const std::any sweeps = value("sweeps"); sweeps.has_value()) {
    given.sweeps = std::any_cast<std::int64_t>(sweeps);
  }
  if (const std::any target = value("target"); target.has_value()) {
    given.target = std::any_cast<double>(target);
  }
  return given;
}

}  // namespace

std::string resume_help() {
  return "usage: kiln resume RUN [options]\n\n" +
         paragraph(
             "Continues a run from the last checkpoint in its folder RUN, after it was killed or "
             "interrupted, or beyond the limits that ended it. The run takes the path of a run "
             "that was never interrupted. The problem and all options are those of the run; the "
             "limits of the run hold unless they were reached or other limits are given.") +
         "\noptions:\n" + describe_options(resume_specs()) +
         "\nexamples:\n"
         "  kiln resume out/g22\n"
         "  kiln resume out/g22 --time-limit 10m\n"
         "  kill -USR1 PID                writes a checkpoint now\n";
}

ExitCode run_resume(const Words& words) {
  Arguments arguments = parse_arguments("resume", words, resume_specs(), 1);
  if (arguments.has("help")) {
    print_text(resume_help());
    return ExitCode::ok;
  }
  if (arguments.positional.empty()) {
    throw InvalidArgument("cli.missing", "kiln resume needs a run",
                          "the folder that kiln solve or kiln sample wrote with -o",
                          "kiln resume out/g22");
  }
  const ResumedFolder folder{arguments.positional.front(), given_limits(arguments)};
  const std::string document = (std::filesystem::path(folder.path) / "run.json").string();
  const RunVerb& verb = recorded_verb(document);
  arguments.positional.clear();
  for (const std::string_view limit : limits) arguments.options.erase(std::string(limit));
  arguments.options["repeat"] = {document};
  // Of the run, too: what it writes into its folder by default.
  arguments.options["output"] = {folder.path};
  const RunOutput& output = verb.samples ? sample_output() : solve_output();
  return run_session(prepare(verb, arguments, folder), words, output);
}

}  // namespace kiln::cli
