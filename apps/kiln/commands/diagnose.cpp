// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "arguments.hpp"
#include "commands/commands.hpp"
#include "console.hpp"
#include "diagnosis.hpp"
#include "document_file.hpp"
#include "interruption.hpp"
#include "text.hpp"

namespace kiln::cli {
namespace {

const DocumentKind result_document{"result.json", "kiln.result/1",
                                   "a run folder, or what kiln solve --json printed",
                                   std::size_t{256} << 20};

const std::vector<OptionSpec>& diagnose_specs() {
  static const std::vector<OptionSpec> specs{{"json", 0, "", "print one JSON document"},
                                             {"help", 'h', "", "show this help"}};
  return specs;
}

Diagnosis read_diagnosis(const std::string& path) {
  const DocumentFile file = read_document(path, result_document);
  try {
    return diagnosis_of(file.json, file.name);
  } catch (const nlohmann::json::exception& error) {
    refuse_document(file, result_document, clean(error.what()));
  }
}

}  // namespace

std::string diagnose_help() {
  return "usage: kiln diagnose RUN [--json]\n\n" +
         paragraph(
             "Shows what a finished run says of itself. RUN is a run folder, a result.json, or - "
             "for standard input. Of draws: their summary, how good they are and how fast they "
             "were made; of parallel tempering: gaps and rungs of the ladder, barrier, round trips "
             "and log Z; of other schedules when the best value was found, the work, and their "
             "diagnostics and series. Advice follows.") +
         "\noptions:\n" + describe_options(diagnose_specs()) +
         "\nexamples:\n"
         "  kiln solve gset:G32 --schedule parallel-tempering -o out/g32 && kiln diagnose out/g32\n"
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
