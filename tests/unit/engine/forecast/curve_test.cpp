// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/forecast/curve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kiln/telemetry/record.hpp"

#include "past_runs.hpp"

namespace kiln::test::forecast_curve_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(RunCurve, IgnoresAndCountsWhatIsNoPoint) {
  RunCurve curve;
  EXPECT_TRUE(curve.add({2, 5.0}));
  for (const double work : {nan, infinity, 0.0, -1.0, 2.0, 1.0}) {
    EXPECT_FALSE(curve.add({work, 4.0})) << work;
  }
  for (const double best : {nan, infinity, -infinity}) EXPECT_FALSE(curve.add({3, best})) << best;
  EXPECT_EQ(curve.ignored(), 9);
  ASSERT_EQ(curve.points().size(), 1u);
  EXPECT_TRUE(curve.add({3, 4.0, infinity, -infinity, infinity, infinity}));
  const CurvePoint& last = curve.points().back();
  for (const double x : {last.mean, last.deviation, last.accepted, last.beta}) {
    EXPECT_TRUE(std::isnan(x)) << "infinite is unknown";
  }
}

TEST(RunCurve, KeepsTheRunningMinimum) {
  const RunCurve curve = curve_of({5, 7, 3, 3, 4, 1});
  std::vector<double> best;
  for (const CurvePoint& point : curve.points()) best.push_back(point.best);
  EXPECT_EQ(best, (std::vector<double>{5, 5, 3, 3, 3, 1}));
  EXPECT_EQ(curve.improvements(), 2);
  EXPECT_EQ(curve.gain(), 4);
  EXPECT_EQ(curve.fall(), 4) << "the mean is unknown";
  EXPECT_EQ(curve.at(4.5).work, 4);
  EXPECT_EQ(curve.at(0.5).work, 1);
}

TEST(RunCurve, FallsFromTheFirstMean) {
  RunCurve curve;
  curve.add({1, 5, 20});
  curve.add({2, 4, 15});
  EXPECT_EQ(curve.fall(), 16);
}

TEST(RunCurve, KnowsTheInitialStates) {
  RunCurve curve;
  EXPECT_TRUE(curve.add({0, 30, 50, 5}));
  EXPECT_TRUE(curve.empty());
  EXPECT_FALSE(curve.add({0, 20, 40, 5}));
  EXPECT_TRUE(curve.add({1, 31, 40, 5}));
  EXPECT_EQ(curve.best(), 30);
  EXPECT_EQ(curve.improvements(), 0) << "no point lowered the best energy";
  EXPECT_TRUE(curve.add({2, 10, 40, 5}));
  EXPECT_EQ(curve.fall(), 40);
  EXPECT_EQ(curve.gain(), 20);
  EXPECT_EQ(curve.start().work, 0);
  EXPECT_EQ(curve.until(1).fall(), 20);
  EXPECT_FALSE(curve.add({0, 1}));
  EXPECT_EQ(curve.ignored(), 2);
}

TEST(RunCurve, IsTheSameInTwoParts) {
  const RunCurve whole = curve_of({9, 8, 8, 6, 5, 5, 3});
  RunCurve parts = whole.until(4);
  EXPECT_EQ(parts.points().size(), 4u);
  EXPECT_EQ(parts.improvements(), 2);
  for (std::size_t i = 4; i < 7; ++i) parts.add(whole.points()[i]);
  EXPECT_EQ(parts.improvements(), whole.improvements());
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(parts.points()[i].best, whole.points()[i].best);
  }
}

TEST(RunCurve, NeedsSixPointsAndAnImprovement) {
  EXPECT_FALSE(curve_of({5, 4, 3, 2, 1}).has_forecast());
  EXPECT_TRUE(curve_of({5, 5, 5, 5, 5, 4}).has_forecast());
  EXPECT_FALSE(curve_of({5, 5, 5, 5, 5, 5, 5, 6}).has_forecast());
}

TEST(RunCurve, TakesRecordsOfTelemetry) {
  TelemetryRecord record{};
  record.step = 640;
  record.energy = -10;
  record.best = -30;
  record.deviation = 2.5F;
  record.acceptance = 0.25F;
  const CurvePoint point = point_of(record);
  EXPECT_EQ(point.work, 640);
  EXPECT_EQ(point.best, -30);
  EXPECT_EQ(point.mean, -10);
  EXPECT_EQ(point.deviation, 2.5);
  EXPECT_EQ(point.accepted, 0.25);
  EXPECT_TRUE(std::isnan(point.beta)) << "0: the schedule has none";
  record.beta = 3;
  EXPECT_EQ(point_of(record).beta, 3);
}

// best = 10 - 2 log work: on the grid it is a line, up to the interpolation between points.
TEST(LogGrid, IsEvenInTheLogarithmOfTheWork) {
  std::vector<double> best;
  for (int w = 1; w <= 100; ++w) best.push_back(10 - 2 * std::log(w));
  const auto grid = log_grid(curve_of(best), 300);
  ASSERT_TRUE(grid.has_value());
  EXPECT_EQ(grid->steps, 9) << "log 3 in steps of at most 1/8";
  EXPECT_NEAR(grid->spacing, std::log(3.0) / 9, 1e-15);
  EXPECT_EQ(grid->energy.size(), 38u) << "floor(log 100 / spacing) steps back, and the present";
  EXPECT_EQ(grid->energy.back(), best.back());
  for (std::size_t i = 1; i < grid->energy.size(); ++i) {
    EXPECT_NEAR(grid->energy[i] - grid->energy[i - 1], -2 * grid->spacing, 1e-12) << i;
  }
  EXPECT_FALSE(log_grid(curve_of({6, 5, 4, 3, 2, 1}).until(2), 100).has_value());
}

}  // namespace
}  // namespace kiln::test::forecast_curve_test
