// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <utility>

#include "diagnosis/diagnosis.hpp"
#include "diagnosis/diagnosis_series.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

Json number_json(const Number& value) { return value ? Json(*value) : Json(nullptr); }

Json gaps_json(const Diagnosis& run) {
  const auto& beta = run.series.at("beta");
  Json gaps = Json::array();
  for (std::size_t r = 0; r + 1 < beta.size(); ++r) {
    gaps.push_back({{"rungs", {r, r + 1}},
                    {"beta", {number_json(beta[r]), number_json(beta[r + 1])}},
                    {"acceptance", number_json(run.series.at("acceptance")[r])},
                    {"rejection", number_json(run.series.at("rejection")[r])}});
  }
  return gaps;
}

Json rungs_json(const Diagnosis& run) {
  Json rungs = Json::array();
  for (std::size_t r = 0; r < rungs_of(run); ++r) {
    Json rung = {{"rung", r}};
    for (const std::string& name : columns_of_rungs(run)) {
      rung[name] = number_json(run.series.at(name)[r]);
    }
    rungs.push_back(std::move(rung));
  }
  return rungs;
}

}  // namespace

Json diagnosis_json(const Diagnosis& run) {
  Json json = {{"schema", "kiln.diagnosis/1"},
               {"source", run.source},
               {"problem", run.problem},
               {"schedule", run.schedule},
               {"stop", run.stop},
               {"best", number_json(run.best)},
               {"seed", run.seed},
               {"sweeps", run.sweeps},
               {"replicas", run.replicas}};
  json["diagnostics"] = Json::object();
  for (const auto& [name, value] : run.diagnostics) json["diagnostics"][name] = number_json(value);
  if (run.has_ladder()) {
    json["gaps"] = gaps_json(run);
    json["rungs"] = rungs_json(run);
  }
  if (!run.draws.empty()) {
    json["sample"] = run.sample;
    json["summary"] = run.summary;
  }
  json["series"] = Json::object();
  for (const auto& [name, values] : remaining_series(run)) {
    Json& list = json["series"][name] = Json::array();
    for (const Number& value : values) list.push_back(number_json(value));
  }
  json["advice"] = run.advice;
  return json;
}

}  // namespace kiln::cli
