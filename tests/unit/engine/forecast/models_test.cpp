// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kiln/errors.hpp"
#include "kiln/forecast/forecast_model.hpp"

#include "past_runs.hpp"

namespace kiln::test::forecast_models_test {
namespace {

Prediction predict(const ForecastModel& model, const RunCurve& curve, double work) {
  const std::optional<Prediction> prediction = model.predict(curve, work);
  EXPECT_TRUE(prediction.has_value()) << model.name();
  return prediction.value_or(Prediction{});
}

TEST(ForecastModels, GiveNoForecastOfAShortOrConstantCurve) {
  for (const auto& model : untrained_models()) {
    EXPECT_FALSE(model->predict(curve_of({5, 4, 3, 2, 1}), 10)) << model->name();
    EXPECT_FALSE(model->predict(curve_of(std::vector<double>(50, 3.0)), 100)) << model->name();
    EXPECT_FALSE(model->predict(RunCurve(), 10)) << model->name();
    EXPECT_TRUE(model->predict(curve_of({5, 4, 3, 2, 1, 0}), 10)) << model->name();
  }
}

TEST(ForecastModels, RefuseAWorkThatIsNotLater) {
  const RunCurve curve = curve_of({5, 4, 3, 2, 1, 0});
  for (const double work : {6.0, 3.0, std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity()}) {
    try {
      PowerLawModel().predict(curve, work);
      FAIL() << work;
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.code(), "forecast.work");
      EXPECT_NE(error.message().find("not later than that of the curve, 6"), std::string::npos);
    }
  }
}

TEST(ForecastModels, LastValueErrsByTheLastHalving) {
  const Prediction recent = predict(LastValueModel(), curve_of({9, 8, 7, 5, 4, 3, 2, 1}), 16);
  EXPECT_EQ(recent.mean, 1);
  EXPECT_EQ(recent.deviation, 4) << "5 at work 4, 1 at work 8";
  const Prediction idle = predict(LastValueModel(), curve_of({9, 8, 1, 1, 1, 1, 1, 1}), 16);
  EXPECT_EQ(idle.deviation, 3.5) << "half of the gain of the last two halvings";
}

TEST(ForecastModels, PowerLawIsRecovered) {
  for (const double c : {0.1, 0.7, 2.5}) {
    const RunCurve curve = power_law_curve(3, 5, c, 200);
    const double expected = 3 + 5 * std::pow(1600, -c);
    const Prediction found = predict(PowerLawModel(), curve, 1600);
    EXPECT_NEAR(found.mean, expected, 1e-5 * (curve.best() - expected)) << c;
  }
}

// A curve whose steps on the grid of a forecast from e^4 to e^5 are an AR(1) of known coefficient.
struct StepsOfAr1 {
  static constexpr double a = 0.6, mean = -1, noise = 0.2;
  static constexpr int behind = 32, ahead = 8;
  RunCurve curve;
  double last_step = 0, actual = 0;

  explicit StepsOfAr1(std::uint64_t seed) {
    std::mt19937_64 words(seed);
    double step = mean, energy = 0;
    for (int t = -behind - 20; t <= ahead; ++t) {
      step = mean + a * (step - mean) + noise * next_normal(words);
      energy += step;
      if (t >= -behind && t <= 0) curve.add({std::exp(4 + t / 8.0), energy});
      if (t == 0) last_step = step;
    }
    actual = energy;
  }
};

TEST(ForecastModels, AutoregressionFollowsTheClosedForm) {
  double squares = 0, from_closed_form = 0, of_the_mean = 0;
  constexpr int curves = 400;
  for (int i = 0; i < curves; ++i) {
    const StepsOfAr1 one(static_cast<std::uint64_t>(i + 1));
    const Prediction found = predict(AutoregressionModel(), one.curve, std::exp(5.0));
    const double z = (one.actual - found.mean) / found.deviation;
    squares += z * z / curves;
    // Sum of h = 1 ... H of m + a^h (x - m).
    const double a = StepsOfAr1::a, m = StepsOfAr1::mean, h = StepsOfAr1::ahead;
    const double sum = h * m + a * (1 - std::pow(a, h)) / (1 - a) * (one.last_step - m);
    from_closed_form += std::pow(found.mean - one.curve.best() - sum, 2) / curves;
    of_the_mean += std::pow(h * m - sum, 2) / curves;
  }
  // The coefficients come from 32 steps: the standard error of the mean alone is 0.2 / 0.4 / sqrt
  // 32 = 0.09 a step, 0.7 for the sum.
  EXPECT_LT(std::sqrt(from_closed_form), 0.85);
  EXPECT_GT(std::sqrt(from_closed_form), 0.4) << "a test that sees nothing";
  // With the variances of single steps instead of their sum, squares would be above 4.
  EXPECT_GT(squares, 0.9);
  EXPECT_LT(squares, 2.6);
}

TEST(ForecastModels, EqualStepsGoOn) {
  RunCurve curve;
  for (int t = -32; t <= 0; ++t) curve.add({std::exp2(t / 8.0), -1.0 * t});
  const double work = std::exp2(1.0);
  EXPECT_NEAR(predict(AutoregressionModel(), curve, work).mean, -8, 1e-4);
  EXPECT_NEAR(predict(KalmanModel(), curve, work).mean, -8, 1e-4);
}

TEST(ForecastModels, KalmanKnowsItsErrors) {
  double squares = 0;
  constexpr int curves = 300;
  for (int i = 0; i < curves; ++i) {
    std::mt19937_64 words(static_cast<std::uint64_t>(i + 1));
    RunCurve curve;
    double level = 0, at_end = 0;
    for (int t = -40; t <= 8; ++t) {
      level += -1 + 0.15 * next_normal(words);
      if (t <= 0) curve.add({std::exp(4 + t / 8.0), level});
      at_end = level;
    }
    const Prediction found = predict(KalmanModel(), curve, std::exp(5.0));
    const double z = (at_end - found.mean) / found.deviation;
    squares += z * z / curves;
    EXPECT_NEAR(found.mean - curve.best(), -8, 5) << i;
  }
  EXPECT_GT(squares, 0.6);
  EXPECT_LT(squares, 2.5) << "the ratios of the variances are not known";
}

TEST(ForecastModels, DependOnNoUnit) {
  const RunCurve curve = noisy_power_laws(1, 5)[0];
  RunCurve scaled;  // other energies, and another work
  for (const CurvePoint& p : curve.points()) scaled.add({8 * p.work, 1024 * p.best});
  for (const auto& model : untrained_models()) {
    const Prediction one = predict(*model, curve, 200), other = predict(*model, scaled, 1600);
    EXPECT_EQ(other.mean, 1024 * one.mean) << model->name();
    EXPECT_EQ(other.deviation, 1024 * one.deviation) << model->name();
  }
}

TEST(ForecastModels, NeverExpectARise) {
  for (const RunCurve& curve : noisy_power_laws(40, 9)) {
    for (const auto& model : untrained_models()) {
      const Prediction found = predict(*model, curve, 5 * curve.work());
      EXPECT_LE(found.mean, curve.best()) << model->name();
      EXPECT_GT(found.deviation, 0) << model->name();
    }
  }
}

// Energies near the ends of the range of a double: no infinity, no NaN, no endless loop.
TEST(ForecastModels, SurviveHugeAndTinyEnergies) {
  for (const double unit : {1e-310, 1e-300, 1e300}) {
    const RunCurve curve = curve_of({9 * unit, 8 * unit, 7 * unit, 5 * unit, 5 * unit, 4 * unit,
                                     3 * unit, 3 * unit, 2 * unit, unit});
    for (const auto& model : untrained_models()) {
      const Prediction found = predict(*model, curve, 40);
      EXPECT_TRUE(std::isfinite(found.mean) && found.mean <= unit) << model->name() << unit;
      EXPECT_TRUE(std::isfinite(found.deviation) && found.deviation > 0) << model->name() << unit;
    }
  }
  // The difference of these two is no finite number.
  std::vector<double> energies(20, 1e308);
  std::fill(energies.begin() + 10, energies.end(), -1e308);
  const RunCurve curve = curve_of(energies);
  for (const auto& model : untrained_models()) {
    EXPECT_TRUE(std::isfinite(predict(*model, curve, 40).mean)) << model->name();
  }
}

}  // namespace
}  // namespace kiln::test::forecast_models_test
