// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/information/series_analysis.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

#include "kiln/errors.hpp"

#include "idx.hpp"
#include "information/series_forecast.hpp"
#include "information/series_values.hpp"

namespace kiln {
namespace {

constexpr std::int64_t horizon_limit = 1000000;
constexpr std::int32_t order_limit = 200;
// A series of fewer autocorrelation times says little of its time.
constexpr double times_for_estimate = 50;

void require(const SeriesOptions& options) {
  if (options.horizon < 0 || options.horizon > horizon_limit) {
    throw InvalidArgument("series.horizon", "the horizon is " + std::to_string(options.horizon) +
                                                "; expected 0 to " + std::to_string(horizon_limit) +
                                                " rows");
  }
  if (options.max_order < 0 || options.max_order > order_limit) {
    throw InvalidArgument("series.order", "the largest order is " +
                                              std::to_string(options.max_order) +
                                              "; expected 0 to " + std::to_string(order_limit));
  }
}

void require_no_infinite(const SeriesColumn& column) {
  const auto found = std::ranges::find_if(column.values, [](double x) { return std::isinf(x); });
  if (found == column.values.end()) return;
  const auto row = found - column.values.begin() + 1;
  throw InvalidArgument("series.value", "column '" + column.name + "' is infinite in row " +
                                            std::to_string(row) + "; expected finite values");
}

// Begin and size of the longest run of values that are present, the first of several.
std::pair<std::int64_t, std::int64_t> longest_stretch(std::span<const double> values) {
  std::int64_t begin = 0, size = 0, from = 0;
  const auto rows = static_cast<std::int64_t>(values.size());
  for (std::int64_t t = 0; t <= rows; ++t) {
    if (t < rows && !std::isnan(values[idx(t)])) continue;
    if (t - from > size) {
      begin = from;
      size = t - from;
    }
    from = t + 1;
  }
  return {begin, size};
}

void add_too_short(const char* what, std::int64_t rows, std::int64_t needed,
                   SeriesAnalysis& analysis) {
  analysis.notes.push_back("no " + std::string(what) + ": " + std::to_string(rows) +
                           " rows without gaps, " + std::to_string(needed) + " are needed");
}

void add_autocorrelation_time(std::span<const double> stretch, SeriesAnalysis& analysis) {
  analysis.autocorrelation_time = autocorrelation_time(stretch);
  const auto rows = static_cast<double>(stretch.size());
  if (analysis.autocorrelation_time * times_for_estimate > rows) {
    analysis.notes.push_back(
        "the series is shorter than 50 autocorrelation times; the time may be longer than stated");
  }
}

void add_spectrum(std::span<const double> stretch, bool constant, SeriesAnalysis& analysis) {
  constexpr double drifts = 0.98;
  if (analysis.stretch_rows < min_rows_of_spectrum) {
    add_too_short("spectrum", analysis.stretch_rows, min_rows_of_spectrum, analysis);
  } else if (constant) {
    analysis.notes.push_back("no spectrum: constant");
  } else {
    analysis.spectrum = estimate_spectrum(stretch);
    if (analysis.spectrum->red_noise_coefficient < drifts) return;
    analysis.notes.push_back(
        "the column drifts like a random walk, so that its p-value is too small: analyse its "
        "differences");
  }
}

void add_change_points(std::span<const double> stretch, bool constant, SeriesAnalysis& analysis) {
  constexpr double strong = 0.9;
  if (analysis.stretch_rows < min_rows_of_changes) {
    return add_too_short("change points", analysis.stretch_rows, min_rows_of_changes, analysis);
  }
  if (constant) {
    analysis.notes.push_back("no change points: constant");
    return;
  }
  ChangePoints& found = analysis.change_points.emplace(find_change_points(stretch));
  for (ChangePoint& change : found.changes) change.row += analysis.stretch_begin;
  if (found.rows_per_block > 1) {
    analysis.notes.push_back("change points are located within " +
                             std::to_string(found.rows_per_block) + " rows");
  }
  if (found.autocorrelation > strong) {
    analysis.notes.push_back(
        "the noise is so strongly autocorrelated that drifts and change points look alike");
  }
}

// Whether squares of the values, and their sums, are within the range of doubles.
bool can_be_squared(const SeriesColumn& column) {
  constexpr double far = 1e120;
  double largest = 0;
  for (const double value : column.values) {
    if (!std::isnan(value)) largest = std::max(largest, std::abs(value));
  }
  return largest == 0 || (largest < far && largest > 1 / far);
}

SeriesAnalysis analysis_of(const SeriesColumn& column, const SeriesOptions& options) {
  SeriesAnalysis analysis;
  analysis.name = column.name;
  analysis.rows = static_cast<std::int64_t>(column.values.size());
  if (!can_be_squared(column)) {
    analysis.notes.push_back(
        "nothing is computed: squares of the values are beyond the range of doubles; multiply the "
        "column by a power of ten");
    return analysis;
  }
  const Moments moments = moments_of(column.values);
  analysis.missing = analysis.rows - moments.count;
  std::tie(analysis.stretch_begin, analysis.stretch_rows) = longest_stretch(column.values);
  if (moments.count == 0) {
    analysis.notes.push_back("no value is present");
    return analysis;
  }
  analysis.mean = moments.mean;
  analysis.deviation = moments.deviation;
  if (analysis.missing > 0) {
    analysis.notes.push_back(std::to_string(analysis.missing) + " of " +
                             std::to_string(analysis.rows) +
                             " rows are missing; the longest stretch without gaps is rows " +
                             std::to_string(analysis.stretch_begin + 1) + " to " +
                             std::to_string(analysis.stretch_begin + analysis.stretch_rows));
  }
  const std::span<const double> stretch =
      column.values.subspan(idx(analysis.stretch_begin), idx(analysis.stretch_rows));
  const bool constant = moments_of(stretch).constant;
  if (!constant) add_autocorrelation_time(stretch, analysis);
  if (options.spectrum) add_spectrum(stretch, constant, analysis);
  if (options.change_points) add_change_points(stretch, constant, analysis);
  return analysis;
}

}  // namespace

const char* name_of(SeriesModel model) noexcept {
  switch (model) {
    case SeriesModel::automatic:
      return "auto";
    case SeriesModel::autoregression:
      return "ar";
    case SeriesModel::local_level:
      return "level";
    case SeriesModel::local_trend:
      return "trend";
  }
  return "";
}

std::vector<SeriesAnalysis> analyze_series(Queue& queue, std::span<const SeriesColumn> columns,
                                           const SeriesOptions& options) {
  require(options);
  std::vector<SeriesAnalysis> analyses;
  std::vector<ForecastRequest> requests;
  std::vector<std::size_t> requested;  // the column of each
  for (const SeriesColumn& column : columns) {
    require_no_infinite(column);
    const SeriesAnalysis& analysis = analyses.emplace_back(analysis_of(column, options));
    if (!can_be_squared(column)) continue;
    requested.push_back(analyses.size() - 1);
    requests.push_back({column.values, column.values.subspan(idx(analysis.stretch_begin),
                                                             idx(analysis.stretch_rows))});
  }
  if (options.horizon == 0) return analyses;
  std::vector<ForecastAnswer> answers = forecast_columns(queue, requests, options);
  for (std::size_t i = 0; i < requested.size(); ++i) {
    SeriesAnalysis& analysis = analyses[requested[i]];
    analysis.forecast = std::move(answers[i].forecast);
    std::ranges::move(answers[i].notes, std::back_inserter(analysis.notes));
  }
  return analyses;
}

}  // namespace kiln
