// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "analysis/map_links.hpp"

namespace kiln::cli {

/// As many sources and targets a heat map has at most; of more, those with the strongest links.
inline constexpr std::size_t max_heat_map_columns = 64;

/// A map as a matrix: a row for each source, a column for each target; one row for a measure of
/// single columns. A cell shows the strongest link between both, of several lags the one with the
/// largest effective value; it is hatched if that link is not significant. Of a symmetric map both
/// halves are shown. The same map gives the same text.
/// @return an SVG document for a file, light and dark
std::string heat_map_svg(const InformationMap& map, InformationUnit unit);

/// The same as an element for a page, which names the strongest cells under the pointer; "" for a
/// map without links.
std::string heat_map_element(const InformationMap& map, InformationUnit unit);

}  // namespace kiln::cli
