// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <new>
#include <string_view>
#include <vector>

#include "kiln/statistics/draw_conditions.hpp"

#include "cli/option_values.hpp"
#include "cli/repeat.hpp"
#include "cli/settings.hpp"
#include "commands/commands.hpp"
#include "commands/run_outputs.hpp"
#include "errors.hpp"
#include "fix_words.hpp"
#include "output/console.hpp"
#include "output/text.hpp"
#include "run/session/session.hpp"

namespace kiln::cli {
namespace {

// Limits are those of the rest of the run; the others replace what the run was given.
constexpr std::array<std::string_view, 9> limits{"time-limit",  "sweeps",    "work-limit",
                                                 "target",      "stop-when", "evaluations",
                                                 "generations", "draws",     "until"};
constexpr std::array<std::string_view, 14> others{"device",
                                                  "threads",
                                                  "executor",
                                                  "graph-capture",
                                                  "report-interval",
                                                  "checkpoint-every",
                                                  "allow-command",
                                                  "allow-jit",
                                                  "plugin",
                                                  "metrics",
                                                  "json",
                                                  "quiet",
                                                  "verbose",
                                                  "help"};

std::string sentence_of(const OptionSpec& spec) {
  if (spec.name == "time-limit") return "stop after this time from now: 500ms, 30s, 5m, 2h";
  if (spec.name == "sweeps") return "stop after N sweeps of each replica, counted from the start";
  if (spec.name == "work-limit") {
    return "stop before this work of all replicas is exceeded, counted from the start";
  }
  if (spec.name == "target") return "stop at this value or a better value";
  if (spec.name == "stop-when") return "stop once the best value gains too little";
  if (spec.name == "evaluations") {
    return "stop after N evaluations of each study, counted from the start: whole batches, for "
           "bayesian-optimization and bayesian-front";
  }
  if (spec.name == "generations") {
    return "stop after N generations, counted from the start, for evolutionary";
  }
  if (spec.name == "draws") {
    return "make N draws of each chain, counted from the start, where every draw of every chain "
           "is kept, for kiln sample";
  }
  if (spec.name == "until") return "stop once the draws meet these conditions, for kiln sample";
  if (spec.name == "allow-command") return "let Kiln call the program that run.json names";
  if (spec.name == "allow-jit") return "let Kiln compile the source text that run.json names";
  return spec.sentence;
}

}  // namespace

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

namespace {

template <class Value>
std::optional<Value> value_of(const Arguments& arguments, const std::string& name,
                              const ReadOption& read) {
  if (!arguments.has(name)) return std::nullopt;
  const std::any value = read(name, {arguments.text(name), Origin::command_line});
  return value.has_value() ? std::optional(std::any_cast<Value>(value)) : std::nullopt;
}

ResumeLimits given_limits(const Arguments& arguments) {
  const auto read_of = [](const char* name) { return find_run_option(name)->use.read; };
  const ReadOption whole = whole_number({1, std::numeric_limits<std::int64_t>::max(), "2000"});
  ResumeLimits given;
  given.budget.time_limit_s = value_of<double>(arguments, "time-limit", read_of("time-limit"));
  given.budget.sweeps = value_of<std::int64_t>(arguments, "sweeps", read_of("sweeps"));
  given.budget.target = value_of<double>(arguments, "target", read_of("target"));
  if (const auto work = value_of<WorkAmount>(arguments, "work-limit", read_of("work-limit"))) {
    given.budget.work_limit = work->amount;
    given.work_unit = work->unit;
  }
  given.budget.stop_when = value_of<GainCondition>(arguments, "stop-when", read_of("stop-when"));
  given.budget.until =
      value_of<DrawConditions>(arguments, "until", read_of("until")).value_or(DrawConditions{});
  given.draws = value_of<std::int64_t>(arguments, "draws", whole);
  given.evaluations = value_of<std::int64_t>(arguments, "evaluations", whole);
  given.generations = value_of<std::int64_t>(arguments, "generations", whole);
  return given;
}

// What a word names among the options of a run: --seed, --seed=2, -o.
const OptionSpec* run_option_of(const std::string& word) {
  if (word.starts_with("--")) return find_run_option(word.substr(2, word.find('=') - 2));
  if (word.size() < 2 || word.front() != '-') return nullptr;
  for (const RunVerb* verb : {&solve_verb(), &sample_verb()}) {
    for (const OptionSpec& spec : verb->specs) {
      if (spec.letter == word[1]) return &spec;
    }
  }
  return nullptr;
}

// A limit of the other verb is none of this run.
void require_limits_of(const RunVerb& verb, const Arguments& arguments) {
  for (const std::string_view limit : limits) {
    const bool known =
        std::ranges::any_of(verb.specs, [&](const OptionSpec& spec) { return spec.name == limit; });
    if (known || !arguments.has(std::string(limit))) continue;
    throw InvalidArgument("resume.limit",
                          fmt::format("--{} is no limit of kiln {}", limit, verb.name), {},
                          verb.samples ? "--draws N" : "--sweeps N or --time-limit TIME");
  }
}

// The other options of a run decide what it finds, or where it is kept.
void refuse_fixed(const Words& words) {
  for (const std::string& word : words) {
    const OptionSpec* const option = run_option_of(word);
    const bool known =
        option == nullptr || std::ranges::any_of(resume_specs(), [&](const OptionSpec& spec) {
          return spec.name == option->name || spec.name == option->alias_of;
        });
    if (known) continue;
    const std::string name = option->name == "parameter" ? "-p" : "--" + option->name;
    throw InvalidArgument(
        "resume.fixed", fmt::format("{} cannot change in a run that continues", name),
        "the options of kiln resume --help",
        fmt::format("for another value of {} begin a new run with --repeat RUN", name));
  }
}

}  // namespace

std::string resume_help() {
  return "usage: kiln resume RUN [options]\n\n" +
         paragraph(
             "Continues a run from the last checkpoint in its folder RUN, after it was killed or "
             "interrupted, or beyond the limits that ended it. The run takes the path of a run "
             "that was never interrupted. The problem and all options are those of the run; the "
             "limits of the run hold unless they were reached or other limits are given. Expensive "
             "evaluations that the run has made are not made again.") +
         "\noptions:\n" + describe_options(resume_specs()) +
         "\nexamples:\n"
         "  kiln resume out/g22\n"
         "  kiln resume out/g22 --time-limit 10m\n"
         "  kiln resume out/schools --draws 4000\n"
         "  kill -USR1 PID                writes a checkpoint now\n";
}

ExitCode run_resume(const Words& words) {
  refuse_fixed(words);
  Arguments arguments = parse_arguments("resume", words, resume_specs(), 1, {"plugin"});
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
  require_limits_of(verb, arguments);
  arguments.positional.clear();
  for (const std::string_view limit : limits) arguments.options.erase(std::string(limit));
  arguments.options["repeat"] = {document};
  // Of the run, too: what it writes into its folder by default.
  arguments.options["output"] = {folder.path};
  const RunOutput& output = verb.samples ? sample_output() : solve_output();
  const std::string fix = fmt::format("kiln resume {} with more memory, or a new run with {}",
                                      shell_word(folder.path), less_memory(verb.samples));
  try {
    return run_session(prepare(verb, arguments, folder), words, output);
  } catch (const std::bad_alloc&) {
    throw RunMemoryError("memory.host", "there is not enough memory to continue the run", {}, fix);
  } catch (const OutOfDeviceMemory& error) {
    throw RunMemoryError(error.code(), error.message(), {}, fix);  // replicas cannot change
  }
}

}  // namespace kiln::cli
