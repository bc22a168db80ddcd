// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "report/report.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kiln/errors.hpp"
#include "kiln/option_info.hpp"

#include "cli/arguments.hpp"
#include "cli/document_file.hpp"
#include "cli/option_values.hpp"
#include "commands/commands.hpp"
#include "output/atomic_file.hpp"
#include "output/console.hpp"
#include "output/text.hpp"
#include "run/interruption.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_runs = 1000;

}  // namespace

const std::vector<OptionSpec>& report_specs() {
  static const std::vector<OptionSpec> specs{
      {"output", 'o', "FILE",
       "write the report to FILE, or to standard output for - (default: report.html in the run "
       "folder; for several runs, report.html in the current folder)"},
      {"target", 0, "VALUE",
       "for several runs: compare the times to this value (default: the target of the runs, else "
       "the best known value, else the best value of the runs)"},
      {"json", 0, "", "print one JSON document that names the file and its sections"},
      {"help", 'h', "", "show this help"}};
  return specs;
}

namespace {

/// Whether a file is a report, which a newer one may replace.
bool is_report(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;  // opening a pipe may wait for ever
  std::ifstream in(path, std::ios::binary);
  std::string begin(2000, '\0');
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(in.gcount()));
  return begin.starts_with("<!DOCTYPE html>") &&
         begin.find("<meta name=\"generator\" content=\"kiln ") != std::string::npos;
}

std::optional<double> target_of(const Arguments& arguments) {
  if (!arguments.has("target")) return std::nullopt;
  const std::optional<double> target = number_in(arguments.text("target"));
  if (!target || !(*target - *target == 0)) {
    throw InvalidArgument("cli.value",
                          "--target=" + clean(arguments.text("target")) + " is not a number", {},
                          "--target 13359");
  }
  return target;
}

std::string output_of(const Arguments& arguments) {
  if (arguments.has("output")) {
    const std::string file = arguments.text("output");
    if (file.empty()) throw InvalidArgument("cli.value", "--output needs the name of a file");
    return file;
  }
  if (arguments.positional.size() > 1) return "report.html";
  return (fs::path(arguments.positional.front()) / "report.html").string();
}

void write_report(const std::string& file, const std::string& html) {
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(file, ignored)) && !is_report(file)) {
    throw IoError("io.exists", clean(file) + " exists and is no report of Kiln", {}, "-o NEW.html");
  }
  write_file(file, html);
}

nlohmann::ordered_json report_json(const std::string& file, const Report& report,
                                   const std::vector<RunFiles>& runs) {
  nlohmann::ordered_json json = {{"schema", "kiln.report/1"},
                                 {"file", clean(file)},
                                 {"bytes", report.html.size()},
                                 {"sections", report.sections}};
  json["notes"] = nlohmann::json::array();
  for (const RunFiles& files : runs) {
    for (const std::string& note : files.notes) json["notes"].push_back(clean(note));
  }
  return json;
}

std::vector<RunFiles> read_runs(const Arguments& arguments) {
  std::vector<RunFiles> runs;
  const ReadDraws draws = arguments.positional.size() > 1 ? ReadDraws::no : ReadDraws::yes;
  for (const std::string& folder : arguments.positional) {
    const EndBySignal interruptible("reading " + clean(folder));
    runs.push_back(read_run_files(folder, draws));
  }
  return runs;
}

}  // namespace

std::string report_help() {
  return "usage: kiln report RUN... [options]\n\n" +
         paragraph(
             "Writes a report on a run as one HTML file, which needs no network: result, curves, "
             "ladder, front, posterior, model, costs, options and the command that repeats the "
             "run. RUN is a run folder; the run may be in progress. Several folders give a "
             "comparison. A run with -o writes its report itself.") +
         "\noptions:\n" + describe_options(report_specs()) +
         "\nexamples:\n"
         "  kiln report out/g22\n"
         "  kiln report out/seed-* -o comparison.html --target 13359\n";
}

ExitCode run_report(const Words& words) {
  const Arguments arguments = parse_arguments("report", words, report_specs(), max_runs);
  if (arguments.has("help")) {
    print_text(report_help());
    return ExitCode::ok;
  }
  if (arguments.positional.empty()) {
    throw InvalidArgument("cli.missing", "kiln report needs a run folder", {},
                          "kiln report out/g22");
  }
  const std::optional<double> target = target_of(arguments);
  const std::vector<RunFiles> runs = read_runs(arguments);
  const Report report = runs.size() == 1 ? report_on(runs.front()) : comparison_of(runs, target);
  const std::string file = output_of(arguments);
  if (file == "-") {
    print_result(report.html);
    return ExitCode::ok;
  }
  write_report(file, report.html);
  if (arguments.has("json")) {
    print_result(report_json(file, report, runs).dump() + "\n");
    return ExitCode::ok;
  }
  for (const RunFiles& files : runs) {
    for (const std::string& note : files.notes) print_text(fmt::format("note    {}\n", note));
  }
  print_text(fmt::format("report  {}   {}\n", clean(file), human_bytes(report.html.size())));
  return ExitCode::ok;
}

}  // namespace kiln::cli
