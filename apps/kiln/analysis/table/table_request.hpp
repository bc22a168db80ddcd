// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kiln/information/options.hpp"
#include "kiln/information/series_analysis.hpp"
#include "kiln/problems/numeric_table.hpp"

#include "analysis/map_links.hpp"
#include "cli/arguments.hpp"

namespace kiln::cli {

/// What `kiln analyze FILE` is to do.
struct TableRequest {
  std::string file;
  problems::NumericTableOptions reading;
  std::vector<std::string> sources, targets, conditions;  ///< names, or numbers from 1
  bool whole_map = false;
  std::vector<InformationMeasure> measures;  ///< none: series alone
  InformationOptions options;                ///< its measure is one of `measures` in turn
  std::optional<std::int64_t> surrogates;    ///< as given
  bool series = false;                       ///< whether columns are also analysed as series
  SeriesOptions series_options;
  InformationUnit unit = InformationUnit::nats;
};

/// Options of `kiln analyze` for tables.
const std::vector<OptionSpec>& table_specs();

/// @throws InvalidArgument for values that are none, and for options that contradict each other
TableRequest table_request(const Arguments& arguments);

/// The places of columns in a table, from their names or their numbers in the file.
/// @throws InvalidArgument with the nearest name
std::vector<std::int32_t> column_places(const std::vector<std::string>& wanted,
                                        const problems::NumericTable& table);

}  // namespace kiln::cli
