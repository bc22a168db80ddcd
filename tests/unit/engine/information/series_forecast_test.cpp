// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "kiln/errors.hpp"
#include "kiln/information/series_analysis.hpp"

#include "backends/backends.hpp"
#include "series.hpp"

namespace kiln::test {
namespace {

using Values = std::vector<double>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Queue& cpu() { return *open_device(Device::cpu).queue; }

Values ar2(double a, double b, std::int64_t n, std::uint64_t seed) {
  std::mt19937_64 words(seed);
  Values x{0, 0};
  for (std::int64_t t = 0; t < n + 200; ++t) {
    x.push_back(a * x.back() + b * x[x.size() - 2] + next_normal(words));
  }
  return {x.end() - n, x.end()};
}

// A random walk of noise variance q observed with noise variance r, and a drift that walks with u.
Values structural(double q, double r, double u, std::int64_t n, std::uint64_t seed,
                  double slope = 0) {
  std::mt19937_64 words(seed);
  Values x;
  double level = 10;
  for (std::int64_t t = 0; t < n; ++t) {
    level += slope + std::sqrt(q) * next_normal(words);
    slope += std::sqrt(u) * next_normal(words);
    x.push_back(level + std::sqrt(r) * next_normal(words));
  }
  return x;
}

StructuralFit fit(const Values& x, SeriesModel model, std::int64_t horizon = 0) {
  const std::vector<std::span<const double>> series{x};
  return fit_structural(cpu(), series, model, horizon).front();
}

SeriesAnalysis analyze(const Values& x, const SeriesOptions& options) {
  const std::vector<SeriesColumn> columns{{"x", x}};
  return analyze_series(cpu(), columns, options).front();
}

SeriesOptions horizon_of(std::int64_t horizon, SeriesModel model = SeriesModel::automatic) {
  SeriesOptions options;
  options.horizon = horizon;
  options.model = model;
  return options;
}

TEST(SeriesAutoregression, RecoversItsCoefficients) {
  Values x = ar2(0.5, -0.4, 20000, 1);
  for (double& value : x) value += 100;
  const Autoregression model = fit_autoregression(x, 8);
  ASSERT_GE(model.order(), 2);
  EXPECT_NEAR(model.coefficients[1], 0.5, 0.03);
  EXPECT_NEAR(model.coefficients[2], -0.4, 0.03);
  EXPECT_NEAR(model.coefficients[0], 90, 6);
  EXPECT_NEAR(model.innovation_variance, 1, 0.03);
  // The estimates of an AR(2) have the variance (1 - b^2) / n.
  EXPECT_NEAR(fit_autoregression(x, 2).covariance[0], (1 - 0.16) / 20000, 0.02 / 20000);
}

TEST(SeriesAutoregression, ChoosesItsOrderByAicc) {
  int right = 0, low = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const int order = fit_autoregression(ar2(0.5, -0.4, 300, seed), 10).order();
    right += order == 2 ? 1 : 0;
    low += order < 2 ? 1 : 0;
  }
  EXPECT_GE(right, 30);
  EXPECT_EQ(low, 0);
}

TEST(SeriesAutoregression, FollowsASineExactly) {
  Values x;
  for (int t = 0; t < 200; ++t) x.push_back(3 + std::sin(0.3 * t));
  const SeriesForecast forecast = *analyze(x, horizon_of(20, SeriesModel::autoregression)).forecast;
  for (int h = 0; h < 20; ++h) {
    EXPECT_NEAR(forecast.mean[idx(h)], 3 + std::sin(0.3 * (200 + h)), 0.05) << h;
  }
}

// To first order the variance of the forecast of a constant level is s^2 (1 + 1 / n).
TEST(SeriesAutoregression, CountsTheUncertaintyOfTheMean) {
  const Values x = ar1_chains(0, 1, 20, 5);
  Autoregression model = fit_autoregression(x, 1);
  model.coefficients = {model.mean};
  model.covariance = {};
  const std::vector<std::span<const double>> series{x};
  const SeriesForecast forecast = forecast_autoregressions(cpu(), series, std::vector{model}, 2)[0];
  const double half = 1.6448536 * std::sqrt(model.innovation_variance * (1 + 1.0 / 20));
  EXPECT_NEAR(forecast.upper[1] - forecast.mean[1], half, 1e-6 * half);
}

// The yearly flow of the Nile at Aswan, 1871 to 1970, in 1e8 cubic metres. Durbin and Koopman
// (2012), section 2.10.3, give the variances 15099 and 1469.1 of a local level.
const Values nile{1120, 1160, 963,  1210, 1160, 1160, 813,  1230, 1370, 1140, 995,  935,  1110,
                  994,  1020, 960,  1180, 799,  958,  1140, 1100, 1210, 1150, 1250, 1260, 1220,
                  1030, 1100, 774,  840,  874,  694,  940,  833,  701,  916,  692,  1020, 1050,
                  969,  831,  726,  456,  824,  702,  1120, 1100, 832,  764,  821,  768,  845,
                  864,  862,  698,  845,  744,  796,  1040, 759,  781,  865,  845,  944,  984,
                  897,  822,  1010, 771,  676,  649,  846,  812,  742,  801,  1040, 860,  874,
                  848,  890,  744,  749,  838,  1050, 918,  986,  797,  923,  975,  815,  1020,
                  906,  901,  1170, 912,  746,  919,  718,  714,  740};

TEST(SeriesStructural, HasThePublishedEstimatesOfTheNile) {
  const StructuralFit model = fit(nile, SeriesModel::local_level);
  EXPECT_NEAR(model.noise_variance, 15099, 0.005 * 15099);
  EXPECT_NEAR(model.level_ratio * model.noise_variance, 1469.1, 0.01 * 1469.1);
  const ChangePoints found = find_change_points(nile);
  ASSERT_EQ(found.changes.size(), 1u);
  EXPECT_EQ(1871 + found.changes[0].row, 1899);  // the first year of lower flow (Cobb 1978)
}

TEST(SeriesStructural, RecoversTheRatioOfVariances) {
  const StructuralFit level = fit(structural(0.5, 2, 0, 4000, 3), SeriesModel::local_level);
  EXPECT_NEAR(std::log10(level.level_ratio), std::log10(0.25), 0.12);
  EXPECT_NEAR(level.noise_variance, 2, 0.2);
  const StructuralFit trend = fit(structural(0, 1, 0.01, 4000, 4), SeriesModel::local_trend);
  EXPECT_NEAR(std::log10(trend.slope_ratio), -2, 0.2);
  EXPECT_LT(trend.level_ratio, 0.05);
  EXPECT_NEAR(trend.noise_variance, 1, 0.1);
}

// Ljung-Box: the innovations of the right model are white, those of a fixed level are not.
double ljung_box(const Values& v, int lags) {
  double variance = 0, statistic = 0;
  for (const double x : v) variance += x * x;
  const auto n = static_cast<double>(v.size());
  for (int k = 1; k <= lags; ++k) {
    double sum = 0;
    for (std::size_t t = idx(k); t < v.size(); ++t) sum += v[t] * v[t - idx(k)];
    statistic += n * (n + 2) * std::pow(sum / variance, 2) / (n - k);
  }
  return statistic;
}

TEST(SeriesStructural, LeavesWhiteInnovations) {
  const Values x = structural(0.3, 1, 0, 3000, 6);
  const StructuralFit model = fit(x, SeriesModel::local_level);
  Values innovations, unfiltered;
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / 3000;
  for (std::size_t t = 20; t < x.size(); ++t) {
    innovations.push_back((x[t] - model.predicted[t]) / model.deviation[t]);
    unfiltered.push_back(x[t] - mean);
  }
  EXPECT_LT(ljung_box(innovations, 20), 37.6);  // 0.99 quantile of chi-squared with 20
  EXPECT_GT(ljung_box(unfiltered, 20), 1000);
  double squares = 0;
  for (const double v : innovations) squares += v * v / static_cast<double>(innovations.size());
  EXPECT_NEAR(squares, 1, 0.08);
}

// The level stays within a gap, and its variance grows by q a row.
TEST(SeriesStructural, PredictsAcrossAGap) {
  Values x = structural(0.3, 1, 0, 500, 7);
  for (std::size_t t = 400; t < 420; ++t) x[t] = nan;
  const StructuralFit model = fit(x, SeriesModel::local_level);
  const double growth = model.level_ratio * model.noise_variance;
  for (std::size_t t = 401; t < 420; ++t) {
    EXPECT_NEAR(model.predicted[t], model.predicted[400], 1e-12);
    EXPECT_NEAR(std::pow(model.deviation[t], 2) - std::pow(model.deviation[t - 1], 2), growth,
                1e-9);
  }
  EXPECT_LT(model.deviation[430], model.deviation[419]);
}

TEST(SeriesStructural, FitsSeriesOfDifferentLengthsAsIfAlone) {
  const Values x = structural(0.3, 1, 0, 300, 8), y = structural(0.1, 2, 0, 180, 9);
  const std::vector<std::span<const double>> series{x, y};
  const std::vector<StructuralFit> both =
      fit_structural(cpu(), series, SeriesModel::local_level, 5);
  const StructuralFit alone = fit(y, SeriesModel::local_level, 5);
  EXPECT_EQ(bits_of(both[1].predicted), bits_of(alone.predicted));
  EXPECT_EQ(bits_of(both[1].deviation), bits_of(alone.deviation));
  EXPECT_EQ(both[1].predicted.size(), 185u);
}

TEST(SeriesStructural, ContinuesALine) {
  Values x;
  for (int t = 0; t < 60; ++t) x.push_back(1000 + 3.0 * t);
  const SeriesForecast forecast = *analyze(x, horizon_of(10)).forecast;
  EXPECT_EQ(forecast.model, SeriesModel::local_trend);
  for (int h = 0; h < 10; ++h) EXPECT_NEAR(forecast.mean[idx(h)], 1000 + 3.0 * (60 + h), 1e-3);
}

TEST(SeriesForecast, ChoosesTheModelThatMadeTheSeries) {
  int right[3] = {0, 0, 0};
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto chosen = [](const Values& x) { return analyze(x, horizon_of(1)).forecast->model; };
    right[0] += chosen(ar2(0.5, -0.6, 400, seed)) == SeriesModel::autoregression ? 1 : 0;
    right[1] += chosen(structural(0.2, 1, 0, 400, seed)) == SeriesModel::local_level ? 1 : 0;
    right[2] += chosen(structural(0, 1, 0.01, 400, seed)) == SeriesModel::local_trend ? 1 : 0;
  }
  EXPECT_GE(right[0], 9);
  EXPECT_GE(right[1], 7);
  EXPECT_GE(right[2], 7);
}

TEST(SeriesForecast, SaysWhatItCannotForecast) {
  using Notes = std::vector<std::string>;
  EXPECT_EQ(analyze(Values(50, 2.0), horizon_of(3)).notes, Notes{"no forecast: constant"});
  EXPECT_EQ(analyze({1, 2, 3, 4, 5}, horizon_of(3)).notes.back(),
            "no forecast: 5 rows are present, 8 are needed");
  const SeriesAnalysis empty = analyze(Values(9, nan), horizon_of(3));
  EXPECT_FALSE(empty.forecast);
  EXPECT_EQ(empty.notes.front(), "no value is present");
  Values x = ar2(0.5, -0.6, 200, 1);
  x[198] = nan;
  const SeriesAnalysis gap = analyze(x, horizon_of(3, SeriesModel::autoregression));
  EXPECT_FALSE(gap.forecast);
  EXPECT_EQ(gap.notes.front(),
            "1 of 200 rows are missing; the longest stretch without gaps is rows 1 to 198");
  EXPECT_NE(gap.notes.back().find("no autoregression: 1 of the last"), std::string::npos);
  EXPECT_NE(analyze(x, horizon_of(3)).forecast->model, SeriesModel::autoregression);
}

TEST(SeriesForecast, RefusesWhatIsOutOfRange) {
  const Values x = ar2(0.5, -0.6, 50, 1);
  EXPECT_THROW(analyze(x, horizon_of(-1)), InvalidArgument);
  EXPECT_THROW(analyze(x, horizon_of(1000001)), InvalidArgument);
  Values infinite = x;
  infinite[3] = std::numeric_limits<double>::infinity();
  try {
    analyze(infinite, horizon_of(1));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.message(), "column 'x' is infinite in row 4; expected finite values");
  }
  EXPECT_THROW(fit(x, SeriesModel::autoregression), InvalidArgument);
  EXPECT_THROW(fit_autoregression(Values(7, 1.0)), InvalidArgument);
  EXPECT_THROW(fit_autoregression(Values(20, 1.0)), InvalidArgument);
}

TEST(SeriesAnalysis, UsesTheLongestStretchWithoutGaps) {
  Values x = ar2(0.5, -0.6, 600, 2);
  x[99] = nan;
  for (std::size_t t = 300; t < 600; ++t) x[t] += 6;
  SeriesOptions options;
  options.spectrum = options.change_points = true;
  const SeriesAnalysis found = analyze(x, options);
  EXPECT_EQ(found.missing, 1);
  EXPECT_EQ(found.stretch_begin, 100);
  EXPECT_EQ(found.stretch_rows, 500);
  ASSERT_TRUE(found.change_points && found.spectrum);
  ASSERT_EQ(found.change_points->changes.size(), 1u);
  EXPECT_NEAR(static_cast<double>(found.change_points->changes[0].row), 300, 5);
  EXPECT_FALSE(found.forecast);
}

TEST(SeriesAnalysis, SaysWhatIsTooShort) {
  SeriesOptions options;
  options.spectrum = options.change_points = true;
  const SeriesAnalysis found = analyze({1, 2, 1, 3, 1, 2, 1, 3, 1, 2}, options);
  EXPECT_FALSE(found.spectrum || found.change_points);
  EXPECT_NE(std::ranges::find(found.notes, "no spectrum: 10 rows without gaps, 32 are needed"),
            found.notes.end());
  EXPECT_NE(std::ranges::find(found.notes, "no change points: 10 rows without gaps, 20 are needed"),
            found.notes.end());
}

}  // namespace
}  // namespace kiln::test
