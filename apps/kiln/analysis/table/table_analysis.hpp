// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "kiln/backend.hpp"
#include "kiln/information/information_map.hpp"
#include "kiln/information/series_analysis.hpp"

#include "analysis/map_links.hpp"
#include "analysis/table/table_request.hpp"

namespace kiln::cli {

/// What was found in a table.
struct TableAnalysis {
  std::string file;
  std::int64_t rows = 0;
  std::vector<std::string> names;  ///< of the columns
  std::vector<std::string> notes;  ///< of the reader
  std::vector<InformationMap> maps;
  std::vector<SeriesAnalysis> series;
  MapOrigin origin;
};

/// Reads a table and does what is asked for.
/// @throws as read_numeric_table(), estimate_information() and analyze_series()
TableAnalysis analyze_table(const TableRequest& request, Backend& backend);

/// For people. @param directory  where files were written; "" for nowhere
std::string table_analysis_text(const TableAnalysis& analysis, const TableRequest& request,
                                const std::string& directory, std::size_t columns);
/// For programs, schema `kiln.analysis/1`.
nlohmann::ordered_json table_analysis_json(const TableAnalysis& analysis);

/// Writes the files of maps and series to a new folder. @throws IoError
void write_table_analysis(const TableAnalysis& analysis, const TableRequest& request,
                          const std::string& directory);

}  // namespace kiln::cli
