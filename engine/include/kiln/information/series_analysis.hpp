// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

class Queue;

/// The model that forecasts a series.
enum class SeriesModel : std::uint8_t {
  automatic,       ///< the one of the others with the least AICc of its one-step innovations
  autoregression,  ///< x[t] = c + a_1 x[t - 1] + ... + a_p x[t - p] + noise
  local_level,     ///< a random walk observed with noise
  local_trend      ///< a random walk with a drift that is a random walk, observed with noise
};

/// The name of a model on the command line: "auto", "ar", "level", "trend".
KILN_API const char* name_of(SeriesModel model) noexcept;

/// Consecutive values of one quantity, one a row. NaN: the row is missing.
struct SeriesColumn {
  std::string name;
  std::span<const double> values;
};

/// What analyze_series() computes.
struct SeriesOptions {
  std::int64_t horizon = 0;  ///< rows to forecast; 0: no forecast
  SeriesModel model = SeriesModel::automatic;
  std::int32_t max_order = 0;  ///< of the autoregression; 0: 10 log10(rows)
  bool spectrum = false;
  bool change_points = false;
};

/// An autoregression fitted to a series without gaps.
struct Autoregression {
  std::vector<double> coefficients;  ///< c, a_1, ..., a_p; c in units of the values
  double innovation_variance = 0;    ///< squared units of the values
  double mean = 0;                   ///< of the values
  std::int64_t rows = 0;             ///< that it was fitted to
  /// Covariance of the estimates of a_1 ... a_p, [p][p]: s^2 / n times the inverse of the
  /// autocovariances. That of the level c + sum a_i mean is s^2 / n, independent of these.
  std::vector<double> covariance;

  std::int32_t order() const noexcept { return static_cast<std::int32_t>(coefficients.size()) - 1; }
};

/// Fits autoregressions of the orders 0 to `max_order` by the method of Burg, and returns the one
/// with the least AICc. The order is at most a third of the rows.
/// @param values  finite, not all equal
/// @param max_order  0: 10 log10(rows)
/// @throws InvalidArgument with fewer than 8 values, or if they are all equal.
/// @par Source  Burg (1975), Maximum Entropy Spectral Analysis; Hurvich, Tsai, Biometrika 76
/// (1989) 297 (AICc).
KILN_API Autoregression fit_autoregression(std::span<const double> values,
                                           std::int32_t max_order = 0);

/// A forecast of a series, with bands that hold 90 % of what may come if the model is right.
struct SeriesForecast {
  SeriesModel model = SeriesModel::autoregression;
  std::int32_t order = 0;            ///< of an autoregression
  std::vector<double> coefficients;  ///< of an autoregression, see Autoregression
  /// Variances of the noises of level and slope over that of the observations; 0 in other models.
  double level_ratio = 0, slope_ratio = 0;
  /// Variance of the innovations of an autoregression, or of the noise of observations.
  double noise_variance = 0;
  double aicc = 0;                         ///< on the rows that all candidates predict
  std::vector<double> mean, lower, upper;  ///< [horizon]
};

/// Forecasts series without gaps by their autoregressions, all in one launch of `ar_forecast`.
///
/// The bands contain the variance of the innovations and, to first order, the uncertainty of the
/// coefficients and of the mean.
/// @param queue  of the device that forecasts
/// @param series  as many as `models`, the values that each was fitted to
/// @param models  one for each series
/// @param horizon  rows to forecast
/// @throws InvalidArgument if the numbers differ or the horizon is not positive.
KILN_API std::vector<SeriesForecast> forecast_autoregressions(
    Queue& queue, std::span<const std::span<const double>> series,
    std::span<const Autoregression> models, std::int64_t horizon);

/// A local level or local trend in a series, and the predictions of its Kalman filter.
struct StructuralFit {
  SeriesModel model = SeriesModel::local_level;
  double level_ratio = 0, slope_ratio = 0;  ///< variances of noises over `noise_variance`
  double noise_variance = 0;                ///< of the observations
  std::int64_t first_row = 0;               ///< of the series that the filter has read
  /// One-step predictions of the rows from first_row on and, behind them, the forecast of the
  /// horizon; and the standard deviations of their errors. Rows of a gap are predicted from the
  /// rows before the gap.
  std::vector<double> predicted, deviation;
};

/// Fits local levels or local trends to series by maximum likelihood of the ratios of variances,
/// and filters each series with the best. The noise variance is concentrated out, and the prior of
/// the state is diffuse.
///
/// The search evaluates grids of ratios, each finer than the one before; all filters of a grid and
/// of all series go through `kalman_step` in one launch. Only the last 8192 rows are read. The
/// uncertainty of the ratios is not in the deviations.
/// @param queue  of the device that filters
/// @param series  values of each, NaN: missing
/// @param model  local_level or local_trend
/// @param horizon  rows to forecast behind the series; 0: none
/// @throws InvalidArgument for another model, a negative horizon, or a series with fewer than 8
/// values that are present, or with equal ones alone.
/// @par Source  Harvey, Forecasting, Structural Time Series Models and the Kalman Filter (1989).
KILN_API std::vector<StructuralFit> fit_structural(Queue& queue,
                                                   std::span<const std::span<const double>> series,
                                                   SeriesModel model, std::int64_t horizon);

/// A row at which the mean of a series changes.
struct ChangePoint {
  std::int64_t row = 0;                              ///< the first row of the new segment, from 0
  double mean_before = 0, mean_after = 0;            ///< of the segments on either side
  double deviation_before = 0, deviation_after = 0;  ///< standard deviations within them
};

/// What changes at a change point.
enum class ChangeKind : std::uint8_t { mean, mean_and_variance };

/// Change points in a series without gaps.
struct ChangePoints {
  std::vector<ChangePoint> changes;
  /// Lag-one autocorrelation of the noise, estimated from differences, which changes of the mean
  /// hardly touch; between 0 and 0.99.
  double autocorrelation = 0;
  std::int64_t rows_per_block = 1;  ///< a change is located up to so many rows
};

/// Finds changes by exact optimal partitioning with pruning (PELT).
///
/// The cost of a segment is its sum of squares about its mean over the long-run variance of the
/// noise, or with `mean_and_variance` n log of its variance, divided by the autocorrelation time.
/// The noise is taken as an autoregression of order 1, whose coefficient and variance come from
/// trimmed variances of differences. Each change costs 3 log n, or 4 log n if the variance changes
/// too. Segments have 3 rows at least, or 10. More than 20,000 values are averaged in blocks first.
/// @param values  finite
/// @param kind  what changes
/// @throws InvalidArgument with fewer than 20 values.
/// @par Source  Killick, Fearnhead, Eckley, JASA 107 (2012) 1590; Zhang, Siegmund, Biometrics 63
/// (2007) 22 (penalty); Chakar et al., Bernoulli 23 (2017) 1408 (autocorrelation by differences).
KILN_API ChangePoints find_change_points(std::span<const double> values,
                                         ChangeKind kind = ChangeKind::mean);

/// A one-sided power spectrum.
struct Spectrum {
  std::vector<double> frequency;     ///< cycles per row, from 0 to 1/2
  std::vector<double> power;         ///< squared units of the values per cycle per row
  std::vector<double> red_noise;     ///< power of red noise that fits best
  double red_noise_coefficient = 0;  ///< of its autoregression of order 1
  double dominant_period = std::numeric_limits<double>::quiet_NaN();  ///< rows
  double dominant_power = 0;
  /// Probability that red noise alone has a frequency that exceeds its spectrum so far.
  double p_value = 1;
};

/// Estimates the spectrum of a series without gaps about its regression line with five sine tapers.
/// The integral over frequencies is the variance about the line.
///
/// The dominant period is the maximum whose power exceeds that of red noise the most; NaN if there
/// is no maximum, as for a line. The red noise is the autoregression of order 1 whose spectrum is
/// closest to the estimate in mean absolute logarithm, so that a few peaks do not count. The
/// p-value takes the ratio as chi-squared with 10 degrees of freedom at half as many independent
/// frequencies as there are rows.
/// @param values  finite, not all equal
/// @throws InvalidArgument with fewer than 32 values, or if they are all equal.
/// @par Source  Riedel, Sidorenko, IEEE Trans. Signal Process. 43 (1995) 188 (tapers); Mann, Lees,
/// Climatic Change 33 (1996) 409 (robust red noise).
KILN_API Spectrum estimate_spectrum(std::span<const double> values);

/// Integrated autocorrelation time 1 + 2 (rho_1 + rho_2 + ...) in rows, by the initial monotone
/// sequence of effective_draws(); NaN for fewer than 8 or equal values.
KILN_API double autocorrelation_time(std::span<const double> values);

/// What the analysis says of one column.
struct SeriesAnalysis {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();

  std::string name;
  std::int64_t rows = 0, missing = 0;
  /// The longest stretch without gaps, from which all but structural models are estimated.
  std::int64_t stretch_begin = 0, stretch_rows = 0;
  double mean = none, deviation = none;  ///< of the values that are present
  double autocorrelation_time = none;    ///< rows
  std::optional<SeriesForecast> forecast;
  std::optional<Spectrum> spectrum;
  std::optional<ChangePoints> change_points;
  std::vector<std::string> notes;  ///< what the reader should know, one sentence each
};

/// Analyses columns as series in time: autocorrelation times, and what the options ask for. What a
/// column is too short or too constant for is left out, and a note says why.
///
/// @throws InvalidArgument for a horizon outside 0 .. 1,000,000, an order outside 0 .. 200, or a
/// value that is infinite.
KILN_API std::vector<SeriesAnalysis> analyze_series(Queue& queue,
                                                    std::span<const SeriesColumn> columns,
                                                    const SeriesOptions& options);

}  // namespace kiln
