// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "information/series_forecast.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kiln/queue.hpp"

#include "idx.hpp"
#include "information/series_values.hpp"

namespace kiln {
namespace {

// The models of one column, of which the best stays.
struct Candidates {
  std::size_t column = 0;
  std::optional<Autoregression> autoregression;
  std::vector<SeriesForecast> forecasts;
  std::vector<StructuralFit> structural;
};

bool wants(const SeriesOptions& options, SeriesModel model) {
  return options.model == SeriesModel::automatic || options.model == model;
}

// The coefficients come from the longest stretch, and the forecast starts at the last rows.
std::optional<Autoregression> autoregression_of(const ForecastRequest& column,
                                                const SeriesOptions& options,
                                                std::vector<std::string>& notes) {
  const auto stretch = static_cast<std::int64_t>(column.stretch.size());
  if (stretch < min_rows_of_fit || moments_of(column.stretch).constant) {
    notes.push_back("no autoregression: no stretch of " + std::to_string(min_rows_of_fit) +
                    " different values without gaps");
    return std::nullopt;
  }
  Autoregression model = fit_autoregression(column.stretch, options.max_order);
  const std::span<const double> last = column.values.last(idx(model.order()));
  const auto gaps = std::ranges::count_if(last, [](double x) { return std::isnan(x); });
  if (gaps == 0) return model;
  notes.push_back("no autoregression: " + std::to_string(gaps) + " of the last " +
                  std::to_string(model.order()) + " rows, on which it builds, are missing");
  return std::nullopt;
}

// Rows that all candidates of a column predict: present, with `order` rows before them present,
// and two rows at least that the structural models have given up for their prior.
std::vector<std::int64_t> common_rows(std::span<const double> values, std::int64_t first_row,
                                      std::int64_t order) {
  std::vector<std::int64_t> rows;
  std::int64_t present = 0, in_row = 0;
  for (std::int64_t t = 0; t < static_cast<std::int64_t>(values.size()); ++t) {
    if (std::isnan(values[idx(t)])) {
      in_row = 0;
      continue;
    }
    if (t >= first_row && present >= 2 && in_row >= order) rows.push_back(t);
    if (t >= first_row) ++present;
    ++in_row;
  }
  return rows;
}

double aicc_of_autoregression(const Autoregression& model, std::span<const double> values,
                              const std::vector<std::int64_t>& rows) {
  double squares = 0;
  for (const std::int64_t t : rows) {
    double rest = values[idx(t)] - model.coefficients[0];
    for (std::int64_t i = 1; i <= model.order(); ++i) {
      rest -= model.coefficients[idx(i)] * values[idx(t - i)];
    }
    squares += rest * rest;
  }
  const auto n = static_cast<std::int64_t>(rows.size());
  const double variance =
      std::max(squares / static_cast<double>(n), std::numeric_limits<double>::min());
  return aicc_of(variance, n, model.order() + 2);
}

// Parameters are the ratios, the noise variance and the initial state.
double aicc_of_structural(const StructuralFit& fit, std::span<const double> values,
                          const std::vector<std::int64_t>& rows) {
  double squares = 0, logs = 0;
  for (const std::int64_t t : rows) {
    const std::size_t at = idx(t - fit.first_row);
    const double deviation = std::max(fit.deviation[at], std::numeric_limits<double>::min());
    const double scaled = (values[idx(t)] - fit.predicted[at]) / deviation;
    squares += scaled * scaled;
    logs += 2 * std::log(deviation);
  }
  const auto n = static_cast<std::int64_t>(rows.size());
  const double variance =
      std::max(squares / static_cast<double>(n), std::numeric_limits<double>::min());
  return logs + aicc_of(variance, n, fit.model == SeriesModel::local_trend ? 5 : 3);
}

SeriesForecast forecast_of(const StructuralFit& fit, std::int64_t horizon) {
  SeriesForecast forecast;
  forecast.model = fit.model;
  forecast.level_ratio = fit.level_ratio;
  forecast.slope_ratio = fit.slope_ratio;
  forecast.noise_variance = fit.noise_variance;
  for (std::size_t at = fit.predicted.size() - idx(horizon); at < fit.predicted.size(); ++at) {
    const double half = band_quantile * fit.deviation[at];
    forecast.mean.push_back(fit.predicted[at]);
    forecast.lower.push_back(fit.predicted[at] - half);
    forecast.upper.push_back(fit.predicted[at] + half);
  }
  return forecast;
}

void add_autoregressions(Queue& queue, const std::vector<ForecastRequest>& columns,
                         std::int64_t horizon, std::vector<Candidates>& all) {
  std::vector<std::span<const double>> series;
  std::vector<Autoregression> models;
  for (const Candidates& candidates : all) {
    if (!candidates.autoregression) continue;
    series.push_back(columns[candidates.column].values);
    models.push_back(*candidates.autoregression);
  }
  if (models.empty()) return;
  std::vector<SeriesForecast> forecasts = forecast_autoregressions(queue, series, models, horizon);
  auto next = forecasts.begin();
  for (Candidates& candidates : all) {
    if (candidates.autoregression) candidates.forecasts.push_back(std::move(*next++));
  }
}

void add_structural(Queue& queue, const std::vector<ForecastRequest>& columns, SeriesModel model,
                    std::int64_t horizon, std::vector<Candidates>& all) {
  std::vector<std::span<const double>> series;
  for (const Candidates& candidates : all) series.push_back(columns[candidates.column].values);
  std::vector<StructuralFit> fits = fit_structural(queue, series, model, horizon);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].structural.push_back(std::move(fits[i]));
}

// Compares the models of a column on the rows that all predict.
SeriesForecast best_of(Candidates candidates, std::span<const double> values,
                       std::int64_t horizon) {
  const Autoregression* const model =
      candidates.autoregression ? &*candidates.autoregression : nullptr;
  const std::int64_t first_row =
      candidates.structural.empty() ? 0 : candidates.structural.front().first_row;
  const std::vector<std::int64_t> rows =
      common_rows(values, first_row, model != nullptr ? model->order() : 0);
  if (model != nullptr) {
    candidates.forecasts.front().aicc = aicc_of_autoregression(*model, values, rows);
  }
  for (const StructuralFit& fit : candidates.structural) {
    candidates.forecasts.push_back(forecast_of(fit, horizon));
    candidates.forecasts.back().aicc = aicc_of_structural(fit, values, rows);
  }
  return *std::ranges::min_element(candidates.forecasts, {}, &SeriesForecast::aicc);
}

}  // namespace

std::vector<ForecastAnswer> forecast_columns(Queue& queue,
                                             const std::vector<ForecastRequest>& columns,
                                             const SeriesOptions& options) {
  std::vector<ForecastAnswer> answers(columns.size());
  std::vector<Candidates> all;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Moments moments = moments_of(columns[c].values);
    std::vector<std::string>& notes = answers[c].notes;
    if (moments.count > 0 && moments.constant) {
      notes.push_back("no forecast: constant");
      continue;
    }
    if (moments.count < min_rows_of_fit) {
      notes.push_back("no forecast: " + std::to_string(moments.count) + " rows are present, " +
                      std::to_string(min_rows_of_fit) + " are needed");
      continue;
    }
    Candidates candidates;
    candidates.column = c;
    if (wants(options, SeriesModel::autoregression)) {
      candidates.autoregression = autoregression_of(columns[c], options, notes);
      if (!candidates.autoregression && options.model != SeriesModel::automatic) continue;
    }
    all.push_back(std::move(candidates));
  }
  if (all.empty()) return answers;
  add_autoregressions(queue, columns, options.horizon, all);
  for (const SeriesModel model : {SeriesModel::local_level, SeriesModel::local_trend}) {
    if (wants(options, model)) add_structural(queue, columns, model, options.horizon, all);
  }
  for (Candidates& candidates : all) {
    const std::size_t c = candidates.column;
    answers[c].forecast = best_of(std::move(candidates), columns[c].values, options.horizon);
  }
  return answers;
}

}  // namespace kiln
