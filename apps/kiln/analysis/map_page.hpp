// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analysis/map_links.hpp"

namespace kiln::cli {

/// A map as one HTML file of max_report_bytes at most: notes, graph, heat map, the strongest
/// links and the parameters. Pictures that are too large are left to their files.
std::string map_page(const InformationMap& map, const MapOrigin& origin, InformationUnit unit);

}  // namespace kiln::cli
