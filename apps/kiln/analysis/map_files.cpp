// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/map_files.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "kiln/problems/csv.hpp"

#include "analysis/heat_map.hpp"
#include "analysis/link_graph.hpp"
#include "analysis/map_page.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string raw_name(const InformationMap& map, std::int32_t column) {
  const bool known = column >= 0 && static_cast<std::size_t>(column) < map.names.size();
  return known ? map.names[static_cast<std::size_t>(column)] : std::string();
}

std::string name_cell(const InformationMap& map, std::int32_t column) {
  return problems::csv_cell(escaped(raw_name(map, column)));
}

std::string cell(double value) { return std::isnan(value) ? "" : fmt::format("{}", value); }

Json number_json(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json text_json(const std::string& text) { return is_utf8(text) ? text : escaped(text); }

Json link_json(const InformationMap& map, const InformationLink& link) {
  const InformationEstimate& estimate = link.estimate;
  Json json = Json::object();
  if (has_source(map.measure)) json["source"] = text_json(raw_name(map, link.source));
  json["target"] = text_json(raw_name(map, link.target));
  json["lag"] = link.lag;
  json["value"] = number_json(estimate.value);
  json["spread"] = number_json(estimate.spread);
  json["status"] = name_of(estimate.status);
  json["points"] = estimate.points;
  json["k"] = estimate.k;
  if (is_tested(map)) {
    json["effective"] = number_json(estimate.effective);
    json["surrogate_mean"] = number_json(estimate.surrogate_mean);
    json["surrogate_deviation"] = number_json(estimate.surrogate_deviation);
    json["p"] = number_json(estimate.p_value);
    json["q"] = number_json(link.q_value);
    json["significant"] = link.significant;
  }
  if (!estimate.local.empty()) {
    Json& local = json["local"] = Json::array();
    for (const double value : estimate.local) local.push_back(number_json(value));
  }
  return json;
}

}  // namespace

std::string map_csv(const InformationMap& map) {
  std::string text =
      "source,target,lag,value,spread,effective,surrogate_mean,surrogate_deviation,p,q,"
      "significant,status,points,k\n";
  for (const InformationLink& link : map.links) {
    const InformationEstimate& estimate = link.estimate;
    text += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
        has_source(map.measure) ? name_cell(map, link.source) : "", name_cell(map, link.target),
        link.lag, cell(estimate.value), cell(estimate.spread), cell(estimate.effective),
        cell(estimate.surrogate_mean), cell(estimate.surrogate_deviation), cell(estimate.p_value),
        cell(link.q_value), is_tested(map) ? (link.significant ? "1" : "0") : "",
        name_of(estimate.status), estimate.points, estimate.k);
  }
  return text;
}

Json map_json(const InformationMap& map, const MapOrigin& origin) {
  Json json = {{"schema", "kiln.information/1"},        {"source", text_json(origin.name)},
               {"measure", kiln::name_of(map.measure)}, {"unit", "nats"},
               {"symmetric", is_symmetric(map)},        {"rows", map.rows}};
  Json& columns = json["columns"] = Json::array();
  for (const std::string& name : map.names) columns.push_back(text_json(name));
  json["surrogates"] = map.surrogates;
  json["false_discovery_rate"] = map.false_discovery_rate;
  Json& parameters = json["parameters"] = Json::object();
  for (const auto& [name, value] : origin.parameters) {
    parameters[text_json(name).get<std::string>()] = text_json(value);
  }
  Json& links = json["links"] = Json::array();
  for (const InformationLink& link : map.links) links.push_back(link_json(map, link));
  Json& notes = json["notes"] = Json::array();
  for (const std::string& note : map.notes) notes.push_back(text_json(note));
  return json;
}

std::vector<MapFile> map_files(const InformationMap& map, const MapOrigin& origin,
                               InformationUnit unit) {
  std::vector<MapFile> files{{"map.csv", map_csv(map)},
                             {"information.json", map_json(map, origin).dump(1) + "\n"},
                             {"heat_map.svg", heat_map_svg(map, unit)}};
  if (has_graph(map.measure)) files.push_back({"graph.svg", link_graph_svg(map, unit)});
  files.push_back({"report.html", map_page(map, origin, unit)});
  return files;
}

}  // namespace kiln::cli
