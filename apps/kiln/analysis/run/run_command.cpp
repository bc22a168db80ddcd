// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/run/run_command.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "kiln/engine.hpp"

#include "analysis/analyze_options.hpp"
#include "analysis/run/run_analysis.hpp"
#include "output/console.hpp"
#include "output/text.hpp"
#include "run/interruption.hpp"
#include "run/waiting.hpp"

namespace kiln::cli {
namespace {

RunAnalysisOptions analysis_options_of(const Arguments& arguments) {
  constexpr std::int64_t min_surrogates = 20, max_surrogates = 10000;
  constexpr std::int64_t max_points = 2000000;
  RunAnalysisOptions options;
  options.surrogates =
      count_option(arguments, "surrogates", min_surrogates, max_surrogates, options.surrogates);
  options.points = count_option(arguments, "rows", min_epochs, max_points, options.points);
  if (arguments.has("fdr")) options.significance = rate_option(arguments);
  options.seed = device_options(arguments).seed;
  return options;
}

// A folder of somebody else can be read all the same.
void keep_analysis(RunAnalysis& run, const std::string& folder) {
  try {
    write_run_analysis(run, folder);
  } catch (const IoError& error) {
    run.notes.push_back("analysis.json was not written, so that kiln diagnose does not quote it: " +
                        clean(error.message()));
  }
}

}  // namespace

bool is_run_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(std::filesystem::path(path) / "run.json", ignored);
}

ExitCode analyze_run_folder(const Arguments& arguments) {
  const std::string& folder = arguments.positional.front();
  const RunAnalysisOptions options = analysis_options_of(arguments);
  const EndBySignal interruptible("analysing " + clean(folder));
  const RunOptions device = device_options(arguments);
  const OpenedBackend opened = open_backend(device.device, device.threads);
  std::optional<RunAnalysis> run;
  {
    const Waiting waiting("analysing " + clean(folder));
    run = analyze_run(folder, options, *opened.backend);
  }
  keep_analysis(*run, folder);
  if (arguments.has("json")) {
    print_result(run_analysis_json(*run).dump() + "\n");
  } else {
    print_text(run_analysis_text(*run));
  }
  return ExitCode::ok;
}

}  // namespace kiln::cli
