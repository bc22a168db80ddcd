// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "kiln/errors.hpp"

#include "analysis/analyze_options.hpp"
#include "analysis/landscape_command.hpp"
#include "analysis/map_files.hpp"
#include "analysis/run/run_command.hpp"
#include "analysis/table/table_analysis.hpp"
#include "cli/arguments.hpp"
#include "cli/plugin_option.hpp"
#include "cli/problem_options.hpp"
#include "commands/commands.hpp"
#include "output/console.hpp"
#include "output/text.hpp"
#include "run/interruption.hpp"
#include "run/waiting.hpp"

namespace kiln::cli {
namespace {

/// What there is to analyse.
enum class Subject : std::uint8_t { table, problem, run };

const char* words_of(Subject subject) {
  if (subject == Subject::run) return "runs";
  return subject == Subject::table ? "tables" : "landscapes";
}

const std::vector<OptionSpec>& common_specs() {
  static const std::vector<OptionSpec> specs{
      {"device", 0, "NAME", "auto, cpu, cuda or cuda:N (default auto: a GPU if there is one)"},
      {"threads", 0, "N", "CPU threads (default: all)"},
      {"seed", 0, "N", "random seed of surrogates and anneals (default 1)"},
      {"json", 0, "", "print one JSON document"},
      {"help", 'h', "", "show this help"}};
  return specs;
}

const std::vector<OptionSpec>& output_specs() {
  static const std::vector<OptionSpec> specs{
      {"output", 'o', "DIR", "write map.csv, information.json, pictures and report.html there"},
      {"csv", 0, "", "print the links as CSV"}};
  return specs;
}

std::vector<OptionSpec> joined(std::initializer_list<const std::vector<OptionSpec>*> lists) {
  std::vector<OptionSpec> all;
  for (const auto* list : lists) all.insert(all.end(), list->begin(), list->end());
  return all;
}

// Of the options for tables those that fit a run.
const std::vector<OptionSpec>& run_specs() {
  static const std::vector<OptionSpec> specs = [] {
    std::vector<OptionSpec> some;
    std::ranges::copy_if(table_specs(), std::back_inserter(some), [](const OptionSpec& spec) {
      return spec.name == "surrogates" || spec.name == "fdr" || spec.name == "rows";
    });
    return some;
  }();
  return specs;
}

std::vector<OptionSpec> specs_of(Subject subject) {
  if (subject == Subject::table) {
    return joined({&table_specs(), &output_specs(), &common_specs()});
  }
  if (subject == Subject::run) return joined({&run_specs(), &common_specs()});
  static const std::vector<OptionSpec> plugin{plugin_spec()};
  return joined({&landscape_specs(), &problem_specs(), &plugin, &common_specs()});
}

// An option that the subject has no use for would be ignored in silence.
void refuse_foreign_options(const Arguments& arguments, Subject subject) {
  const std::vector<OptionSpec> known = specs_of(subject);
  for (const auto& [name, texts] : arguments.options) {
    if (std::ranges::find(known, name, &OptionSpec::name) != known.end()) continue;
    const std::vector<OptionSpec> of_tables = specs_of(Subject::table);
    const bool is_of_tables =
        std::ranges::find(of_tables, name, &OptionSpec::name) != of_tables.end();
    const Subject other = is_of_tables ? Subject::table : Subject::problem;
    throw InvalidArgument(
        "cli.conflict",
        fmt::format("--{} is for {}, and {} is analysed as one of the {}", name, words_of(other),
                    clean(arguments.positional.front()), words_of(subject)),
        {},
        subject == Subject::table ? "add --landscape, or remove --" + name : "remove --" + name);
  }
}

ExitCode analyze_table_file(const Arguments& arguments) {
  const TableRequest request = table_request(arguments);
  const std::string directory = arguments.text("output");
  const bool as_csv = arguments.has("csv");
  if (arguments.has("output") && directory.empty()) {
    throw InvalidArgument("cli.value", "-o has no name of a folder", {},
                          "for example -o out/analysis");
  }
  if (as_csv && (arguments.has("json") || request.measures.size() != 1 || request.series)) {
    throw InvalidArgument("cli.conflict", "--csv prints the links of one measure and nothing else",
                          {}, "one --measure, without --json, --forecast and the like");
  }
  const std::string name = request.file == "-" ? "standard input" : clean(request.file);
  const EndBySignal interruptible("analysing " + name);
  const OpenedBackend opened =
      open_backend(device_options(arguments).device, device_options(arguments).threads);
  std::optional<TableAnalysis> analysis;
  {
    const Waiting waiting("analysing " + name);
    analysis = analyze_table(request, *opened.backend);
  }
  if (!directory.empty()) write_table_analysis(*analysis, request, directory);
  if (arguments.has("json")) {
    print_result(table_analysis_json(*analysis).dump() + "\n");
  } else if (as_csv) {
    print_result(map_csv(analysis->maps.front()));
  } else {
    print_text(table_analysis_text(*analysis, request, directory, result_columns()));
  }
  return ExitCode::ok;
}

}  // namespace

const std::vector<OptionSpec>& analyze_specs() {
  static const std::vector<OptionSpec> specs = [] {
    static const std::vector<OptionSpec> plugin{plugin_spec()};
    return joined({&table_specs(), &output_specs(), &landscape_specs(), &problem_specs(), &plugin,
                   &common_specs()});
  }();
  return specs;
}

std::string analyze_help() {
  return "usage: kiln analyze FILE [options]\n"
         "       kiln analyze RUN [options]\n"
         "       kiln analyze PROBLEM --landscape [options]\n\n" +
         paragraph(
             "Estimates what the columns of a table say of each other, in nats, by nearest "
             "neighbours: mutual information (mi), the same given other columns (cmi), transfer "
             "entropy (te), active storage (ais), and entropies of bins. Surrogates give p-values; "
             "links that stay at the rate of false discoveries are significant. FILE is CSV or "
             "another table, - for standard input. With --forecast, --spectrum or --change-points "
             "it analyses columns as series in time.") +
         paragraph(
             "RUN is a run folder, also of a run in progress. Of a tempering run with --telemetry "
             "replicas it shows the flow of information between rungs, how long rungs remember "
             "their energies, and replicas that are clones; of evaluations.csv, which inputs "
             "matter. It writes analysis.json into the folder, whose advice kiln diagnose repeats. "
             "Of the options for tables it takes --surrogates (20 or more, 40 by default), --fdr, "
             "and "
             "--rows, the epochs of all ladders together (4000 by default).") +
         paragraph(
             "With --landscape it shows basins and barriers of a problem along two real "
             "variables.") +
         "\noptions for tables:\n" + describe_options(joined({&table_specs(), &output_specs()})) +
         "\noptions for landscapes:\n" +
         describe_options(joined({&landscape_specs(), &problem_specs()})) + "\noptions:\n" +
         describe_options(common_specs()) +
         "\nexamples:\n"
         "  kiln analyze measurements.csv --target yield\n"
         "  kiln analyze series.csv --measure te --lag 1..5 --map -o out/flow\n"
         "  kiln analyze series.csv --forecast 12 --target load\n"
         "  kiln analyze out/run\n"
         "  kiln analyze function:branin --landscape --picture branin.svg\n";
}

ExitCode run_analyze(const Words& words) {
  const Arguments arguments = parse_arguments("analyze", words, analyze_specs(), 1,
                                              {"fix", "plugin", "subject-to", "var", "box"});
  if (arguments.has("help")) {
    print_text(analyze_help());
    return ExitCode::ok;
  }
  if (arguments.positional.empty()) {
    throw InvalidArgument(
        "cli.missing", "kiln analyze needs a table, a run folder or a problem",
        "a CSV file, - for standard input, or a run folder; with --landscape a problem",
        "kiln analyze measurements.csv");
  }
  const bool is_run = !arguments.has("landscape") && is_run_folder(arguments.positional.front());
  const Subject subject = arguments.has("landscape") ? Subject::problem
                          : is_run                   ? Subject::run
                                                     : Subject::table;
  refuse_foreign_options(arguments, subject);
  if (subject == Subject::run) return analyze_run_folder(arguments);
  if (subject == Subject::table) return analyze_table_file(arguments);
  load_plugins(arguments);
  return run_landscape(arguments);
}

}  // namespace kiln::cli
