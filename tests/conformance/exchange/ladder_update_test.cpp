// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/ladder_update.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// kiln/device/exact_math.hpp only.
KILN_CONFORMANCE_CASE(LadderUpdate, exact)

namespace kiln::test::ladder_update_test {
namespace {

struct Round {
  LadderPlan plan;
  std::vector<double> beta;  // [ladders * rungs]
  std::vector<RungSums> sums;
  std::vector<std::uint64_t> attempts, accepted, chance, totals;
  RunControl control;
};

// `rejection` of a pair from its two betas; a million attempts each.
Round make_round(const std::vector<double>& betas, std::size_t ladders,
                 const std::function<double(double, double)>& rejection) {
  Round round;
  round.plan.rounds_left = 2;
  for (std::size_t g = 0; g < ladders; ++g) {
    round.beta.insert(round.beta.end(), betas.begin(), betas.end());
  }
  RungSums used;
  used.count = 5;
  used.best = -3;
  used.sum = 1;
  round.sums.assign(betas.size(), used);
  for (std::size_t i = 0; i + 1 < betas.size(); ++i) {
    constexpr std::uint64_t tries = 1000000;
    round.attempts.push_back(tries);
    round.accepted.push_back(1);
    const double p = 1 - rejection(betas[i], betas[i + 1]);
    round.chance.push_back(static_cast<std::uint64_t>(p * 0x1p24 * tries));
  }
  round.totals = {7, 8};
  return round;
}

Round run(Queue& queue, Round round, int calls = 1) {
  DeviceArray<LadderPlan> plan(queue, std::vector<LadderPlan>{round.plan});
  DeviceArray<double> beta(queue, round.beta);
  DeviceArray<RungSums> sums(queue, round.sums);
  DeviceArray<std::uint64_t> attempts(queue, round.attempts), accepted(queue, round.accepted),
      chance(queue, round.chance), totals(queue, round.totals);
  const std::vector<double> nothing(round.sums.size(), 0.0);
  DeviceArray<double> barrier(queue, nothing), slope(queue, nothing), fresh(queue, nothing);
  const DeviceArray<RunControl> control = upload_control(queue, round.control);
  for (int call = 0; call < calls; ++call) {
    queue.launch(LadderUpdate{plan.view(),
                              beta.view(),
                              sums.view(),
                              {attempts.view(), accepted.view(), chance.view(), totals.view()},
                              barrier.view(),
                              slope.view(),
                              fresh.view(),
                              control.data(),
                              1});
  }
  round.plan = plan.download().front();
  round.beta = beta.download();
  round.sums = sums.download();
  round.attempts = attempts.download();
  round.accepted = accepted.download();
  round.chance = chance.download();
  round.totals = totals.download();
  return round;
}

std::vector<double> powers(double first, double factor, std::size_t n) {
  std::vector<double> betas = {first};
  while (betas.size() < n) betas.push_back(betas.back() * factor);
  return betas;
}

class LadderUpdateKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(LadderUpdateKernel);

// Lambda proportional to beta: equal steps of the one are equal steps of the other.
TEST_P(LadderUpdateKernel, SpacesTheRungsEvenlyOnAStraightBarrier) {
  const Round out = run(queue(), make_round(powers(0.1, 1.3, 9), 3,
                                            [](double a, double b) { return 0.5 * (b - a); }));
  const double last = powers(0.1, 1.3, 9).back();
  for (std::size_t i = 0; i < 27; ++i) {
    const double share = static_cast<double>(i % 9) / 8;
    EXPECT_NEAR(out.beta[i], 0.1 + (last - 0.1) * share, 1e-5) << i;
  }
  EXPECT_EQ(out.beta[0], 0.1);
  EXPECT_EQ(out.beta[8], last) << "both ends stay";
}

// Lambda = log beta, known at 16 points: equal steps are equal factors.
TEST_P(LadderUpdateKernel, FollowsACurvedBarrier) {
  std::vector<double> betas;
  for (int i = 0; i < 16; ++i) betas.push_back(1 + 0.2 * i);
  const Round out =
      run(queue(), make_round(betas, 1, [](double a, double b) { return std::log(b / a); }));
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_NEAR(out.beta[i], std::pow(4, static_cast<double>(i) / 15), 4e-3)
        << i;  // straight lines are off by 4.6e-3
  }
}

// A wall between two rungs draws the others to it, and the order is kept.
TEST_P(LadderUpdateKernel, StaysMonotoneAtAWall) {
  const Round out = run(queue(), make_round(powers(1, 1.5, 8), 1, [](double a, double) {
                          return a > 2 && a < 3 ? 1.0 : 0.0;
                        }));
  for (std::size_t i = 0; i + 1 < 8; ++i) EXPECT_LT(out.beta[i], out.beta[i + 1]);
  const auto inside = std::count_if(out.beta.begin(), out.beta.end(),
                                    [](double b) { return b > 2.25 && b < 3.375; });
  EXPECT_EQ(inside, 6);
}

TEST_P(LadderUpdateKernel, ForgetsWhatWasCountedAndDoublesTheRound) {
  const auto half = [](double, double) { return 0.5; };
  Round in = make_round({1, 2, 3}, 1, half);
  in.plan.round_calls = 2;
  EXPECT_EQ(run(queue(), in).attempts, in.attempts) << "not due yet";
  EXPECT_EQ(run(queue(), in).plan.calls, 1);

  const Round out = run(queue(), in, 2);
  EXPECT_EQ(out.attempts, (std::vector<std::uint64_t>{0, 0}));
  EXPECT_EQ(out.accepted, out.attempts);
  EXPECT_EQ(out.chance, out.attempts);
  EXPECT_EQ(out.totals, out.attempts);
  for (const RungSums& sums : out.sums) {
    EXPECT_EQ(sums.count, 0u);
    EXPECT_EQ(sums.sum, 0.0);
    EXPECT_EQ(sums.best, -3.0) << "the best is of the whole run";
  }
  EXPECT_EQ(out.plan.rounds_left, 1);
  EXPECT_EQ(out.plan.round_calls, 4);
  EXPECT_EQ(out.plan.calls, 0);
}

// What the rounds leave over of the burn-in: no moves, and nothing of it is kept.
TEST_P(LadderUpdateKernel, ForgetsTheRestOfTheBurnIn) {
  Round in = make_round(powers(0.1, 1.3, 5), 2, [](double a, double b) { return 0.2 * (b - a); });
  in.plan.rounds_left = 1;
  in.plan.rest = 3;
  const Round moved = run(queue(), in);
  EXPECT_NE(moved.beta, in.beta);
  EXPECT_EQ(moved.plan.rounds_left, 1);
  Round resting = moved;
  resting.attempts = in.attempts;
  resting.chance = in.chance;
  EXPECT_EQ(run(queue(), resting, 2).attempts, in.attempts) << "not over yet";
  const Round over = run(queue(), resting, 3);
  EXPECT_EQ(over.beta, moved.beta);
  EXPECT_EQ(over.attempts, (std::vector<std::uint64_t>(4, 0)));
  EXPECT_EQ(over.plan.rounds_left, 0);
  EXPECT_EQ(over.plan.rest, 0);
}

TEST_P(LadderUpdateKernel, LeavesAFrozenLadderAlone) {
  Round in = make_round(powers(0.1, 1.3, 5), 2, [](double, double) { return 0.3; });
  in.plan.rounds_left = 0;
  const Round out = run(queue(), in, 3);
  EXPECT_EQ(out.beta, in.beta);
  EXPECT_EQ(out.attempts, in.attempts);
  in.plan.rounds_left = 1;
  in.control.stop = DeviceStop::target;
  EXPECT_EQ(run(queue(), in, 3).attempts, in.attempts);
}

TEST_P(LadderUpdateKernel, MovesNothingWithoutEvidenceOrWhereToldSo) {
  const auto half = [](double a, double b) { return 0.2 * (b - a); };
  Round untried = make_round(powers(0.1, 1.3, 5), 2, half);
  untried.attempts[2] = 0;
  EXPECT_EQ(run(queue(), untried).beta, untried.beta);
  EXPECT_EQ(run(queue(), untried).plan.rounds_left, 1);
  Round equal = make_round({1, 2, 2, 3}, 1, half);
  EXPECT_EQ(run(queue(), equal).beta, equal.beta);
  Round told = make_round(powers(0.1, 1.3, 5), 2, half);
  told.plan.moves = 0;
  EXPECT_EQ(run(queue(), told).beta, told.beta);
  EXPECT_EQ(run(queue(), told).totals[0], 0u);
  for (const std::size_t few : {1, 2}) {
    const Round short_ladder = make_round(powers(1, 2, few), 4, half);
    EXPECT_EQ(run(queue(), short_ladder).beta, short_ladder.beta);
  }
}

TEST_P(LadderUpdateKernel, MatchesCpu) {
  for (const std::size_t rungs : {1, 2, 3, 4, 31, 257, 1024}) {
    TestRandom random(rungs);
    Round in = make_round(powers(0.01, 1.01, rungs), 3,
                          [&](double, double) { return std::pow(random.unit(), 4); });
    in.plan.rounds_left = 5;
    const Round here = run(queue(), in), there = run(cpu_queue(), in);
    EXPECT_EQ(bits_of(here.beta), bits_of(there.beta)) << rungs;
    EXPECT_TRUE(std::is_sorted(here.beta.begin(), here.beta.begin() + static_cast<int>(rungs)));
    EXPECT_EQ(here.beta == in.beta, rungs < 3);
    EXPECT_EQ(here.plan.round_calls, there.plan.round_calls);
  }
}

}  // namespace
}  // namespace kiln::test::ladder_update_test
