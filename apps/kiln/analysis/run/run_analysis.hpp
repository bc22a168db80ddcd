// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kiln/backend.hpp"

#include "analysis/run/ladder_analysis.hpp"
#include "analysis/run/run_exchange.hpp"
#include "analysis/run/run_inputs.hpp"
#include "analysis/run/run_options.hpp"
#include "analysis/run/run_series.hpp"
#include "report/run_files.hpp"

namespace kiln::cli {

/// What the files of a run say of information in it.
struct RunAnalysis {
  std::string folder, problem, schedule;
  bool under_way = false;
  std::int64_t sweeps = 0;  ///< of each replica, when the files were read; 0: no telemetry
  std::int64_t surrogates = 0;
  double significance = 0;
  std::optional<LadderAnalysis> ladder;
  Exchange exchange;
  Recording recording;
  std::optional<std::vector<Clones>> clones;  ///< nothing: replicas were not recorded
  std::int64_t replicas = 0;
  std::optional<InputRanking> inputs;
  std::vector<std::string> notes;   ///< what could not be analysed, and what would help
  std::vector<std::string> advice;  ///< sentences, which `kiln diagnose` repeats
};

/// Reads and analyses a run folder, also while another process writes it.
/// @throws InputError if there is no run, or nothing in its files to analyse; `analyze.*`
RunAnalysis analyze_run(const std::string& folder, const RunAnalysisOptions& options,
                        Backend& backend);
/// The same of files that were read.
RunAnalysis analyze_run(const RunFiles& files, const RunAnalysisOptions& options, Backend& backend);

/// Advice on a run: sentences that say what to do.
std::vector<std::string> advice_of(const RunAnalysis& run);

/// "later epochs are thinned ...: record with --telemetry-budget 512Mi ...", without a full stop.
std::string budget_advice(const Recording& recording);

/// For people, at most 80 columns wide.
std::string run_analysis_text(const RunAnalysis& run);

/// The same as a document, schema `kiln.run_analysis/1`.
nlohmann::ordered_json run_analysis_json(const RunAnalysis& run);

/// Writes the document to analysis.json in the run folder. @throws IoError
void write_run_analysis(const RunAnalysis& run, const std::string& folder);

/// The advice in analysis.json of a run folder, for `kiln diagnose`: each sentence with the sweeps
/// that it is of. Empty without such a file.
/// @throws InputError, ParseError if the file is no such document
std::vector<std::string> advice_of_analysis(const std::string& folder);

}  // namespace kiln::cli
