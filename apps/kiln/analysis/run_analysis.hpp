// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kiln/backend.hpp"
#include "kiln/information/information_map.hpp"

#include "analysis/run_inputs.hpp"
#include "analysis/run_options.hpp"
#include "analysis/run_series.hpp"
#include "report/run_files.hpp"

namespace kiln::cli {

/// What a rung remembers of its energies.
struct RungMemory {
  double sweeps = 0;  ///< integrated autocorrelation time; NaN: the energy does not change
  InformationEstimate storage;  ///< what an energy says of the next one, an epoch later
};

/// The ladders of a tempering run: transfer entropies of energies between neighbouring rungs, an
/// epoch apart, all ladders together.
struct LadderAnalysis {
  std::int64_t ladders = 0, rungs = 0;
  std::int64_t epochs = 0, first_sweep = 0, sweeps_apart = 0;  ///< that the estimates are of
  std::vector<InformationLink> up;                             ///< [gap], rung r says of rung r + 1
  std::vector<InformationLink> down;                           ///< [gap], rung r + 1 says of rung r
  std::vector<RungMemory> memory;                              ///< [rung]

  std::int64_t significant_links() const;
};

/// What the files of a run say of information in it.
struct RunAnalysis {
  std::string folder, problem, schedule;
  bool under_way = false;
  std::int64_t sweeps = 0;  ///< of each replica, when the files were read; 0: no telemetry
  std::int64_t surrogates = 0;
  double significance = 0;
  std::optional<LadderAnalysis> ladder;
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

/// The flow and the memory of rungs. @param series  of a run on ladders, two rungs or more
LadderAnalysis analyze_ladder(const ReplicaSeries& series, const RunAnalysisOptions& options,
                              Backend& backend);

/// Epochs below which analyze_ladder() has nothing to say.
constexpr std::int64_t least_epochs = 64;

/// Advice on a run: sentences that say what to do.
std::vector<std::string> advice_of(const RunAnalysis& run);

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
