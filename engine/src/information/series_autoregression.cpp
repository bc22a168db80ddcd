// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/errors.hpp"
#include "kiln/information/series_analysis.hpp"
#include "kiln/kernels/information/ar_forecast.hpp"
#include "kiln/queue.hpp"

#include "idx.hpp"
#include "information/series_values.hpp"
#include "statistics/autocovariance.hpp"

namespace kiln {
namespace {

// Errors of this share of the variance are rounding: the series follows the recursion exactly.
constexpr double exact_share = 1e-14;

// The recursion of Burg, order by order, on values about their mean.
class Burg {
 public:
  explicit Burg(std::vector<double> centered) : forward_(std::move(centered)), backward_(forward_) {
    for (const double x : forward_) variance_ += x * x;
    variance_ /= static_cast<double>(forward_.size());
    least_ = exact_share * variance_;
  }

  /// Of the prediction error at the present order.
  double variance() const { return variance_; }
  const std::vector<double>& coefficients() const { return coefficients_; }

  /// Raises the order by one; false if the errors vanish.
  bool raise() {
    const std::size_t n = forward_.size(), order = coefficients_.size() + 1;
    double product = 0, squares = 0;
    for (std::size_t t = order; t < n; ++t) {
      product += forward_[t] * backward_[t - 1];
      squares += forward_[t] * forward_[t] + backward_[t - 1] * backward_[t - 1];
    }
    if (!(squares > 0) || variance_ <= least_) return false;
    const double reflection = 2 * product / squares;
    for (std::size_t t = n - 1; t >= order; --t) {
      const double ahead = forward_[t], behind = backward_[t - 1];
      forward_[t] = ahead - reflection * behind;
      backward_[t] = behind - reflection * ahead;
    }
    std::vector<double> raised = coefficients_;
    for (std::size_t i = 0; i < coefficients_.size(); ++i) {
      raised[i] -= reflection * coefficients_[coefficients_.size() - 1 - i];
    }
    raised.push_back(reflection);
    coefficients_ = std::move(raised);
    variance_ = std::max(variance_ * (1 - reflection * reflection), least_);
    return true;
  }

 private:
  std::vector<double> forward_, backward_, coefficients_;
  double variance_ = 0, least_ = 0;
};

std::int64_t limit_of_order(std::int64_t rows, std::int32_t max_order) {
  const auto usual = static_cast<std::int64_t>(10 * std::log10(static_cast<double>(rows)));
  return std::min<std::int64_t>(max_order > 0 ? max_order : usual, rows / 3);
}

// s^2 / n times the inverse of the autocovariances at lags 0 to p - 1.
std::vector<double> covariance_of(std::span<const double> values, const Autoregression& model) {
  const std::int64_t p = model.order();
  Autocovariance lags({values, 1, model.rows});
  std::vector<double> lower(idx(p * p));
  for (std::int64_t i = 0; i < p; ++i) {
    for (std::int64_t j = 0; j < p; ++j) lower[idx(i * p + j)] = lags(std::abs(i - j));
  }
  if (!factorize_in_place(lower, p)) return std::vector<double>(idx(p * p), 0.0);
  std::vector<double> covariance = inverse_of_square(lower, p);
  for (double& c : covariance) c *= model.innovation_variance / static_cast<double>(model.rows);
  return covariance;
}

// Adds to each variance what the estimates contribute: g' C g, where g is the derivative of the
// forecast after the coefficients, about the mean.
void add_uncertainty_of_estimates(const Autoregression& model, std::span<const double> values,
                                  const SeriesForecast& forecast, std::vector<double>& variance) {
  const std::int64_t p = model.order(), horizon = static_cast<std::int64_t>(variance.size());
  const auto n = static_cast<std::int64_t>(values.size());
  std::vector<double> by_level(idx(horizon));            // d forecast / d level
  std::vector<double> by_coefficient(idx(horizon * p));  // [horizon][p]
  const auto value_at = [&](std::int64_t h) {
    return (h < 0 ? values[idx(n + h)] : forecast.mean[idx(h)]) - model.mean;
  };
  for (std::int64_t h = 0; h < horizon; ++h) {
    double level = 1;
    for (std::int64_t i = 1; i <= p; ++i) {
      by_coefficient[idx(h * p + i - 1)] = value_at(h - i);
    }
    for (std::int64_t i = 1; i <= std::min(p, h); ++i) {
      const double a = model.coefficients[idx(i)];
      level += a * by_level[idx(h - i)];
      for (std::int64_t j = 0; j < p; ++j) {
        by_coefficient[idx(h * p + j)] += a * by_coefficient[idx((h - i) * p + j)];
      }
    }
    by_level[idx(h)] = level;
    double form = level * level * model.innovation_variance / static_cast<double>(model.rows);
    for (std::int64_t i = 0; i < p; ++i) {
      for (std::int64_t j = 0; j < p; ++j) {
        form += by_coefficient[idx(h * p + i)] * model.covariance[idx(i * p + j)] *
                by_coefficient[idx(h * p + j)];
      }
    }
    variance[idx(h)] += form;
  }
}

// The arguments of one launch for all series: shorter models have coefficients of 0.
struct Batch {
  std::int64_t count = 0, order = 0;
  std::vector<double> last, coefficients, noise;
};

Batch batch_of(std::span<const std::span<const double>> series,
               std::span<const Autoregression> models) {
  Batch batch;
  batch.count = static_cast<std::int64_t>(series.size());
  for (const Autoregression& model : models) {
    batch.order = std::max<std::int64_t>(batch.order, model.order());
  }
  batch.last.assign(idx(batch.order * batch.count), 0.0);
  batch.coefficients.assign(idx((batch.order + 1) * batch.count), 0.0);
  for (std::int64_t s = 0; s < batch.count; ++s) {
    const Autoregression& model = models[idx(s)];
    const std::span<const double> values = series[idx(s)];
    for (std::int64_t i = 0; i <= model.order(); ++i) {
      batch.coefficients[idx(i * batch.count + s)] = model.coefficients[idx(i)];
      if (i < model.order()) {
        batch.last[idx(i * batch.count + s)] = values[values.size() - 1 - idx(i)];
      }
    }
    batch.noise.push_back(model.innovation_variance);
  }
  return batch;
}

}  // namespace

Autoregression fit_autoregression(std::span<const double> values, std::int32_t max_order) {
  require_values(values, min_rows_of_fit, "an autoregression");
  const Moments moments = moments_of(values);
  if (moments.constant) {
    throw InvalidArgument("series.constant", "an autoregression needs values that differ");
  }
  const auto rows = static_cast<std::int64_t>(values.size());
  std::vector<double> centered(values.begin(), values.end());
  for (double& x : centered) x -= moments.mean;
  Burg burg(std::move(centered));
  double least = std::numeric_limits<double>::infinity(), variance = 0;
  std::vector<double> best;
  const std::int64_t limit = limit_of_order(rows, max_order);
  for (std::int64_t order = 0; order <= limit; ++order) {
    if (order > 0 && !burg.raise()) break;
    const double aicc = aicc_of(burg.variance(), rows, order + 2);
    if (!(aicc < least)) continue;
    least = aicc;
    variance = burg.variance();
    best = burg.coefficients();
  }
  Autoregression model;
  model.rows = rows;
  model.mean = moments.mean;
  double rest = 1;
  for (const double a : best) rest -= a;
  model.coefficients = {rest * moments.mean};
  model.coefficients.insert(model.coefficients.end(), best.begin(), best.end());
  const auto n = static_cast<double>(rows);
  model.innovation_variance = variance * n / (n - static_cast<double>(best.size()) - 1);
  model.covariance = covariance_of(values, model);
  return model;
}

std::vector<SeriesForecast> forecast_autoregressions(
    Queue& queue, std::span<const std::span<const double>> series,
    std::span<const Autoregression> models, std::int64_t horizon) {
  if (series.size() != models.size() || horizon < 1) {
    throw InvalidArgument("series.horizon",
                          "forecasts need a model for each series and a positive horizon");
  }
  if (series.empty()) return {};
  const Batch batch = batch_of(series, models);
  const std::int64_t count = batch.count;
  DeviceArray<double> last(queue, batch.last), coefficients(queue, batch.coefficients),
      noise(queue, batch.noise), mean(queue, horizon * count), variance(queue, horizon * count),
      psi(queue, horizon * count);
  ArForecast kernel;
  kernel.last = {last.data(), batch.order, count, count};
  kernel.coefficients = {coefficients.data(), batch.order + 1, count, count};
  kernel.noise_variance = noise.view();
  kernel.mean = {mean.data(), horizon, count, count};
  kernel.variance = {variance.data(), horizon, count, count};
  kernel.psi = {psi.data(), horizon, count, count};
  queue.launch(kernel);
  const std::vector<double> means = mean.download(), variances = variance.download();
  std::vector<SeriesForecast> forecasts;
  for (std::int64_t s = 0; s < count; ++s) {
    const Autoregression& model = models[idx(s)];
    SeriesForecast forecast;
    forecast.order = model.order();
    forecast.coefficients = model.coefficients;
    forecast.noise_variance = model.innovation_variance;
    std::vector<double> of_error;
    for (std::int64_t h = 0; h < horizon; ++h) {
      forecast.mean.push_back(means[idx(h * count + s)]);
      of_error.push_back(variances[idx(h * count + s)]);
    }
    add_uncertainty_of_estimates(model, series[idx(s)], forecast, of_error);
    for (std::int64_t h = 0; h < horizon; ++h) {
      const double half = band_quantile * std::sqrt(of_error[idx(h)]);
      forecast.lower.push_back(forecast.mean[idx(h)] - half);
      forecast.upper.push_back(forecast.mean[idx(h)] + half);
    }
    forecasts.push_back(std::move(forecast));
  }
  return forecasts;
}

}  // namespace kiln
