// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kiln/device/exact_math.hpp"
#include "kiln/errors.hpp"
#include "kiln/information/series_analysis.hpp"

#include "idx.hpp"
#include "information/series_values.hpp"
#include "information/structural_filters.hpp"

namespace kiln {
namespace {

constexpr std::size_t max_rows = 8192;

// A grid in the logarithms to base 10 of the ratios, about a centre of each series.
struct Grid {
  std::int64_t points = 0;  // in each direction, odd
  int refinements = 0;
};
constexpr double widest = 6;  // ratios from 1e-6 to 1e6 at first
constexpr Grid level_grid{25, 2}, trend_grid{9, 3};

// Logarithms to base 10 of ratios.
struct Exponents {
  double level = 0, slope = 0;
  VarianceRatios ratios(bool trend) const {
    const auto power = [](double x) { return exact::exp(x * std::numbers::ln10); };
    return {power(level), trend ? power(slope) : 0.0};
  }
};

std::vector<Exponents> grid_about(const std::vector<Exponents>& centers, std::int64_t half,
                                  bool trend, double spacing) {
  std::vector<Exponents> points;
  const std::int64_t half_of_slopes = trend ? half : 0;
  for (const Exponents& center : centers) {
    for (std::int64_t i = -half; i <= half; ++i) {
      for (std::int64_t j = -half_of_slopes; j <= half_of_slopes; ++j) {
        points.push_back({center.level + spacing * static_cast<double>(i),
                          center.slope + spacing * static_cast<double>(j)});
      }
    }
  }
  return points;
}

std::vector<VarianceRatios> ratios_of(const std::vector<Exponents>& points, bool trend) {
  std::vector<VarianceRatios> ratios;
  for (const Exponents& point : points) ratios.push_back(point.ratios(trend));
  return ratios;
}

struct Likeliest {
  std::vector<VarianceRatios> ratios;  // of each series
  std::vector<double> noise_variance;
};

// The likeliest ratios of each series. A finer grid spans the neighbours of the best point.
Likeliest search(StructuralFilters& filters, std::size_t series, bool trend) {
  const Grid grid = trend ? trend_grid : level_grid;
  const std::int64_t half = grid.points / 2;
  std::vector<Exponents> best(series);
  std::vector<double> noise_variance(series, 0.0);
  std::vector<double> likeliest(series, -std::numeric_limits<double>::infinity());
  double spacing = widest / static_cast<double>(half);
  for (int round = 0; round <= grid.refinements; ++round) {
    const std::vector<Exponents> points = grid_about(best, half, trend, spacing);
    const std::size_t per_series = points.size() / series;
    const std::vector<FilterLikelihood> found =
        filters.likelihoods(ratios_of(points, trend), static_cast<std::int64_t>(per_series));
    for (std::size_t f = 0; f < found.size(); ++f) {
      const std::size_t s = f / per_series;
      if (!(found[f].log_likelihood > likeliest[s])) continue;
      likeliest[s] = found[f].log_likelihood;
      noise_variance[s] = found[f].noise_variance;
      best[s] = points[f];
    }
    spacing /= static_cast<double>(half);
  }
  return {ratios_of(best, trend), noise_variance};
}

void require_series(std::span<const double> values) {
  const Moments moments = moments_of(values);
  const bool finite = std::ranges::none_of(values, [](double x) { return std::isinf(x); });
  if (moments.count < min_rows_of_fit || moments.constant || !finite) {
    throw InvalidArgument("series.short",
                          "a structural model needs 8 finite values at least that differ");
  }
}

}  // namespace

std::vector<StructuralFit> fit_structural(Queue& queue,
                                          std::span<const std::span<const double>> series,
                                          SeriesModel model, std::int64_t horizon) {
  const bool trend = model == SeriesModel::local_trend;
  if ((!trend && model != SeriesModel::local_level) || horizon < 0) {
    throw InvalidArgument("series.model",
                          "structural models are local levels and local trends, with a horizon "
                          "that is not negative");
  }
  if (series.empty()) return {};
  std::vector<std::span<const double>> ends;
  for (const std::span<const double> values : series) {
    ends.push_back(values.last(std::min(values.size(), max_rows)));
    require_series(ends.back());
  }
  StructuralFilters filters(queue, model, ends, horizon);
  const Likeliest best = search(filters, ends.size(), trend);
  const StructuralFilters::Predictions predictions = filters.predict(best.ratios);
  std::vector<StructuralFit> fits;
  for (std::size_t s = 0; s < ends.size(); ++s) {
    StructuralFit fit;
    fit.model = model;
    fit.level_ratio = best.ratios[s].level;
    fit.slope_ratio = best.ratios[s].slope;
    fit.noise_variance = best.noise_variance[s];
    fit.first_row = static_cast<std::int64_t>(series[s].size() - ends[s].size());
    // Rows behind a shorter series are missing, as those of the horizon are.
    for (std::size_t t = 0; t < ends[s].size() + idx(horizon); ++t) {
      const std::size_t at = t * ends.size() + s;
      fit.predicted.push_back(predictions.mean[at]);
      fit.deviation.push_back(std::sqrt(predictions.variance[at] * fit.noise_variance));
    }
    fits.push_back(std::move(fit));
  }
  return fits;
}

}  // namespace kiln
