// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "kiln/backend.hpp"
#include "kiln/options.hpp"
#include "kiln/version.hpp"

#include "bench/suite.hpp"
#include "cli/arguments.hpp"
#include "cli/settings.hpp"
#include "commands/commands.hpp"
#include "errors.hpp"
#include "output/console.hpp"
#include "output/live_row.hpp"
#include "output/solve_text.hpp"
#include "output/text.hpp"
#include "output/wording.hpp"
#include "run/interruption.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<OptionSpec>& bench_specs() {
  static const std::vector<OptionSpec> specs{
      {"device", 0, "NAME", "auto, cpu, cuda or cuda:N (default auto: a GPU if there is one)"},
      {"threads", 0, "N",
       "number of CPU threads (default: all; suite sweep then also measures one thread)"},
      {"only", 0, "TEXT", "measure only rows whose name contains TEXT"},
      {"time-limit", 0, "TIME",
       "approximate total time (default 45s); each row is measured at least once"},
      {"sweeps", 0, "N",
       "length of each run: sweeps in suites sweep and tempering, generations in pareto, batches "
       "in bayes. Default of tempering: 2000. Default of sweep: 1000 on a GPU and 200 on the CPU, "
       "or 40 on the CPU for models of more than a million couplings. In pareto and bayes, each "
       "row has a separate default"},
      {"data", 0, "FILE", "suite bayes: file with the table of the row 'direct arylation'"},
      {"parameter", 'p', "NAME=VALUE",
       "suite bayes: parameter of bayesian-optimization for all rows; may be repeated"},
      {"quick", 0, "",
       "short check: the first row of each kernel (suite kernels) or one instance (other suites); "
       "without --time-limit, also sets --time-limit 100ms"},
      {"json", 0, "", "print one JSON document"},
      {"quiet", 'q', "", "print nothing while measuring"},
      {"help", 'h', "", "show this help"}};
  return specs;
}

std::int64_t count_of(const Arguments& arguments, const std::string& name, std::int64_t most) {
  const std::string text = clean(arguments.text(name));
  const std::int64_t value =
      with_fix(fmt::format("--{} 1", name), [&] { return parse_count(text, "--" + name); });
  if (value >= 1 && value <= most) return value;
  throw InvalidArgument("cli.range", fmt::format("--{}={} is outside 1 .. {}", name, text, most),
                        {}, fmt::format("give a positive number, for example --{} 1", name));
}

BenchOptions options_of(const Arguments& arguments) {
  BenchOptions options;
  if (arguments.has("device")) options.device = clean(arguments.text("device"));
  if (arguments.has("threads")) {
    options.threads = static_cast<int>(count_of(arguments, "threads", 4096));
  }
  if (arguments.has("sweeps")) options.sweeps = count_of(arguments, "sweeps", 1'000'000'000);
  options.quick = arguments.has("quick");
  if (options.quick) options.time_limit_s = 0.1;
  if (arguments.has("time-limit")) {
    const std::string text = clean(arguments.text("time-limit"));
    options.time_limit_s =
        with_fix("--time-limit 30s", [&] { return parse_duration(text, "--time-limit"); });
    if (!(options.time_limit_s > 0)) {
      throw InvalidArgument("cli.range", fmt::format("--time-limit={} is not greater than 0", text),
                            {}, "give a positive duration, for example --time-limit 30s");
    }
  }
  options.only = arguments.text("only");
  options.data = arguments.text("data");
  for (const auto& [name, setting] : parameters_of(arguments)) {
    options.parameters[name] = setting.text;
  }
  options.quiet = arguments.has("quiet");
  return options;
}

std::string now_utc() {
  return fmt::format(
      "{:%Y-%m-%dT%H:%M:%SZ}",
      fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

/// What the host calls its processor; null where it does not say.
Json processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return clean(line.substr(colon + 2));
    }
  }
  return nullptr;
}

std::string json_text(const Suite& suite, const BenchReport& report, const OpenedBackend& backend,
                      const std::string& date, const Words& words, bool interrupted) {
  const DeviceInfo info = backend.backend->info();
  Json json = {{"schema", "kiln.bench/1"},
               {"suite", suite.name},
               {"kiln", version()},
               {"compiler", build_info().compiler},
               {"date", date},
               {"device", device_json(info, backend.fallback_reason)}};
  json["device"]["processor"] = processor();
  json["threads"] = info.name == "cpu" ? Json(info.parallel_units) : Json(nullptr);
  json["command"] = Json::array({"kiln", "bench"});
  for (const std::string& word : words) json["command"].push_back(clean(word));
  json.update(report.facts);
  json["rows"] = report.rows;
  json["failed"] = report.failed;
  json["interrupted"] = interrupted;
  return json.dump(2) + "\n";
}

void print_tables(const Suite& suite, const BenchReport& report, const OpenedBackend& backend) {
  const std::string device = device_text(backend.backend->info());
  print_text(fmt::format("kiln {}   bench {}   {}\n\n", version(), suite.name, device));
  if (results_are_seen()) {
    print_result(stacked_table(report.table, report.first_number, result_columns()));
  } else {
    print_result(table_text(report.table, report.first_number));
  }
  for (const std::string& note : report.notes) print_text("\n" + note + "\n");
}

// Rows take seconds, and may be on a device: a signal waits for none, but what was measured before
// is printed.
BenchReport measure_suite(const Suite& suite, const BenchOptions& options,
                          const OpenedBackend& backend,
                          const std::function<void(const BenchReport&, bool interrupted)>& print) {
  BenchProgress progress(!options.quiet);
  const StopSignals signals(
      [&] {
        close_live_row();
        const BenchReport report = progress.report();
        const std::size_t rows = report.rows.size();
        try {
          if (rows > 0) print(report, true);
        } catch (...) {
          report_current_exception("bench");
        }
        end_by_signal(progress.measuring(),
                      fmt::format("{} row{} measured", rows == 0 ? "no" : std::to_string(rows),
                                  rows == 1 ? " was" : "s were"));
      },
      2);
  return suite.run({options, backend, progress});
}

}  // namespace

std::string bench_help() {
  std::string text =
      "usage: kiln bench SUITE [options]\n\n" +
      paragraph(
          "Measures this build on this machine and prints medians with their spread, taken after "
          "warm-up. A table, or with --json a document, goes to standard output. On a terminal a "
          "row of the table has as many lines as it needs.") +
      "\nsuites:\n";
  for (const Suite& suite : suites()) {
    text += fmt::format("  {:<15} {}\n", suite.name, suite.sentence);
  }
  return text + "\noptions:\n" + describe_options(bench_specs()) +
         "\nexamples:\n"
         "  kiln bench kernels --device cuda\n"
         "  kiln bench kernels --only metropolis_sweep --threads 1\n"
         "  kiln bench sweep --json >sweep.json\n"
         "  kiln bench bayes --only hartmann6 -p covariance=rbf\n";
}

ExitCode run_bench(const Words& words) {
  const Arguments arguments = parse_arguments("bench", words, bench_specs(), 1, {"parameter"});
  if (arguments.has("help")) {
    print_text(bench_help());
    return ExitCode::ok;
  }
  if (arguments.positional.empty()) {
    std::string names;
    for (const Suite& suite : suites()) names += (names.empty() ? "" : ", ") + suite.name;
    throw InvalidArgument("cli.missing", "kiln bench needs a suite", names, "kiln bench kernels");
  }
  const Suite& suite = find_suite(arguments.positional.front());
  const BenchOptions options = options_of(arguments);
  for (const char* name : {"data", "parameter"}) {
    if (!arguments.has(name) || suite.name == "bayes") continue;
    throw InvalidArgument(
        "cli.conflict", fmt::format("--{} is for suite bayes, not for suite {}", name, suite.name),
        {}, "kiln bench bayes");
  }
  const std::string date = now_utc();
  const OpenedBackend backend = open_backend(options.device, options.threads);
  print_note(fallback_warning(backend.backend->info(), backend.fallback_reason));
  const auto print = [&](const BenchReport& report, bool interrupted) {
    if (arguments.has("json")) {
      print_result(json_text(suite, report, backend, date, words, interrupted));
    } else {
      print_tables(suite, report, backend);
    }
    flush_results();
  };
  const BenchReport report = measure_suite(suite, options, backend, print);
  print(report, false);
  if (report.first_failure) std::rethrow_exception(report.first_failure);
  return ExitCode::ok;
}

}  // namespace kiln::cli
