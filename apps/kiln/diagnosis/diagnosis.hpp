// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kiln::cli {

using Number = std::optional<double>;  ///< nothing where a result has null

/// What a result says of how its run went: the parts of kiln.result/2 or /1 that `diagnose` reads.
struct Diagnosis {
  std::string source;  ///< where the result was read from
  std::string problem, schedule, stop;
  std::string step = "sweep";  ///< what a step of the schedule is called
  std::uint64_t seed = 0;
  std::string value_name;  ///< what `best` is: "cut"
  std::string sense;       ///< "minimize", "maximize", or "" of a document that does not say it
  Number best;
  bool judges_draws = false;  ///< whether conditions on the draws could end the run
  double run_s = 0, to_best_s = 0;
  double attempts = 0, accepted = 0;
  std::int64_t sweeps = 0, replicas = 0;
  std::map<std::string, Number> diagnostics;
  std::map<std::string, std::vector<Number>> series;
  std::vector<std::pair<std::string, Number>> lengths;  ///< of a model, by variable
  std::string chosen;  ///< the member of a front that was handed out, for people, else ""
  std::vector<std::string> advice;
  nlohmann::json sample, summary;  ///< of a run that drew from a density, else null
  std::string draws;               ///< the same for people, else ""

  /// Whether the run was on ladders of temperatures: it has a barrier, and gaps between its rungs.
  bool has_ladder() const;
};

/// @throws nlohmann::json::exception if something is missing or of another type.
Diagnosis diagnosis_of(const nlohmann::json& result, const std::string& source);

/// For people: the summary of draws; tables of gaps and rungs, barrier, round trips and log Z of a
/// run on ladders; else tables of diagnostics and series, and of a model by variable. Advice
/// follows.
std::string diagnosis_text(const Diagnosis& run);

/// The same as a document, schema `kiln.diagnosis/1`.
nlohmann::ordered_json diagnosis_json(const Diagnosis& run);

}  // namespace kiln::cli
