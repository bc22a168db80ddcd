// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "kiln/information/series_analysis.hpp"

namespace kiln::cli {

/// Analyses of columns for people: a table of the columns, then the forecasts, periods, change
/// points and notes of each. Rows count from 1.
///
/// @param whole  all steps of forecasts and all change points, else the first ten of each.
/// @param columns  width of the terminal, in characters.
std::string series_text(const std::vector<SeriesAnalysis>& analyses, bool whole,
                        std::size_t columns = 79);

/// The same for programs: an array with an object for each column. Rows count from 1, and what is
/// unknown is null. Spectra have up to 1024 frequencies, each the mean of a band.
nlohmann::ordered_json series_json(const std::vector<SeriesAnalysis>& analyses);

}  // namespace kiln::cli
