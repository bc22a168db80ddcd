// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/temperature_update.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "backends/cpu_queue.hpp"

namespace kiln::temperature_update_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr std::int64_t late = 1000000000000;  // 1e12

Cooling cooling(CoolingKind kind, double begin, double end, double log_rate = 0) {
  Cooling c;
  c.kind = kind;
  c.beta_begin = begin;
  c.beta_end = end;
  c.log_rate = log_rate;
  return c;
}

double beta(const Cooling& c, std::int64_t t, std::int64_t anneal,
            const std::vector<double>& list = {}) {
  return cooling_beta(c, t, anneal,
                      View1<const double>(list.data(), static_cast<std::int64_t>(list.size())));
}

TEST(CoolingBeta, LinearFollowsTheStraightLine) {
  const Cooling c = cooling(CoolingKind::linear, 0.5, 4.5);
  EXPECT_EQ(beta(c, 0, 5), 0.5);
  EXPECT_EQ(beta(c, 1, 5), 1.5);
  EXPECT_EQ(beta(c, 4, 5), 4.5);
  for (const std::int64_t t :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{10}, std::int64_t{1000000}, late}) {
    const double truth = 0.5 + 4.0 * static_cast<double>(t) / (1e12 + 9);
    EXPECT_NEAR(beta(c, t, late + 10), truth, 1e-15 * truth) << t;
  }
}

TEST(CoolingBeta, GeometricFollowsThePower) {
  const Cooling c = cooling(CoolingKind::geometric, 0.1, 10, exact::log(10 / 0.1));
  EXPECT_EQ(beta(c, 0, 3), 0.1);
  EXPECT_NEAR(beta(c, 1, 3), 1.0, 1e-15);
  EXPECT_NEAR(beta(c, 2, 3), 10.0, 2e-14);
  for (const std::int64_t t :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{10}, std::int64_t{1000000}, late}) {
    const double truth = 0.1 * std::pow(100.0, static_cast<double>(t) / (1e12 + 9));
    EXPECT_NEAR(beta(c, t, late + 10), truth, 1e-14 * truth) << t;
  }
}

// Beyond the range of quotients and powers; the truth from sums of logarithms to base ten.
TEST(CoolingBeta, SpansTheRangeOfDoubles) {
  constexpr double largest = std::numeric_limits<double>::max();
  const double range = exact::log_ratio(1e300, 1e-300);
  EXPECT_NEAR(range, 600 * std::log(10.0), 1e-12 * range);
  EXPECT_EQ(exact::log_ratio(3, 0.1), exact::log(3 / 0.1));
  EXPECT_EQ(exact::times_exp(3, 2), 3 * exact::exp(2));
  for (const CoolingKind kind : {CoolingKind::geometric, CoolingKind::exponential}) {
    Cooling c = cooling(kind, 1e-300, 1e300, range);
    if (kind == CoolingKind::exponential) c.log_rate /= -60;
    for (std::int64_t t = 0; t < 60; ++t) {
      EXPECT_NEAR(std::log10(beta(c, t, 61)), -300 + 10 * static_cast<double>(t), 1e-9) << t;
    }
    EXPECT_NEAR(beta(c, 60, 61), 1e300, 1e288);
  }
  const Cooling c = cooling(CoolingKind::geometric, 1, largest, exact::log_ratio(largest, 1));
  EXPECT_LT(beta(c, 100, 101), inf);
  EXPECT_GT(beta(c, 100, 101), 0.999 * largest);
  EXPECT_EQ(beta(c, 101, 101), inf);
}

TEST(CoolingBeta, ExponentialLowersTheTemperatureByAFactorPerSweep) {
  const Cooling c = cooling(CoolingKind::exponential, 0.5, 8, exact::log(0.9));
  EXPECT_EQ(beta(c, 0, late + 10), 0.5);
  EXPECT_NEAR(beta(c, 1, late + 10), 0.5 / 0.9, 1e-15);
  EXPECT_NEAR(beta(c, 10, late + 10), 0.5 * std::pow(0.9, -10), 1e-14);
  EXPECT_EQ(beta(c, 27, late + 10), 8.0) << "0.5 / 0.9^27 = 8.6 is beyond the end";
  EXPECT_EQ(beta(c, 1000000, late + 10), 8.0) << "also where the power overflows";
  EXPECT_EQ(beta(c, late, late + 10), 8.0);
}

TEST(CoolingBeta, ListGivesEachValueAnEqualShare) {
  const Cooling c = cooling(CoolingKind::list, 0, 0);
  const std::vector<double> list{0.1, 0.5, 2};
  EXPECT_EQ(beta(c, 0, 9, list), 0.1);
  EXPECT_EQ(beta(c, 2, 9, list), 0.1);
  EXPECT_EQ(beta(c, 3, 9, list), 0.5);
  EXPECT_EQ(beta(c, 8, 9, list), 2.0);
  EXPECT_EQ(beta(c, 0, late + 10, list), 0.1);
  EXPECT_EQ(beta(c, 1000000, late + 10, list), 0.1);
  EXPECT_EQ(beta(c, late, late + 10, list), 2.0);
  EXPECT_EQ(beta(c, 0, 1, list), 0.1) << "more betas than sweeps";
  EXPECT_EQ(beta(c, 1, 2, list), 0.5);
}

TEST(CoolingBeta, EveryKindRises) {
  for (const Cooling& c : {cooling(CoolingKind::linear, 0.01, 5),
                           cooling(CoolingKind::geometric, 0.01, 5, exact::log(500.0)),
                           cooling(CoolingKind::exponential, 0.01, 5, exact::log(0.99))}) {
    for (std::int64_t t = 1; t < 1000; ++t) ASSERT_GE(beta(c, t, 1000), beta(c, t - 1, 1000)) << t;
  }
}

TEST(CoolingBeta, IsInfiniteOnceTheAnnealIsOver) {
  for (const CoolingKind kind :
       {CoolingKind::linear, CoolingKind::geometric, CoolingKind::exponential, CoolingKind::list}) {
    EXPECT_EQ(beta(cooling(kind, 0.5, 2), 7, 7, {1.0}), inf);
    EXPECT_EQ(beta(cooling(kind, 0.5, 2), late, 7, {1.0}), inf);
  }
}

TEST(CoolingBeta, ASingleSweepIsCold) {
  EXPECT_EQ(beta(cooling(CoolingKind::linear, 0.5, 2), 0, 1), 2.0);
}

// The arrays of some groups, and what one update after the other does to them.
struct Bench {
  explicit Bench(std::vector<Cooling> groups)
      : cooling(std::move(groups)), beta(cooling.size(), -1.0), restart(cooling.size(), 9u) {}

  void update(std::uint32_t offset = 0) {
    const auto n = static_cast<std::int64_t>(cooling.size());
    queue->launch(TemperatureUpdate{{cooling.data(), n},
                                    {beta.data(), n},
                                    {restart.data(), n},
                                    {list.data(), static_cast<std::int64_t>(list.size())},
                                    &control,
                                    offset});
  }

  std::unique_ptr<Queue> queue = test::cpu_queue();
  RunControl control;
  std::vector<Cooling> cooling;
  std::vector<double> beta, list{0.25, 0.5, 1, 3};
  std::vector<std::uint32_t> restart;
};

std::vector<Cooling> one_of_each_kind() {
  std::vector<Cooling> all{cooling(CoolingKind::linear, 0.1, 3),
                           cooling(CoolingKind::geometric, 0.1, 3, exact::log(30.0)),
                           cooling(CoolingKind::exponential, 0.1, 3, exact::log(0.8)),
                           cooling(CoolingKind::list, 0, 0)};
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].length = 10 + static_cast<std::int64_t>(i);
    all[i].polish = static_cast<std::int64_t>(i);
    all[i].growth = 2;
  }
  return all;
}

TEST(TemperatureUpdate, MixedBatchEqualsEachKindAlone) {
  Bench mixed(one_of_each_kind());
  std::vector<Bench> alone;
  for (const Cooling& c : one_of_each_kind()) alone.emplace_back(std::vector<Cooling>{c});
  for (int step = 0; step < 100; ++step) {
    mixed.update();
    for (std::size_t i = 0; i < alone.size(); ++i) {
      alone[i].update();
      ASSERT_EQ(exact::double_to_bits(mixed.beta[i]), exact::double_to_bits(alone[i].beta[0]));
      ASSERT_EQ(mixed.restart[i], alone[i].restart[0]);
      ASSERT_EQ(mixed.cooling[i].position, alone[i].cooling[0].position);
      ASSERT_EQ(mixed.cooling[i].round, alone[i].cooling[0].round);
    }
  }
}

TEST(TemperatureUpdate, PolishesThenRestartsWithALongerRound) {
  Cooling c = cooling(CoolingKind::linear, 1, 2);
  c.length = 4;
  c.polish = 1;
  c.growth = 2;
  Bench bench({c});
  std::vector<double> betas;
  std::vector<std::uint32_t> restarts;

  for (int step = 0; step < 12; ++step) {
    bench.update();
    betas.push_back(bench.beta[0]);
    restarts.push_back(bench.restart[0]);
  }

  EXPECT_EQ(restarts, (std::vector<std::uint32_t>{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(betas[0], 1.0);
  EXPECT_EQ(betas[1], 1.5);
  EXPECT_EQ(betas[2], 2.0);
  EXPECT_EQ(betas[3], inf);
  EXPECT_EQ(betas[4], 1.0);
  EXPECT_EQ(betas[10], 2.0);
  EXPECT_EQ(betas[11], inf);
  EXPECT_EQ(bench.cooling[0].round, 2);
  EXPECT_EQ(bench.cooling[0].length, 16);
  EXPECT_EQ(bench.cooling[0].position, 0);
}

// A long round, short ones that begin warm and together take as long, then a longer one.
TEST(TemperatureUpdate, ReheatsBetweenLongRounds) {
  Cooling c = cooling(CoolingKind::linear, 1, 4);
  c.beta_again = 3;
  c.length = 512;
  c.growth = 2;
  c.reheats = 4;
  c.short_unit = 8;
  std::vector<Cooling> coolings{c};
  std::vector<double> betas(1);
  std::vector<std::uint32_t> restart(1), restart_long(1);
  RunControl control;
  TemperatureUpdate update;
  update.cooling = {coolings.data(), 1};
  update.beta = {betas.data(), 1};
  update.restart = {restart.data(), 1};
  update.restart_long = {restart_long.data(), 1};
  update.control = &control;
  struct Round {
    std::int64_t sweeps;
    double begin;
    bool long_follows;
  };
  std::vector<Round> found;
  Round now{0, 0, false};
  while (found.size() < 12) {
    update(0, 0);
    if (now.sweeps++ == 0) now.begin = betas[0];
    if (restart[0] == 0) {
      ASSERT_EQ(restart_long[0], 0u);
      continue;
    }
    EXPECT_EQ(betas[0], 4);
    now.long_follows = restart_long[0] != 0;
    found.push_back(now);
    now = {};
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::int64_t cycle = static_cast<std::int64_t>(i / 5), length = 512 << cycle;
    const bool is_long = i % 5 == 0;
    EXPECT_EQ(found[i].sweeps, is_long ? length : length / 4) << i;
    EXPECT_EQ(found[i].begin, is_long ? 1 : 3) << i;
    EXPECT_EQ(found[i].long_follows, i % 5 == 4) << i;
  }
}

TEST(TemperatureUpdate, GivesShortRoundsAtLeast64SweepsInWholeTicks) {
  Cooling c;
  c.reheats = 16;
  c.short_unit = 8;
  for (const auto& [of_long, of_short] :
       {std::pair<std::int64_t, std::int64_t>{8, 64}, {1024, 64}, {1040, 72}, {16384, 1024}}) {
    c.long_length = of_long;
    EXPECT_EQ(c.short_length(), of_short) << of_long;
  }
  c.short_unit = 7;
  EXPECT_EQ(c.short_length(), 1029);
}

TEST(TemperatureUpdate, RoundsDoNotGrowBeyondAllBounds) {
  Cooling c = cooling(CoolingKind::linear, 1, 2);
  c.length = (INT64_MAX >> 8) + 1;
  c.position = c.length - 1;
  c.growth = 2;
  Bench bench({c});

  bench.update();

  EXPECT_EQ(bench.cooling[0].length, (INT64_MAX >> 8) + 1);
  EXPECT_EQ(bench.restart[0], 1u);
}

TEST(TemperatureUpdate, DoesNothingOnceTheRunIsOver) {
  Bench stopped(one_of_each_kind()), limited(one_of_each_kind());
  stopped.control.stop = DeviceStop::target;
  limited.control.step = 7;
  limited.control.step_limit = 9;

  stopped.update();
  limited.update(2);

  EXPECT_EQ(stopped.beta[0], -1.0);
  EXPECT_EQ(stopped.restart[0], 9u);
  EXPECT_EQ(limited.beta[0], -1.0);
  limited.update(1);
  EXPECT_EQ(limited.beta[0], 0.1);
}

TEST(CoolingBeta, LogarithmicBeginsAtTheHotEnd) {
  const Cooling c = cooling(CoolingKind::logarithmic, 0.1, 1e9, 1.0);  // T_0 = 10
  EXPECT_EQ(beta(c, 0, late), 0.1);
  EXPECT_NEAR(1 / beta(c, 1, late), 5.9062, 5e-5);
  EXPECT_NEAR(1 / beta(c, 10, late), 2.9430, 5e-5);
  EXPECT_NEAR(1 / beta(c, 1000, late), 1.2644, 5e-5);
}

// The plant a(T) = 1 - exp(-T) has a = 0.44 at T = 0.5798.
double settled(CoolingKind kind, int steps) {
  Cooling c = cooling(kind, 0.01, 100);
  c.feedback.target_begin = 0.44;
  c.feedback.gain = 0.5;
  c.feedback.kp = 0.1, c.feedback.ki = 0.01, c.feedback.kd = 0.05;
  double rate = 0;
  for (int t = 0; t < steps; ++t) rate = 1 - std::exp(-1 / feedback_beta(c, t, late, rate));
  return c.feedback.temperature;
}

TEST(FeedbackBeta, ReachesTheTargetOfAPlantAndStays) {
  for (const CoolingKind kind : {CoolingKind::adaptive, CoolingKind::pid}) {
    EXPECT_NEAR(settled(kind, 2000), 0.5798, 0.05 * 0.5798);
    EXPECT_NEAR(settled(kind, 4000), 0.5798, 0.05 * 0.5798);
  }
}

TEST(FeedbackBeta, StaysWithGainsBeyondAllBounds) {
  Cooling c = cooling(CoolingKind::pid, 0.01, 100);
  c.feedback.target_begin = 0.44;
  c.feedback.kp = -1e308, c.feedback.ki = 1e308, c.feedback.kd = 1e308;
  for (int t = 0; t < 100; ++t) {
    const double now = feedback_beta(c, t, late, t % 3 == 0 ? 1.0 : 0.0);
    ASSERT_GE(now, 0.01) << t;
    ASSERT_LE(now, 100.0) << t;
  }
}

TEST(FeedbackBeta, DoesNotWindUpWhereTheTargetIsOutOfReach) {
  Cooling c = cooling(CoolingKind::pid, 0.01, 100);
  c.feedback.target_begin = 0.44;
  c.feedback.kp = 0.1, c.feedback.ki = 0.01, c.feedback.kd = 0.05;
  for (int t = 0; t < 10000; ++t) feedback_beta(c, t, late, 1.0);
  EXPECT_EQ(c.feedback.temperature, 0.01) << "as cold as it may be";
  EXPECT_LE(std::abs(c.feedback.integral), 10.0);
  int steps = 0;  // the other way it must not take longer than the integral is large
  while (c.feedback.temperature < 0.02 && steps < 3000)
    feedback_beta(c, 10000 + ++steps, late, 0.0);
  EXPECT_LT(steps, 1500);
}

}  // namespace
}  // namespace kiln::temperature_update_test
