// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/forecast/calibration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "kiln/errors.hpp"

#include "past_runs.hpp"

namespace kiln::test::calibration_test {
namespace {

constexpr Prediction unit{0, 1};
constexpr double best = 1e6;  // far above: nothing is clipped

std::string code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InvalidArgument& error) {
    return error.code() + ": " + error.expected();
  }
  return "no error";
}

TEST(Calibration, TakesTheRanksOfNPlusOne) {
  Calibration calibration;
  for (int i = 19; i >= 1; --i) calibration.add(2, unit, best, i);
  const ForecastBand band = calibration.band(2, {100, 10}, best, 0.9);
  EXPECT_NEAR(band.lower, 110, 1e-12);  // floor(20 * 0.05) = 1: the least and the largest score
  EXPECT_NEAR(band.upper, 290, 1e-12);
  for (int i = 20; i <= 39; ++i) calibration.add(2, unit, best, i);
  EXPECT_NEAR(calibration.band(2, unit, best, 0.9).lower, 2, 1e-12);  // floor(40 * 0.05) = 2
  EXPECT_NEAR(calibration.band(2, unit, best, 0.9).upper, 38, 1e-12);
  EXPECT_NEAR(calibration.band(2, unit, best, 0.5).lower, 10, 1e-12);
}

TEST(Calibration, RefusesTooFewScores) {
  EXPECT_EQ(Calibration::min_scores(0.5), 3);
  EXPECT_EQ(Calibration::min_scores(0.8), 9);
  EXPECT_EQ(Calibration::min_scores(0.9), 19);
  EXPECT_EQ(Calibration::min_scores(0.95), 39);
  EXPECT_EQ(Calibration::min_scores(0.99), 199);
  Calibration calibration;
  for (int i = 0; i < 18; ++i) calibration.add(0, unit, best, i);
  EXPECT_EQ(code_of([&] { calibration.band(0, unit, best, 0.9); }),
            "forecast.scores: at least 19 runs that reached stage 0");
  EXPECT_NO_THROW(calibration.band(0, unit, best, 0.8));
  EXPECT_EQ(code_of([&] { calibration.band(1, unit, best, 0.5); }),
            "forecast.scores: at least 3 runs that reached stage 1");
}

TEST(Calibration, RefusesWhatCannotBe) {
  Calibration calibration;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(code_of([&] { calibration.add(4, unit, 1, 0); }), "forecast.stage: 0 to 3");
  for (const double actual : {2.0, nan, -std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(code_of([&] { calibration.add(0, unit, 1, actual); }),
              "forecast.actual: a finite energy that is not above the best one");
  }
  for (const double level : {0.0, 1.0, -1.0, nan}) {
    EXPECT_EQ(code_of([&] { calibration.band(0, unit, 1, level); }),
              "forecast.level: more than 0 and less than 1");
  }
  for (const Prediction& bad : {Prediction{nan, 1}, Prediction{0, nan}, Prediction{0, 0}}) {
    EXPECT_EQ(code_of([&] { calibration.add(0, bad, 1, 0); }),
              "forecast.prediction: a finite mean and a positive deviation");
  }
}

// Bands of nearly no width lie between the scores, and never beyond them.
TEST(Calibration, HasBandsOfTinyLevels) {
  for (const int n : {1, 2, 3, 4, 8, 9}) {
    for (const double actual : {1.0, 0.5}) {
      Calibration calibration;
      for (int i = 0; i < n; ++i) calibration.add(0, {0, 1}, 1, actual);
      for (const double level : {1e-12, 1e-9, 1e-3}) {
        if (Calibration::min_scores(level) > n) continue;
        const ForecastBand band = calibration.band(0, {0, 1}, 1, level);
        EXPECT_NEAR(band.lower, actual, 1e-14) << n << " " << level;
        EXPECT_NEAR(band.upper, actual, 1e-14) << n << " " << level;
        EXPECT_TRUE(band.contains(actual));
      }
    }
  }
}

// Scores of energies with few digits tie, and rounding must not take a tie out of its band.
TEST(Calibration, ContainsTheRunThatItWasMadeOf) {
  for (int i = 1; i < 400; ++i) {
    const double actual = -i / 100.0, now = 0.01, deviation = (i % 37 + 1) / 100.0;
    Calibration calibration;
    for (int k = 0; k < 19; ++k) calibration.add(0, {0.005, deviation}, now, actual);
    const ForecastBand band = calibration.band(0, {0.005, deviation}, now, 0.9);
    ASSERT_TRUE(band.contains(actual)) << i;
    ASSERT_NEAR(band.lower, band.upper, 1e-13) << i;
  }
}

TEST(Calibration, EndsAtTheBestEnergySoFar) {
  Calibration calibration;
  for (int i = 0; i < 40; ++i) calibration.add(0, unit, best, i);
  const ForecastBand band = calibration.band(0, {-5, 10}, 7.5, 0.9);
  EXPECT_NEAR(band.lower, 5, 1e-13);  // rounded outward
  EXPECT_EQ(band.upper, 7.5);
  EXPECT_TRUE(band.contains(7.5));
  const std::vector<double> ensemble = calibration.ensemble(0, {-5, 10}, 7.5);
  EXPECT_EQ(ensemble.size(), 40u);
  EXPECT_TRUE(std::ranges::is_sorted(ensemble));
  EXPECT_EQ(ensemble.back(), 7.5);
}

TEST(Calibration, KnowsTheStages) {
  EXPECT_EQ(stage_of(1, 100), 0u);
  EXPECT_EQ(stage_of(18.74, 100), 0u);
  EXPECT_EQ(stage_of(18.75, 100), 1u);
  EXPECT_EQ(stage_of(37.5, 100), 2u);
  EXPECT_EQ(stage_of(62.5, 100), 3u);
  for (std::size_t s = 0; s < forecast_stages; ++s) EXPECT_EQ(stage_of(stage_fractions[s], 1), s);
}

TEST(Calibration, TakesOneScoreOfEachRunAndStage) {
  std::vector<RunCurve> past = noisy_power_laws(30, 3);
  past.push_back(curve_of(std::vector<double>(96, 1.0)));  // constant
  past.push_back(curve_of({3, 2, 2, 2, 2, 2, 1, 1}));      // 1, 2, 4 and 6 points at the stages
  past.emplace_back();
  const Calibration calibration = calibrate(LastValueModel(), past);
  EXPECT_EQ(calibration.scores(0).size(), 30u);
  EXPECT_EQ(calibration.scores(2).size(), 30u);
  EXPECT_EQ(calibration.scores(3).size(), 31u);
}

// Exchangeable outcomes of a heavy-tailed error; a share of the runs keeps the best energy.
double outcome(std::mt19937_64& words, double unchanged) {
  const double u = static_cast<double>(words() >> 11) * 0x1p-53;
  const double error = -std::exp(1.5 * next_normal(words));
  return u < unchanged ? 0.0 : error;
}

using BandOf = std::function<ForecastBand(const std::vector<double>& past)>;

constexpr int repetitions = 500, runs = 39, unseen = 200;

// Mean coverage over repetitions. Given the past its standard deviation is sqrt(0.1 * 0.9 / 41) =
// 0.047 (Beta(36, 4)) for one repetition, so 0.0021 for the mean of 500, and 0.001 of the draws.
double coverage(double unchanged, const BandOf& band_of) {
  std::mt19937_64 words(11);
  std::int64_t inside = 0;
  for (int r = 0; r < repetitions; ++r) {
    std::vector<double> past;
    for (int i = 0; i < runs; ++i) past.push_back(outcome(words, unchanged));
    const ForecastBand band = band_of(past);
    for (int i = 0; i < unseen; ++i) inside += band.contains(outcome(words, unchanged)) ? 1 : 0;
  }
  return static_cast<double>(inside) / repetitions / unseen;
}

ForecastBand calibrated(const std::vector<double>& past) {
  Calibration calibration;
  for (const double actual : past) calibration.add(0, unit, 0, actual);
  return calibration.band(0, unit, 0, 0.9);
}

constexpr double tolerance = 0.01;  // four standard deviations

TEST(Calibration, CoversUnseenRunsAtItsLevel) {
  EXPECT_NEAR(coverage(0, calibrated), 0.9, tolerance) << "1 - 2 * 2 / 40";
  // One tail alone: floor(40 * 0.1) = 4 of 40 runs lie below.
  EXPECT_NEAR(coverage(0.3, calibrated), 0.9, tolerance);
  EXPECT_NEAR(coverage(0.8, calibrated), 0.9, tolerance);
  // About as many unchanged runs as the upper tail may miss: the draw decides on the tails.
  for (const double unchanged : {0.02, 0.05, 0.08}) {
    EXPECT_GT(coverage(unchanged, calibrated), 0.9 - tolerance) << unchanged;
    EXPECT_LT(coverage(unchanged, calibrated), 0.95) << unchanged;
  }
  EXPECT_GT(coverage(0.97, calibrated), 0.95) << "a band that is one energy";
}

// The two mistakes of split conformal calibration, and a tail that is given away: the tolerance
// notices each.
TEST(Calibration, PlantedMistakesMissTheLevel) {
  const auto with_n = [](std::vector<double> past) {
    std::ranges::sort(past);
    const auto k = static_cast<std::size_t>(runs * 0.05);
    return ForecastBand{past[k - 1], past[past.size() - k], 0.9};
  };
  EXPECT_GT(coverage(0, with_n), 0.9 + tolerance);
  const auto unsorted = [](const std::vector<double>& past) {
    return ForecastBand{past[1], past[past.size() - 2], 0.9};
  };
  EXPECT_LT(coverage(0, unsorted), 0.9 - tolerance);
  const auto two_tails = [](std::vector<double> past) {
    std::ranges::sort(past);
    return ForecastBand{past[1], past[past.size() - 2], 0.9};
  };
  EXPECT_NEAR(coverage(0, two_tails), 0.9, tolerance);
  EXPECT_GT(coverage(0.3, two_tails), 0.9 + tolerance);
  // One unchanged run fewer: the tail is given away if exactly k runs are unchanged.
  const auto too_early = [](std::vector<double> past) {
    std::ranges::sort(past);
    const bool one_tail = past[past.size() - 2] == 0;
    return ForecastBand{past[one_tail ? 3 : 1], past[past.size() - 2], 0.9};
  };
  EXPECT_LT(coverage(0.05, too_early), 0.9 - tolerance);
}

}  // namespace
}  // namespace kiln::test::calibration_test
