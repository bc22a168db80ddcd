// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kiln/telemetry/reader.hpp"

#include "report/draws_file.hpp"

namespace kiln::cli {

/// A row of trace.csv. A cell that is empty is NaN.
struct TraceRow {
  double time_s = 0, sweeps = 0, attempts = 0, best = 0, mean = 0;
  double acceptance_rate = 0, beta = 0, attempts_per_ns = 0;
};

/// A value that was the best of a run when it was found: a line of incumbents.ndjson, or where
/// there is no such file, a row of trace.csv with a better value than the rows before.
struct IncumbentRow {
  double time_s = 0, sweeps = 0, value = 0;
};

/// evaluations.csv of one objective: a row per evaluation, NaN for a value that failed.
struct EvaluationRows {
  std::vector<std::string> names;              ///< of the variables
  std::vector<std::vector<double>> variables;  ///< [variable][row], NaN for words
  std::vector<double> study, value, best;      ///< [row]; best may be empty
};

/// The files of a run folder, as far as they could be read.
struct RunFiles {
  std::string folder;           ///< as the user named it
  nlohmann::json run, result;   ///< result: null if the run has not written it
  std::vector<TraceRow> trace;  ///< in the order of time
  std::vector<nlohmann::json> events;
  std::vector<IncumbentRow> incumbents;
  std::optional<EvaluationRows> evaluations;
  std::optional<DrawsFile> draws;
  std::optional<TelemetryReader> telemetry;
  bool under_way = false;          ///< a process holds the lock of the folder
  std::vector<std::string> notes;  ///< one sentence per file that could not be read to its end
};

enum class ReadDraws { no, yes };

/// Reads a run folder without trusting it. Logs that end in an incomplete line, or turn into
/// nonsense, are read up to there; files of draws and evaluations that cannot be read are left out.
/// `notes` names each of them.
/// @throws InputError if there is no run.json; ParseError if run.json or result.json is no such
/// document.
/// @param draws  whether draws.npy and telemetry.bin are worth the time
RunFiles read_run_files(const std::string& folder, ReadDraws draws = ReadDraws::yes);

/// Whether a process holds the lock of a run folder.
bool is_under_way(const std::string& folder);

/// The member at the end of `path` if it is there and has the type; nothing otherwise.
std::optional<double> number_at(const nlohmann::json& json, const std::vector<const char*>& path);
/// The same of a text, without control characters.
std::optional<std::string> text_at(const nlohmann::json& json,
                                   const std::vector<const char*>& path);
/// The same of any member; null where it is not there.
const nlohmann::json& member_at(const nlohmann::json& json, const std::vector<const char*>& path);

}  // namespace kiln::cli
