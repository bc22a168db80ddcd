// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

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
#include "tune/tune_warning.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

const std::vector<OptionSpec>& bench_specs() {
  static const std::vector<OptionSpec> specs{
      {"device", 0, "NAME", "auto, cpu, cuda or cuda:N (default auto: a GPU if there is one)"},
      {"threads", 0, "N",
       "number of CPU threads (default: all; suite sweep then also measures one thread, and suite "
       "scaling 1, 2, 4, ... threads)"},
      {"only", 0, "TEXT", "measure only rows whose name contains TEXT"},
      {"time-limit", 0, "TIME",
       "approximate total time (default 45s); each row is measured at least once"},
      {"sweeps", 0, "N",
       "length of each run: sweeps in suites sweep, scaling, ticks, executors, api, schedules, "
       "latency, tempering and forecast (384 or more), generations in "
       "pareto, batches in bayes. Default of tempering: 2000. Default of sweep: 1000 on a GPU and "
       "200 on the CPU, "
       "or 40 on the CPU for models of more than a million couplings. In pareto and bayes, each "
       "row has a separate default"},
      {"data", 0, "FILE", "suite bayes: file with the table of the row 'direct arylation'"},
      {"parameter", 'p', "NAME=VALUE",
       "suite bayes: parameter of bayesian-optimization for all rows; may be repeated"},
      {"check", 0, "",
       "suite products: multiply 600 pairs of matrices and count the contracts that are missed; "
       "--time-limit, if given, leaves out some of the pairs"},
      {"compare", 0, "FILE",
       "compare with FILE, a document that the same suite wrote with --json on the same device: "
       "prints each row before and now, and exits with 11 if a row is slower"},
      {"tolerance", 0, "PERCENT",
       "with --compare: a row is slower, or faster, if its time differs by more than this "
       "(default 5)"},
      {"quick", 0, "",
       "short check: the first row of each kernel (suite kernels) or one instance (other suites); "
       "without --time-limit, also sets --time-limit 100ms"},
      {"json", 0, "", "print one JSON document"},
      {"quiet", 'q', "", "print nothing while measuring"},
      {"help", 'h', "", "show this help"}};
  return specs;
}

namespace {

std::int64_t count_of(const Arguments& arguments, const std::string& name, std::int64_t most) {
  const std::string text = clean(arguments.text(name));
  const std::int64_t value =
      with_fix(fmt::format("--{} 1", name), [&] { return parse_count(text, "--" + name); });
  if (value >= 1 && value <= most) return value;
  throw InvalidArgument("cli.range", fmt::format("--{}={} is outside 1 .. {}", name, text, most),
                        {}, fmt::format("give a positive number, for example --{} 1", name));
}

/// "5" or "5%", as a share.
double tolerance_of(const Arguments& arguments) {
  std::string text = clean(arguments.text("tolerance"));
  if (!arguments.has("compare")) {
    throw InvalidArgument("cli.conflict", "--tolerance is for --compare, which is not given", {},
                          "kiln bench SUITE --compare FILE --tolerance " + text);
  }
  constexpr double most = 1e6;
  const std::string number = text.substr(0, text.size() - (text.ends_with('%') ? 1 : 0));
  const std::optional<double> percent = number_in(number);
  if (percent && *percent >= 0 && *percent <= most) return *percent / 100;
  throw InvalidArgument(
      "cli.range", fmt::format("--tolerance={} is not a percentage from 0 to {:.0f}", text, most),
      {}, "give a number of percent, for example --tolerance 5");
}

BenchOptions options_of(const Arguments& arguments) {
  BenchOptions options;
  if (arguments.has("device")) options.device = clean(arguments.text("device"));
  if (arguments.has("threads")) {
    options.threads = static_cast<int>(count_of(arguments, "threads", 4096));
  }
  if (arguments.has("sweeps")) options.sweeps = count_of(arguments, "sweeps", 1'000'000'000);
  options.quick = arguments.has("quick");
  options.check = arguments.has("check");
  if (options.quick) options.time_limit_s = 0.1;
  if (options.check) options.time_limit_s = std::numeric_limits<double>::infinity();
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
  options.compare = arguments.text("compare");
  if (arguments.has("tolerance")) options.tolerance = tolerance_of(arguments);
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

/// What a document begins with.
Json head_of(const Suite& suite, const OpenedBackend& backend, const Words& words) {
  const DeviceInfo info = backend.backend->info();
  Json json = {{"schema", "kiln.bench/1"}, {"suite", suite.name},
               {"kiln", version()},        {"compiler", build_info().compiler},
               {"date", now_utc()},        {"device", device_json(info, backend.fallback_reason)}};
  // Rows of tuned and of default shapes are not the same measurement.
  if (has_tuned_shapes(info)) json["tuned"] = tuning_text(info);
  json["device"]["processor"] = processor();
  json["threads"] = info.name == "cpu" ? Json(info.parallel_units) : Json(nullptr);
  json["command"] = Json::array({"kiln", "bench"});
  for (const std::string& word : words) json["command"].push_back(clean(word));
  return json;
}

Json document_of(const Json& head, const BenchReport& report, bool interrupted) {
  Json json = head;
  json.update(report.facts);
  json["rows"] = report.rows;
  json["failed"] = report.failed;
  json["interrupted"] = interrupted;
  return json;
}

void print_table(const std::vector<std::vector<std::string>>& table, std::size_t first_number) {
  if (results_are_seen()) return print_result(stacked_table(table, first_number, result_columns()));
  print_result(table_text(table, first_number));
}

/// Prints what a suite found, alone or beside an earlier document.
class Printer {
 public:
  Printer(const Suite& suite, const BenchOptions& options, const OpenedBackend& backend,
          const Words& words, bool as_json)
      : suite_(suite),
        options_(options),
        backend_(backend),
        head_(head_of(suite, backend, words)),
        as_json_(as_json) {
    if (!options.compare.empty()) baseline_ = read_baseline(options.compare, suite.figure, head_);
  }

  std::optional<Comparison> print(const BenchReport& report, bool interrupted) const {
    Json document = document_of(head_, report, interrupted);
    std::optional<Comparison> comparison;
    if (baseline_) {
      const ComparedBy by{suite_.figure, options_.tolerance, !interrupted && !options_.quick,
                          [&](const std::string& name) { return options_.wants(name); }};
      comparison = compare(*baseline_, document, by);
      document["comparison"] = comparison->json();
    }
    if (as_json_) {
      print_result(document.dump(2) + "\n");
    } else {
      print_tables(report, comparison);
    }
    flush_results();
    return comparison;
  }

 private:
  void print_tables(const BenchReport& report, const std::optional<Comparison>& comparison) const {
    print_text(fmt::format("kiln {}   bench {}   {}\n", version(), suite_.name,
                           device_text(backend_.backend->info())));
    if (comparison) {
      print_text(comparison->source_line() + "\n\n");
      print_table(comparison->table(), 1);
    } else {
      print_text("\n");
      print_table(report.table, report.first_number);
    }
    for (const std::string& note : report.notes) print_text("\n" + note + "\n");
    if (comparison) print_text("\n" + comparison->summary_line() + "\n");
  }

  const Suite& suite_;
  const BenchOptions& options_;
  const OpenedBackend& backend_;
  Json head_;
  std::optional<Baseline> baseline_;
  bool as_json_;
};

/// What --compare answers to its caller.
ExitCode answer_of(const Comparison& comparison) {
  if (comparison.count(Verdict::slower) > 0) return ExitCode::slower;
  if (comparison.compared() + comparison.count(Verdict::unknown) > 0) return ExitCode::ok;
  throw InputError("compare.rows", comparison.file + " has none of the rows of this run",
                   "rows are compared if all that identifies them is equal",
                   "measure with the options of the earlier run: its document has the command");
}

// Rows take seconds, and may be on a device: a signal waits for none, but what was measured before
// is printed.
BenchReport measure_suite(const Suite& suite, const BenchOptions& options,
                          const OpenedBackend& backend,
                          const std::function<void(const BenchReport&, bool interrupted)>& print) {
  BenchProgress progress(!options.quiet);
  const StopSignals signals(
      [&] {
        const BenchReport report = progress.end();
        close_live_row();
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
    std::string left = suite.name;
    for (const std::string& line :
         wrap(suite.sentence, std::max<std::size_t>(40, result_columns()) - 18)) {
      text += fmt::format("  {:<15} {}\n", left, line);
      left.clear();
    }
  }
  return text + "\noptions:\n" + describe_options(bench_specs()) +
         "\nexamples:\n"
         "  kiln bench kernels --device cuda\n"
         "  kiln bench kernels --only metropolis_sweep --threads 1\n"
         "  kiln bench sweep --json >sweep.json\n"
         "  kiln bench sweep --compare sweep.json\n"
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
  if (options.check && (suite.name != "products" || !options.compare.empty())) {
    throw InvalidArgument("cli.conflict", "--check is for suite products, without --compare", {},
                          "kiln bench products --check");
  }
  if (options.check && (arguments.has("only") || arguments.has("sweeps"))) {
    throw InvalidArgument("cli.conflict",
                          "--check checks all products: --only and --sweeps are for rates", {},
                          "kiln bench products --check --time-limit 10s");
  }
  const OpenedBackend backend = open_backend(options.device, options.threads);
  print_note(fallback_warning(backend.backend->info(), backend.fallback_reason));
  print_note(tuning_warning(backend.backend->info()));
  const Printer printer(suite, options, backend, words, arguments.has("json"));
  const BenchReport report = measure_suite(
      suite, options, backend,
      [&](const BenchReport& rows, bool interrupted) { printer.print(rows, interrupted); });
  const std::optional<Comparison> comparison = printer.print(report, false);
  if (report.first_failure) std::rethrow_exception(report.first_failure);
  return comparison ? answer_of(*comparison) : ExitCode::ok;
}

}  // namespace kiln::cli
