// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "analysis/run/run_analysis.hpp"
#include "cli/document_file.hpp"
#include "output/atomic_file.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

const DocumentKind analysis_document{"analysis.json", "kiln.run_analysis/1", "",
                                     "what kiln analyze RUN wrote into a run folder",
                                     std::size_t{16} << 20};

Json number_json(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json estimate_json(const InformationEstimate& estimate) {
  return {{"nats", number_json(estimate.value)},
          {"effective", number_json(estimate.effective)},
          {"p_value", number_json(estimate.p_value)},
          {"status", name_of(estimate.status)},
          {"points", estimate.points},
          {"k", estimate.k}};
}

Json flow_json(std::int64_t from, std::int64_t to, const InformationLink& link) {
  Json json = {{"from", from}, {"to", to}};
  json.update(estimate_json(link.estimate));
  json["q_value"] = number_json(link.q_value);
  json["significant"] = link.significant;
  return json;
}

Json ladder_json(const LadderAnalysis& ladder) {
  Json json = {{"ladders", ladder.ladders},
               {"rungs", ladder.rungs},
               {"epochs", ladder.epochs},
               {"first_sweep", ladder.first_sweep},
               {"last_sweep", ladder.last_sweep()},
               {"sweeps_apart", ladder.sweeps_apart},
               {"p_value", number_json(ladder.p_value)},
               {"flow", Json::array()},
               {"memory", Json::array()}};
  for (std::size_t gap = 0; gap < ladder.up.size(); ++gap) {
    const auto rung = static_cast<std::int64_t>(gap);
    json["flow"].push_back(flow_json(rung, rung + 1, ladder.up[gap]));
    json["flow"].push_back(flow_json(rung + 1, rung, ladder.down[gap]));
  }
  for (std::size_t r = 0; r < ladder.memory.size(); ++r) {
    json["memory"].push_back({{"rung", r},
                              {"autocorrelation_sweeps", number_json(ladder.memory[r].sweeps)},
                              {"storage", estimate_json(ladder.memory[r].storage)}});
  }
  return json;
}

Json input_json(const RankedInput& input) {
  return {
      {"input", input.name}, {"nats", number_json(input.information)}, {"p_value", input.p_value}};
}

Json inputs_json(const InputRanking& inputs) {
  Json json = {{"evaluations", inputs.rows},
               {"failed", inputs.failed},
               {"used", inputs.used},
               {"inputs", inputs.inputs},
               {"value_is_constant", inputs.value_is_constant},
               {"matter", Json::array()},
               {"next", inputs.next.name.empty() ? Json(nullptr) : input_json(inputs.next)},
               {"constant", inputs.constant},
               {"not_numbers", inputs.not_numbers}};
  for (const RankedInput& input : inputs.matter) json["matter"].push_back(input_json(input));
  return json;
}

Json clones_json(const std::vector<Clones>& clones) {
  Json json = Json::array();
  for (const Clones& one : clones) {
    json.push_back({{"replicas", one.replicas},
                    {"since_sweep", one.since_sweep},
                    {"epochs", one.epochs},
                    {"changes", one.changes}});
  }
  return json;
}

}  // namespace

Json run_analysis_json(const RunAnalysis& run) {
  return {{"schema", analysis_document.schema},
          {"folder", run.folder},
          {"problem", run.problem},
          {"schedule", run.schedule},
          {"in_progress", run.under_way},
          {"sweeps", run.sweeps},
          {"surrogates", run.surrogates},
          {"significance", run.significance},
          {"ladder", run.ladder ? ladder_json(*run.ladder) : Json(nullptr)},
          {"clones", run.clones ? clones_json(*run.clones) : Json(nullptr)},
          {"inputs", run.inputs ? inputs_json(*run.inputs) : Json(nullptr)},
          {"notes", run.notes},
          {"advice", run.advice}};
}

void write_run_analysis(const RunAnalysis& run, const std::string& folder) {
  write_file(std::filesystem::path(folder) / analysis_document.file,
             document_text(run_analysis_json(run), 2) + "\n");
}

std::vector<std::string> advice_of_analysis(const std::string& folder) {
  const std::filesystem::path path = std::filesystem::path(folder) / analysis_document.file;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  const DocumentFile file = read_document(path.string(), analysis_document);
  std::vector<std::string> advice;
  try {
    const auto sweeps = file.json.at("sweeps").get<std::int64_t>();
    const std::string of = sweeps > 0 ? fmt::format(" (kiln analyze, of {} sweeps)", sweeps)
                                      : std::string(" (kiln analyze)");
    for (const auto& sentence : file.json.at("advice")) {
      advice.push_back(clean(sentence.get<std::string>()) + of);
    }
  } catch (const nlohmann::json::exception& error) {
    refuse_document(file, analysis_document, json_reason(error));
  }
  return advice;
}

}  // namespace kiln::cli
