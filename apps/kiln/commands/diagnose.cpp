// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/run/run_analysis.hpp"
#include "cli/arguments.hpp"
#include "cli/document_file.hpp"
#include "commands/commands.hpp"
#include "diagnosis/diagnosis.hpp"
#include "output/console.hpp"
#include "output/folder_claim.hpp"
#include "output/text.hpp"
#include "report/run_files.hpp"
#include "run/interruption.hpp"

namespace kiln::cli {
namespace {

const DocumentKind result_document{
    "result.json", "kiln.result/2", "kiln.result/1",
    "a run folder, or what kiln solve --json or kiln sample --json printed",
    std::size_t{256} << 20};

}  // namespace

const std::vector<OptionSpec>& diagnose_specs() {
  static const std::vector<OptionSpec> specs{{"json", 0, "", "print one JSON document"},
                                             {"help", 'h', "", "show this help"}};
  return specs;
}

namespace {

// The folder of a run that is not a minute old, or was killed before it was: said with what it has.
void require_result(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path folder(path);
  std::error_code ignored;
  if (path == "-" || !fs::exists(folder / "run.json", ignored)) return;
  if (fs::exists(folder / result_document.file, ignored)) return;
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    names.insert(clean(entry.path().filename().string()));
  }
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  const bool running = is_claimed(path).value_or(false);
  const std::string what = running ? "the run is in progress and has written no result yet"
                                   : "the run was killed before it wrote a result";
  std::string fix = "kiln resume " + clean(path) + " continues the run";
  if (running) {
    fix = "wait a minute, or read trace.csv, to which the run adds rows";
  }
  throw InputError(
      "input.open", clean(path) + ": " + what + "; there are " + list,
      "expected: a folder with result.json, which a run writes every minute and at its end", fix);
}

// Advice of kiln analyze. A damaged file of it costs no other line.
void add_advice_of_analysis(const std::string& folder, Diagnosis& run) {
  try {
    std::ranges::copy(advice_of_analysis(folder), std::back_inserter(run.advice));
  } catch (const Error& error) {
    print_note("note: " + error.message() + "; kiln analyze " + clean(folder) +
               " writes it anew\n");
  }
}

Diagnosis read_diagnosis(const std::string& path) {
  require_result(path);
  const DocumentFile file = read_document(path, result_document);
  try {
    Diagnosis run = diagnosis_of(file.json, file.name);
    if (path != "-") add_advice_of_analysis(path, run);
    return run;
  } catch (const nlohmann::json::exception& error) {
    refuse_document(file, result_document, json_reason(error));
  }
}

}  // namespace

std::string diagnose_help() {
  return "usage: kiln diagnose RUN [--json]\n\n" +
         paragraph(
             "Reports the statistics of a finished run. RUN is a run folder, a result.json, or - "
             "for standard input. For draws: their summary, quality and speed. For parallel "
             "tempering: gaps and rungs of the ladder, barrier, round trips and log Z. For other "
             "schedules: the time of the best value, the work, their diagnostics and series. "
             "Advice follows, also that of analysis.json, which kiln analyze RUN writes.") +
         "\noptions:\n" + describe_options(diagnose_specs()) +
         "\nexamples:\n"
         "  kiln solve gset:G32 --schedule parallel-tempering -o out/g32\n"
         "  kiln diagnose out/g32\n"
         "  kiln solve gset:G32 --schedule parallel-tempering --json | kiln diagnose -\n";
}

ExitCode run_diagnose(const Words& words) {
  const Arguments arguments = parse_arguments("diagnose", words, diagnose_specs(), 1);
  if (arguments.has("help")) {
    print_text(diagnose_help());
    return ExitCode::ok;
  }
  if (arguments.positional.empty()) {
    throw InvalidArgument("cli.missing", "kiln diagnose needs a run",
                          result_document.expected + ", or - for standard input",
                          "kiln diagnose out/g32");
  }
  const std::string& path = arguments.positional.front();
  const EndBySignal interruptible("reading " + (path == "-" ? "standard input" : clean(path)));
  const Diagnosis run = read_diagnosis(path);
  if (arguments.has("json")) {
    print_result(diagnosis_json(run).dump() + "\n");
  } else {
    print_text(diagnosis_text(run));
  }
  return ExitCode::ok;
}

}  // namespace kiln::cli
