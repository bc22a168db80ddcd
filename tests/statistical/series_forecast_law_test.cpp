// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "kiln/information/series_analysis.hpp"

#include "backends/backends.hpp"
#include "series.hpp"

namespace kiln::test {
namespace {

constexpr std::int64_t series_count = 2000, horizon = 10;

// A stationary AR(2) of unit innovations: `rows` values, and `horizon` more that are to come.
struct Path {
  std::vector<double> seen, future;
};
Path path_of(double a, double b, std::int64_t rows, std::uint64_t seed) {
  std::mt19937_64 words(seed);
  std::vector<double> x{0, 0};
  for (std::int64_t t = 0; t < 200 + rows + horizon; ++t) {
    x.push_back(a * x.back() + b * x[x.size() - 2] + next_normal(words));
  }
  return {{x.end() - horizon - rows, x.end() - horizon}, {x.end() - horizon, x.end()}};
}

// The shares of paths within their bands at each step.
std::vector<double> coverage(const std::vector<Path>& paths,
                             const std::vector<Autoregression>& models) {
  std::vector<std::span<const double>> series;
  for (const Path& path : paths) series.push_back(path.seen);
  const std::vector<SeriesForecast> forecasts =
      forecast_autoregressions(*open_device(Device::cpu).queue, series, models, horizon);
  std::vector<double> share(idx(horizon), 0.0);
  for (std::size_t s = 0; s < paths.size(); ++s) {
    for (std::size_t h = 0; h < share.size(); ++h) {
      const double x = paths[s].future[h];
      if (x >= forecasts[s].lower[h] && x <= forecasts[s].upper[h]) share[h] += 1.0 / series_count;
    }
  }
  return share;
}

// The standard deviation of a share is 0.0067. Bands of one step for all would hold 0.68 of the
// values of this series ten steps ahead.
TEST(SeriesForecastLaw, BandsOfKnownCoefficientsHoldNineTenths) {
  const double a = 0.9, b = -0.4;
  Autoregression known;
  known.coefficients = {0, a, b};
  known.innovation_variance = 1;
  known.rows = std::int64_t{1} << 40;  // the estimates are certain
  known.covariance = {0, 0, 0, 0};
  std::vector<Path> paths;
  for (std::uint64_t seed = 1; seed <= series_count; ++seed) {
    paths.push_back(path_of(a, b, 10, seed));
  }
  const std::vector<double> share =
      coverage(paths, std::vector<Autoregression>(paths.size(), known));
  for (const double within : share) EXPECT_NEAR(within, 0.9, 0.03);
}

// From 60 rows the coefficients are uncertain: without that the bands hold less.
TEST(SeriesForecastLaw, BandsOfFittedModelsHoldNineTenths) {
  std::vector<Path> paths;
  std::vector<Autoregression> models;
  for (std::uint64_t seed = 1; seed <= series_count; ++seed) {
    paths.push_back(path_of(0.9, -0.4, 60, seed));
    models.push_back(fit_autoregression(paths.back().seen, 4));
  }
  for (const double within : coverage(paths, models)) EXPECT_NEAR(within, 0.9, 0.03);
}

// A random walk with noise: the level is uncertain at the end of the rows, and moves on.
TEST(SeriesForecastLaw, BandsOfALocalLevelHoldNineTenths) {
  constexpr int count = 600;
  std::vector<std::vector<double>> seen;
  std::vector<double> future;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    std::mt19937_64 words(seed);
    double level = 0;
    std::vector<double>& x = seen.emplace_back();
    for (int t = 0; t < 160; ++t) {
      level += 0.5 * next_normal(words);
      x.push_back(level + next_normal(words));
    }
    future.push_back(x.back());
    x.resize(150);
  }
  const std::vector<std::span<const double>> series(seen.begin(), seen.end());
  const std::vector<StructuralFit> fits =
      fit_structural(*open_device(Device::cpu).queue, series, SeriesModel::local_level, 10);
  double within = 0;
  for (std::size_t s = 0; s < seen.size(); ++s) {
    const double error = std::abs(future[s] - fits[s].predicted.back());
    if (error <= 1.6448536 * fits[s].deviation.back()) within += 1.0 / count;
  }
  EXPECT_NEAR(within, 0.9, 0.04);  // its standard deviation is 0.012
}

}  // namespace
}  // namespace kiln::test
