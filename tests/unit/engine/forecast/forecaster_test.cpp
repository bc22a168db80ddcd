// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/forecast/forecaster.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kiln/errors.hpp"
#include "kiln/forecast/features.hpp"
#include "kiln/forecast/ridge_model.hpp"

#include "past_runs.hpp"

namespace kiln::test::forecaster_test {
namespace {

TEST(FitRidge, FollowsItsClosedForm) {
  // y = 2 + 3 x: the least penalty, 0.001 n, is best, and shrinks the slope by 1 / 1.001.
  std::vector<FeatureVector> rows(50, FeatureVector{});
  std::vector<double> targets;
  for (int i = 0; i < 50; ++i) {
    rows[static_cast<std::size_t>(i)][7] = i;
    targets.push_back(2 + 3.0 * i);
  }
  const LinearFit fit = fit_ridge(rows, targets);
  FeatureVector at{};
  at[7] = 24.5;
  EXPECT_NEAR(fit(at), 2 + 3 * 24.5, 1e-10);
  at[7] = 34.5;
  EXPECT_NEAR(fit(at), 2 + 3 * (24.5 + 10 / 1.001), 1e-10);
  EXPECT_EQ(fit.scale[6], 0) << "a constant feature has no weight";
}

// 20 features of noise: the leave-one-out errors ask for the largest penalty.
TEST(FitRidge, ShrinksNoise) {
  std::mt19937_64 words(4);
  std::vector<FeatureVector> rows(40, FeatureVector{});
  std::vector<double> targets;
  for (FeatureVector& row : rows) {
    for (std::size_t j = 0; j < 20; ++j) row[j] = next_normal(words);
    targets.push_back(next_normal(words));
  }
  const LinearFit fit = fit_ridge(rows, targets);
  double square = 0;
  for (const double w : fit.weight) square += w * w;
  EXPECT_LT(square, 0.02) << "least squares without a penalty has about 20 / 40";
  EXPECT_GT(square, 0);
}

// One standardised feature: the fit without row i, for a penalty that n rows share.
double left_out_squares(const std::vector<double>& x, const std::vector<double>& y,
                        double penalty) {
  const auto n = static_cast<double>(x.size());
  double squares = 0;
  for (std::size_t out = 0; out < x.size(); ++out) {
    double mean_x = 0, mean_y = 0, product = 0, square = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      mean_x += i == out ? 0 : x[i] / (n - 1);
      mean_y += i == out ? 0 : y[i] / (n - 1);
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (i == out) continue;
      product += (x[i] - mean_x) * (y[i] - mean_y);
      square += (x[i] - mean_x) * (x[i] - mean_x);
    }
    const double weight = product / (square + penalty * n);
    const double error = y[out] - mean_y - weight * (x[out] - mean_x);
    squares += error * error;
  }
  return squares;
}

TEST(FitRidge, TakesThePenaltyOfTheLeastLeaveOneOutError) {
  std::mt19937_64 words(12);
  std::set<double> taken;
  for (int set = 0; set < 300; ++set) {
    const double slope = 0.6 * next_normal(words);
    std::vector<FeatureVector> rows(6, FeatureVector{});
    std::vector<double> x, y;
    for (FeatureVector& row : rows) {
      row[0] = next_normal(words);
      y.push_back(slope * row[0] + next_normal(words));
    }
    const LinearFit fit = fit_ridge(rows, y);
    double moment = 0, least = 1e300, best = 0;
    for (const FeatureVector& row : rows) x.push_back((row[0] - fit.center[0]) / fit.scale[0]);
    for (std::size_t i = 0; i < x.size(); ++i) moment += x[i] * y[i] / 6;
    for (const double penalty : {0.001, 0.01, 0.1, 1.0, 10.0}) {
      const double squares = left_out_squares(x, y, penalty);
      if (squares < least) best = penalty;
      least = std::min(squares, least);
    }
    EXPECT_NEAR(fit.weight[0], moment / (1 + best), 1e-9) << set << " " << best;
    taken.insert(best);
  }
  EXPECT_GE(taken.size(), 4u) << "a test that sees one choice";
}

TEST(FitRidge, RefusesWhatIsNoTrainingData) {
  const std::vector<FeatureVector> rows(3);
  EXPECT_THROW(fit_ridge(rows, std::vector<double>{1, 2}), InvalidArgument);
  EXPECT_THROW(fit_ridge({}, {}), InvalidArgument);
}

TEST(Features, AreOfOrderOneAndFinite) {
  RunCurve curve;
  for (int i = 1; i <= 64; ++i) {
    curve.add({10.0 * i, -1e6 * i, 3e6 - 9e5 * i, 4e5, 0.9 / i, 0.1 * i});
  }
  const FeatureVector known = features_of(curve, 1280);
  for (std::size_t j = 0; j < forecast_features; ++j) {
    EXPECT_TRUE(std::isfinite(known[j]) && std::abs(known[j]) <= 3.5) << j;
    EXPECT_TRUE(j < feature_names().size() || known[j] == 0) << j;
  }
  RunCurve bare;
  for (const CurvePoint& point : curve.points()) bare.add({point.work, point.best});
  const FeatureVector unknown = features_of(bare, 1280);
  for (std::size_t j = 0; j < feature_names().size(); ++j) {
    const std::string name = feature_names()[j];
    if (name.starts_with("mean") || name.starts_with("accepted") || name == "cold") {
      EXPECT_EQ(unknown[j], 0) << name;
      EXPECT_NE(known[j], 0) << name;
    }
  }
}

TEST(RidgeModel, SaysHowManyRunsWouldDo) {
  const std::vector<RunCurve> past = noisy_power_laws(19, 1);
  try {
    RidgeModel::train(past);
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.message(), "19 past runs have a forecast in stage 0");
    EXPECT_EQ(error.expected(), "at least 20 runs");
  }
}

// Lines of drawn slopes: the rest of the fall is 1 less the fraction that is done, a feature.
TEST(RidgeModel, LearnsWhatAllRunsHaveInCommon) {
  std::vector<RunCurve> past;
  for (int run = 1; run <= 24; ++run) {
    RunCurve curve;
    curve.add({0, 5.0 + run});
    for (int w = 1; w <= 96; ++w) curve.add({static_cast<double>(w), 5.0 + run - 0.3 * run * w});
    past.push_back(curve);
  }
  const RidgeModel model = RidgeModel::train(past);
  for (const double fraction : stage_fractions) {
    const RunCurve before = past[7].until(fraction * 96);
    const Prediction found = *model.predict(before, 96);
    EXPECT_NEAR(found.mean, past[7].best(), 0.02 * (before.best() - past[7].best())) << fraction;
    EXPECT_LT(found.deviation, 0.02 * past[7].fall()) << fraction;
  }
}

// Runs that fall by a drawn amount at a work that all have in common. Their mean tells how far:
// only training can know that.
std::vector<RunCurve> late_falls(int runs, std::uint64_t seed) {
  std::mt19937_64 words(seed);
  std::vector<RunCurve> all;
  for (int r = 0; r < runs; ++r) {
    const double late = 4 * std::exp(0.5 * next_normal(words));
    RunCurve curve;
    for (int w = 1; w <= 96; ++w) {
      const double best = -std::log(w) - (w > 80 ? late * (w - 80) / 16 : 0);
      curve.add({static_cast<double>(w), best, best + late});
    }
    all.push_back(curve);
  }
  return all;
}

std::vector<std::shared_ptr<const ForecastModel>> all_models(const std::vector<RunCurve>& past) {
  auto models = untrained_models();
  models.push_back(std::make_shared<RidgeModel>(RidgeModel::train(past)));
  return models;
}

TEST(Forecaster, ChoosesTheModelOfTheFamily) {
  const auto late = all_models(late_falls(60, 1));
  const Forecaster trained = Forecaster::choose(late, late_falls(40, 2), late_falls(40, 3));
  EXPECT_EQ(trained.model().name(), "ridge");
  const std::vector<RunCurve> unseen = late_falls(40, 4);
  const double ridge = score_model(trained.model(), trained.calibration(), unseen).crps;
  const LastValueModel last;
  EXPECT_LT(ridge, 0.5 * score_model(last, calibrate(last, late_falls(40, 3)), unseen).crps);

  std::vector<RunCurve> laws;
  std::mt19937_64 words(8);
  for (int i = 0; i < 60; ++i) {
    laws.push_back(power_law_curve(0, 1, 0.2 + 0.1 * std::exp(next_normal(words)), 96));
  }
  EXPECT_EQ(Forecaster::choose(untrained_models(), laws, laws).model().name(), "power_law");
}

TEST(Forecaster, TakesTheSimplestIfAllAreEqual) {
  std::vector<RunCurve> done;  // nothing changes after the first tenth
  for (int i = 0; i < 40; ++i) {
    std::vector<double> best(96, 0.0);
    for (int w = 0; w < 9; ++w) best[static_cast<std::size_t>(w)] = 9 + i - w;
    done.push_back(curve_of(best));
  }
  const Forecaster forecaster = Forecaster::choose(untrained_models(), done, done);
  EXPECT_EQ(forecaster.model().name(), "last");
  const auto forecast = forecaster.forecast(done[0].until(24), 96);
  ASSERT_TRUE(forecast.has_value());
  EXPECT_EQ(forecast->band.lower, 0);
  EXPECT_EQ(forecast->band.upper, 0);
}

TEST(Forecaster, CoversUnseenInstancesInEveryStage) {
  const auto models = all_models(noisy_power_laws(100, 21));
  const Forecaster forecaster =
      Forecaster::choose(models, noisy_power_laws(100, 22), noisy_power_laws(400, 23));
  const std::vector<RunCurve> unseen = noisy_power_laws(400, 24);
  for (const double fraction : stage_fractions) {
    int inside = 0;
    for (const RunCurve& curve : unseen) {
      const RunCurve before = curve.until(fraction * curve.work());
      inside += forecaster.forecast(before, curve.work())->band.contains(curve.best()) ? 1 : 0;
    }
    // Of both sets: sqrt(0.09 / 400 * 2) = 0.021.
    EXPECT_NEAR(inside / 400.0, 0.9, 0.065) << fraction;
  }
}

double coverage_of(const Forecaster& forecaster, const std::vector<RunCurve>& unseen) {
  double inside = 0, all = 0;
  for (const RunCurve& curve : unseen) {
    for (const double fraction : stage_fractions) {
      const RunCurve before = curve.until(fraction * curve.work());
      const auto forecast = forecaster.forecast(before, curve.work());
      if (!forecast) continue;
      inside += forecast->band.contains(curve.best()) ? 1 : 0;
      all += 1;
    }
  }
  return inside / all;
}

// A model fits the runs that train it more closely than any others: their scores are too small.
TEST(Forecaster, MissesItsLevelIfCalibratedOnTrainingRuns) {
  const std::vector<RunCurve> unseen = noisy_power_laws(100, 42);
  constexpr int sets = 6;
  double by_training = 0, by_held_out = 0;
  for (std::uint64_t seed = 100; seed < 100 + sets; ++seed) {
    const std::vector<RunCurve> training = noisy_power_laws(20, seed);
    const auto ridge = std::make_shared<RidgeModel>(RidgeModel::train(training));
    const Calibration held_out = calibrate(*ridge, noisy_power_laws(20, seed + 100));
    by_training += coverage_of({ridge, calibrate(*ridge, training)}, unseen) / sets;
    by_held_out += coverage_of({ridge, held_out}, unseen) / sets;
  }
  // Ranks 1 and 20 of 20 scores: 1 - 2 / 21 = 0.905 is exact, 0.03 the standard deviation.
  EXPECT_NEAR(by_held_out, 0.905, 0.06);
  EXPECT_LT(by_training, 0.83);
}

TEST(Forecaster, GivesTheSameNumbersForACurveInTwoParts) {
  const auto models = all_models(noisy_power_laws(30, 21));
  const RunCurve whole = noisy_power_laws(1, 30)[0].until(48);
  RunCurve parts = whole.until(13);
  for (const CurvePoint& point : whole.points()) parts.add(point);  // the first 13 are ignored
  EXPECT_EQ(parts.ignored(), 13);
  for (const auto& model : models) {
    const Prediction a = *model->predict(whole, 96), b = *model->predict(parts, 96);
    EXPECT_EQ(a.mean, b.mean) << model->name();
    EXPECT_EQ(a.deviation, b.deviation) << model->name();
  }
}

TEST(Forecaster, HasNoForecastOfAShortCurve) {
  const std::vector<RunCurve> past = noisy_power_laws(60, 1);
  const Forecaster forecaster = Forecaster::choose(untrained_models(), past, past);
  EXPECT_FALSE(forecaster.forecast(curve_of({3, 2, 1}), 96));
  const auto forecast = forecaster.forecast(past[0].until(12), 96, 0.8);
  ASSERT_TRUE(forecast.has_value());
  EXPECT_EQ(forecast->work, 96);
  EXPECT_EQ(forecast->band.level, 0.8);
  EXPECT_LE(forecast->band.lower, forecast->expected);
  EXPECT_LE(forecast->expected, forecast->band.upper);
}

TEST(Forecaster, RefusesToChooseWithoutRuns) {
  EXPECT_THROW(Forecaster::choose({}, {}, {}), InvalidArgument);
  EXPECT_THROW(Forecaster::choose(untrained_models(), {}, {}), InvalidArgument);
  EXPECT_THROW(Forecaster(nullptr, {}), InvalidArgument);
}

}  // namespace
}  // namespace kiln::test::forecaster_test
