// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analysis/map_links.hpp"

namespace kiln::cli {

/// All links of a map, one a line, in the order of the map. Information is in nats. What is not
/// known is an empty cell; an infinite value is `inf`.
std::string map_csv(const InformationMap& map);

/// The document `kiln.information/1`. Information is in nats. Numbers that are infinite or not
/// known are null; the status tells which.
nlohmann::ordered_json map_json(const InformationMap& map, const MapOrigin& origin);

/// A file of a folder.
struct MapFile {
  std::string name, content;
};

/// What `kiln analyze -o` writes of a map: map.csv, information.json, heat_map.svg, graph.svg if
/// the measure has_graph(), and report.html.
/// @param unit  of the pictures and the page
std::vector<MapFile> map_files(const InformationMap& map, const MapOrigin& origin,
                               InformationUnit unit);

}  // namespace kiln::cli
