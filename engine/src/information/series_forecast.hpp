// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kiln/information/series_analysis.hpp"

namespace kiln {

/// One column whose forecast is asked for.
struct ForecastRequest {
  std::span<const double> values;   ///< NaN: missing
  std::span<const double> stretch;  ///< the longest without gaps
};

/// The forecast of one column, and what the reader should know.
struct ForecastAnswer {
  std::optional<SeriesForecast> forecast;
  std::vector<std::string> notes;
};

/// Forecasts columns by the model of the options, or by the one with the least AICc.
std::vector<ForecastAnswer> forecast_columns(Queue& queue,
                                             const std::vector<ForecastRequest>& columns,
                                             const SeriesOptions& options);

}  // namespace kiln
