// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "analysis/map_links.hpp"

namespace kiln::cli {

/// As many links a graph has at most: the strongest.
inline constexpr std::size_t max_graph_links = 200;

/// Whether links of this measure say which columns depend on which.
bool has_graph(InformationMeasure measure) noexcept;

/// The significant links of a map as a graph: an arrow from source to target, of several lags for
/// the strongest, as wide as the link is strong; lines without arrows where the map is symmetric.
/// Up to 12 columns are on a circle; of more, those with links are placed by forces. The same map
/// gives the same text.
/// @return an SVG document for a file, light and dark
std::string link_graph_svg(const InformationMap& map, InformationUnit unit);

/// The same as an element for a page, which names links under the pointer.
std::string link_graph_element(const InformationMap& map, InformationUnit unit);

}  // namespace kiln::cli
