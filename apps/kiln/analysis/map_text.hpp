// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "analysis/map_links.hpp"

namespace kiln::cli {

/// How the table of a map is printed.
struct MapTextOptions {
  InformationUnit unit = InformationUnit::nats;
  std::size_t columns = 79;  ///< of a line
  bool whole = false;        ///< all links, however many; else the strongest of many
  std::string file{};        ///< that lists all links: "out/map.csv"; "" for none
};

/// The map for a terminal: the measure, what it is from, a table with the strongest link first, and
/// the notes. Significant links begin with `*`. Rows fit into the columns: names that are too long
/// lose their middle, but keep eight characters.
std::string map_text(const InformationMap& map, const MapTextOptions& options);

}  // namespace kiln::cli
