// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/temperature_update.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// kiln/device/exact_math.hpp only.
KILN_CONFORMANCE_CASE(TemperatureUpdate, exact)

namespace kiln::test::temperature_update_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Step {
  std::vector<double> beta;
  std::vector<std::uint32_t> restart;
  std::vector<Cooling> cooling;
};

Cooling cooling_of(CoolingKind kind, double begin, double end, std::int64_t length,
                   std::int64_t polish = 0) {
  Cooling c;
  c.kind = kind;
  c.beta_begin = begin;
  c.beta_end = end;
  c.length = length;
  c.polish = polish;
  if (kind == CoolingKind::geometric) c.log_rate = std::log(end / begin);
  return c;
}

class TemperatureUpdateKernel : public DeviceTest {
 protected:
  /// What each of `steps` launches, at step offsets 0, 1, ..., leaves behind.
  std::vector<Step> updated(Queue& queue, const std::vector<Cooling>& cooling,
                            const std::vector<double>& betas, std::uint32_t steps,
                            const RunControl& state = {}) const {
    DeviceArray<Cooling> cells(queue, cooling);
    DeviceArray<double> beta(queue, std::vector<double>(cooling.size(), -1.0));
    DeviceArray<std::uint32_t> restart(queue, std::vector<std::uint32_t>(cooling.size(), 9u));
    const DeviceArray<double> list(queue, betas);
    const DeviceArray<RunControl> control = upload_control(queue, state);
    const auto groups = static_cast<std::int64_t>(cooling.size());
    DeviceArray<std::uint64_t> ring(queue, groups * window);
    ring.zero();
    std::vector<Step> all;
    for (std::uint32_t offset = 0; offset < steps; ++offset) {
      // Every replica of a group has accepted the same number since the start, as if by chance.
      const DeviceArray<std::uint64_t> accepted(
          queue, std::vector<std::uint64_t>(cooling.size() * replicas, offset * (offset + 1) / 2));
      TemperatureUpdate kernel{cells.view(), beta.view(),    restart.view(),
                               list.view(),  control.data(), offset};
      kernel.accepted = accepted.view();
      kernel.window = {ring.data(), groups, window, window};
      kernel.group_size = replicas;
      kernel.attempts_per_sweep = replicas * 20.0;
      queue.launch(kernel);
      all.push_back({beta.download(), restart.download(), cells.download()});
    }
    return all;
  }

  static constexpr std::int64_t replicas = 37;
  static constexpr std::int64_t window = 3;

  /// The betas of one group.
  std::vector<double> betas_of(const Cooling& cooling, std::uint32_t steps,
                               const std::vector<double>& list = {}) const {
    std::vector<double> betas;
    for (const Step& step : updated(queue(), {cooling}, list, steps)) {
      betas.push_back(step.beta.front());
    }
    return betas;
  }
};
KILN_ON_EVERY_BACKEND(TemperatureUpdateKernel);

// One launch for the sweeps of a tick, here over the end of a round, and cut off by the limit.
TEST_P(TemperatureUpdateKernel, AdvancesSeveralSweepsAsOneByOne) {
  const std::vector<Cooling> cooling = {cooling_of(CoolingKind::linear, 1, 3, 5),
                                        cooling_of(CoolingKind::geometric, 0.5, 8, 4, 1)};
  for (const std::uint32_t done : {7u, 4u}) {
    RunControl state;
    state.step_limit = done;
    const std::vector<Step> apart = updated(queue(), cooling, {}, 7, state);
    DeviceArray<Cooling> cells(queue(), cooling);
    DeviceArray<double> beta(queue(), std::vector<double>(14, -1.0));
    DeviceArray<std::uint32_t> restart(queue(), std::vector<std::uint32_t>(2, 9u));
    const DeviceArray<RunControl> control = upload_control(queue(), state);
    TemperatureUpdate kernel{cells.view(), beta.view(), restart.view(), {}, control.data()};
    kernel.sweeps = 7;
    queue().launch(kernel);
    const std::vector<double> betas = beta.download();
    for (std::size_t s = 0; s < 7; ++s) {
      for (std::size_t g = 0; g < 2; ++g) {
        EXPECT_EQ(betas[2 * s + g], apart[std::min<std::size_t>(s, done - 1)].beta[g])
            << s << ' ' << g;
      }
    }
    EXPECT_EQ(restart.download(), apart.back().restart);
    EXPECT_EQ(cells.download().front().position, apart.back().cooling.front().position);
    EXPECT_EQ(cells.download().back().round, apart.back().cooling.back().round);
  }
}

TEST_P(TemperatureUpdateKernel, GoesFromOneEndToTheOtherLinearly) {
  EXPECT_EQ(betas_of(cooling_of(CoolingKind::linear, 1, 3, 5), 6),
            (std::vector<double>{1, 1.5, 2, 2.5, 3, 1}));
}

TEST_P(TemperatureUpdateKernel, BeginsAtTheEndWhereThereIsOneSweepOnly) {
  EXPECT_EQ(betas_of(cooling_of(CoolingKind::linear, 1, 3, 1), 2), (std::vector<double>{3, 3}));
}

TEST_P(TemperatureUpdateKernel, MultipliesByAFactorGeometrically) {
  const std::vector<double> betas = betas_of(cooling_of(CoolingKind::geometric, 0.5, 8, 5), 5);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(betas[i], std::ldexp(0.5, static_cast<int>(i)), 1e-14 * betas[i]);
  }
  EXPECT_EQ(betas[0], 0.5);
}

TEST_P(TemperatureUpdateKernel, FallsByAFactorPerSweepAsFarAsTheEnd) {
  Cooling c = cooling_of(CoolingKind::exponential, 1, 7, 6);
  c.log_rate = -std::log(2.0);  // log of the factor 1/2 by which the temperature falls

  const std::vector<double> betas = betas_of(c, 6);

  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(betas[i], std::ldexp(1.0, static_cast<int>(i)), 1e-14 * betas[i]);
  }
  for (std::size_t i = 3; i < 6; ++i) EXPECT_EQ(betas[i], 7.0);
}

TEST_P(TemperatureUpdateKernel, GivesEachBetaOfAListAnEqualShare) {
  EXPECT_EQ(betas_of(cooling_of(CoolingKind::list, 0, 0, 6), 6, {3, 1, 2}),
            (std::vector<double>{3, 3, 1, 1, 2, 2}));
  EXPECT_EQ(betas_of(cooling_of(CoolingKind::list, 0, 0, 5, 1), 5, {4, 5, 6}),
            (std::vector<double>{4, 4, 5, 6, infinity}));
}

TEST_P(TemperatureUpdateKernel, PolishesAtInfiniteBeta) {
  EXPECT_EQ(betas_of(cooling_of(CoolingKind::linear, 1, 2, 5, 3), 5),
            (std::vector<double>{1, 2, infinity, infinity, infinity}));
  EXPECT_EQ(betas_of(cooling_of(CoolingKind::geometric, 1, 2, 2, 2), 2),
            (std::vector<double>{infinity, infinity}));
}

TEST_P(TemperatureUpdateKernel, AsksForARestartAfterEachRoundAndLetsRoundsGrow) {
  Cooling c = cooling_of(CoolingKind::linear, 0, 1, 2);
  c.growth = 3;

  const std::vector<Step> steps = updated(queue(), {c}, {}, 8);

  const std::vector<std::uint32_t> restarts = {0, 1, 0, 0, 0, 0, 0, 1};
  const std::vector<std::int64_t> lengths = {2, 6, 6, 6, 6, 6, 6, 18};
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(steps[i].restart[0], restarts[i]) << i;
    EXPECT_EQ(steps[i].cooling[0].length, lengths[i]) << i;
  }
  EXPECT_EQ(steps[7].cooling[0].round, 2);
  EXPECT_EQ(steps[7].cooling[0].position, 0);
}

TEST_P(TemperatureUpdateKernel, StopsGrowingBeforeLengthsOverflow) {
  Cooling c = cooling_of(CoolingKind::linear, 0, 1, INT64_MAX >> 8);
  c.growth = 200;
  c.position = c.length - 1;

  EXPECT_EQ(updated(queue(), {c}, {}, 1)[0].cooling[0].length, INT64_MAX >> 8);
}

TEST_P(TemperatureUpdateKernel, RisesWithTheLogarithmAsFarAsTheEnd) {
  Cooling c = cooling_of(CoolingKind::logarithmic, 0.1, 0.5, 1001);
  c.log_rate = 1;
  const std::vector<double> betas = betas_of(c, 12);
  EXPECT_EQ(betas[0], 0.1);
  EXPECT_NEAR(1 / betas[1], 5.9062, 5e-5);
  EXPECT_NEAR(1 / betas[10], 2.9430, 5e-5);
}

// Sweep i accepts i of 20 attempts of each replica, so rates over a window of 3 are known by hand.
TEST_P(TemperatureUpdateKernel, FollowsTheAcceptanceOfTheWindow) {
  Cooling c = cooling_of(CoolingKind::adaptive, 0.001, 1000, 100);
  c.feedback.target_begin = 0.5;
  c.feedback.gain = 2;
  const std::vector<double> betas = betas_of(c, 8);
  EXPECT_EQ(betas[0], 0.001);
  EXPECT_EQ(betas[1], 0.001) << "hotter than at the start it does not get";
  c.feedback.target_begin = 0.01;
  const std::vector<double> cooler = betas_of(c, 8);
  const std::vector<double> rates = {0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3};
  for (std::size_t i = 1; i < 8; ++i) {
    const double factor = std::exp(2 * (rates[i - 1] - 0.01));
    EXPECT_NEAR(cooler[i], cooler[i - 1] * factor, 1e-13 * cooler[i]) << i;
  }
}

// 37 replicas of 2^28 variables and more: 0.75 of the attempts of a sweep are beyond 2^32.
TEST_P(TemperatureUpdateKernel, CountsMoreThan32BitsOfAcceptedMovesPerSweep) {
  constexpr std::uint64_t per_replica = 3ull << 28, per_sweep = per_replica * replicas;
  const DeviceArray<RunControl> control = upload_control(queue(), RunControl{});
  Cooling c = cooling_of(CoolingKind::adaptive, 0.1, 10, 1000);
  c.feedback.target_begin = 0.75;
  c.feedback.gain = 2;
  DeviceArray<Cooling> cells(queue(), std::vector<Cooling>{c});
  DeviceArray<double> beta(queue(), 1);
  DeviceArray<std::uint32_t> restart(queue(), 1);
  DeviceArray<std::uint64_t> ring(queue(), window);
  ring.zero();
  const DeviceArray<double> list(queue(), 0);
  for (std::uint64_t sweep = 0; sweep < 8; ++sweep) {
    const DeviceArray<std::uint64_t> accepted(
        queue(), std::vector<std::uint64_t>(replicas, sweep * per_replica));
    TemperatureUpdate kernel{cells.view(), beta.view(),    restart.view(),
                             list.view(),  control.data(), static_cast<std::uint32_t>(sweep)};
    kernel.accepted = accepted.view();
    kernel.window = {ring.data(), 1, window, window};
    kernel.group_size = replicas;
    kernel.attempts_per_sweep = static_cast<double>(per_sweep) / 0.75;
    queue().launch(kernel);
    const Feedback now = cells.download().front().feedback;
    EXPECT_EQ(now.in_window, per_sweep * std::min<std::uint64_t>(sweep, window)) << sweep;
    EXPECT_NEAR(beta.download().front(), 0.1, 1e-12) << "the rate is the target: nothing changes";
  }
}

std::vector<Cooling> mixed(std::size_t groups) {
  TestRandom random(groups);
  std::vector<Cooling> all;
  for (std::size_t g = 0; g < groups; ++g) {
    const auto kind = static_cast<CoolingKind>(random.between(0, 6));
    const std::int64_t length = random.between(1, 9);
    Cooling c = cooling_of(kind, 0.01 + random.unit(), 1 + 9 * random.unit(), length,
                           random.between(0, length));
    if (kind == CoolingKind::exponential) c.log_rate = -random.unit();
    if (kind == CoolingKind::logarithmic) c.log_rate = random.unit();
    c.feedback.target_begin = random.unit();
    c.feedback.target_log_rate = -random.unit();
    c.feedback.gain = random.unit();
    c.feedback.kp = random.unit();
    c.feedback.ki = random.unit();
    c.feedback.kd = random.unit();
    c.growth = random.between(1, 2);
    c.position = random.between(0, length - 1);
    all.push_back(c);
  }
  return all;
}

TEST_P(TemperatureUpdateKernel, TreatsAGroupOfAMixedBatchAsItWouldAlone) {
  for (const std::size_t groups : {1, 2, 31, 32, 33, 257, 1000}) {
    const std::vector<Cooling> all = mixed(groups);
    const std::vector<double> list = {0.5, 1.5, 4};
    const std::vector<Step> together = updated(queue(), all, list, 20);
    for (std::size_t g = 0; g < groups; g += 1 + groups / 8) {
      const std::vector<Step> alone = updated(queue(), {all[g]}, list, 20);
      for (std::size_t i = 0; i < 20; ++i) {
        EXPECT_EQ(bits_of({alone[i].beta[0]}), bits_of({together[i].beta[g]})) << g << ", " << i;
        EXPECT_EQ(alone[i].restart[0], together[i].restart[g]) << g << ", " << i;
        EXPECT_EQ(alone[i].cooling[0].round, together[i].cooling[g].round) << g << ", " << i;
      }
    }
  }
}

TEST_P(TemperatureUpdateKernel, MatchesCpu) {
  const std::vector<Cooling> all = mixed(1000);
  const std::vector<Step> here = updated(queue(), all, {1, 2}, 12);
  const std::vector<Step> there = updated(cpu_queue(), all, {1, 2}, 12);
  for (std::size_t i = 0; i < here.size(); ++i) {
    EXPECT_EQ(bits_of(here[i].beta), bits_of(there[i].beta)) << i;
    EXPECT_EQ(here[i].restart, there[i].restart) << i;
  }
}

TEST_P(TemperatureUpdateKernel, DoesNothingOnceStoppedOrBeyondTheLimit) {
  const Cooling c = cooling_of(CoolingKind::linear, 1, 2, 5);
  RunControl state;
  state.step_limit = 2;
  const std::vector<Step> steps = updated(queue(), {c}, {}, 4, state);
  EXPECT_EQ(steps[1].cooling[0].position, 2);
  EXPECT_EQ(steps[3].cooling[0].position, 2);

  state.stop = DeviceStop::target;
  const Step stopped = updated(queue(), {c}, {}, 1, state)[0];
  EXPECT_EQ(stopped.beta[0], -1.0);
  EXPECT_EQ(stopped.restart[0], 9u);
  EXPECT_EQ(stopped.cooling[0].position, 0);
}

}  // namespace
}  // namespace kiln::test::temperature_update_test
