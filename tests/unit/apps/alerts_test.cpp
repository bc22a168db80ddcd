// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Each rule on both sides of its bounds, and that a healthy run raises nothing.
#include "output/alerts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kiln::cli::alerts_test {
namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

TEST(Alerts, MemoryAbove85PercentAndUntil80) {
  EXPECT_FALSE(memory_alert({"cuda:0", 84 * gib, 100 * gib}, false));
  EXPECT_TRUE(memory_alert({"cuda:0", 86 * gib, 100 * gib}, false));
  EXPECT_TRUE(memory_alert({"cuda:0", 84 * gib, 100 * gib}, true));
  EXPECT_FALSE(memory_alert({"cuda:0", 80 * gib, 100 * gib}, true));
  EXPECT_FALSE(memory_alert({"cuda:0", 5, 0}, false)) << "no total, no share";
  const auto alert = memory_alert({"cuda:0", 93 * gib, 100 * gib}, false);
  EXPECT_EQ(alert->message, "93 % of the memory of cuda:0 is in use, 93.0 GiB of 100.0 GiB");
  EXPECT_EQ(alert_text(*alert),
            "warning[alert.memory]: 93 % of the memory of cuda:0 is in use, 93.0 GiB of 100.0 "
            "GiB\n  fix: end other programs there; for the next run use fewer --replicas "
            "(--dry-run shows the memory of a run)");
}

TEST(Alerts, NonfiniteAboveTenPercentOfEnoughTrials) {
  EXPECT_FALSE(nonfinite_alert({100, 1000}, false)) << "ten percent";
  EXPECT_TRUE(nonfinite_alert({101, 1000}, false));
  EXPECT_FALSE(nonfinite_alert({9, 10}, false)) << "ten trials are too few";
  EXPECT_TRUE(nonfinite_alert({60, 1000}, true));
  EXPECT_FALSE(nonfinite_alert({50, 1000}, true));
}

AcceptancePlan anneal() {
  return acceptance_plan(
      "simulated-annealing",
      {{"beta_min", "0.2"}, {"beta_max", "3"}, {"anneal_sweeps", "1000"}, {"groups", "1"}}, false);
}

AcceptanceReading window(double rate, double beta_begin, double beta_end, double sweeps = 50) {
  return {rate, 1e6, beta_begin, beta_end, sweeps};
}

TEST(Alerts, AnAnnealIsJudgedAtItsEndsOnly) {
  const AcceptancePlan plan = anneal();
  ASSERT_EQ(plan.kind, AcceptanceKind::anneal);
  // Half way any rate is healthy, at the cold end a low one, and at the hot end a high one.
  EXPECT_FALSE(is_judged(plan, window(0.001, 1.0, 1.1)));
  EXPECT_FALSE(acceptance_alert(plan, window(0.0, 2.9, 3.0), false));
  EXPECT_FALSE(acceptance_alert(plan, window(1.0, 0.2, 0.21), false));
  const AcceptanceReading frozen = window(0.01, 0.2, 0.22), fluid = window(0.99, 2.9, 3.0);
  ASSERT_TRUE(is_judged(plan, frozen));
  EXPECT_NE(acceptance_alert(plan, frozen, false)->message.find("begins frozen"),
            std::string::npos);
  ASSERT_TRUE(is_judged(plan, fluid));
  EXPECT_NE(acceptance_alert(plan, fluid, false)->message.find("ends fluid"), std::string::npos);
  // The polish, at infinity, is the cold end.
  EXPECT_TRUE(is_judged(plan, window(0.99, 3.0, std::numeric_limits<double>::infinity())));
}

TEST(Alerts, WindowsKnowTheirEndOfAnAnneal) {
  const AcceptancePlan plan = anneal();
  EXPECT_EQ(anneal_end(plan, window(0, 0.24, 0.2)), AnnealEnd::hot);
  EXPECT_EQ(anneal_end(plan, window(0, 0.2, 0.26)), AnnealEnd::none);
  EXPECT_EQ(anneal_end(plan, window(0, 2.3, 3.0)), AnnealEnd::none);
  EXPECT_EQ(anneal_end(plan, window(0, 2.5, 3.0)), AnnealEnd::cold);
}

// From hot to hot with a whole round in between: the mean of a round has no healthy range.
TEST(Alerts, AWindowThatMayHoldARoundIsNotJudged) {
  const AcceptancePlan plan = anneal();
  EXPECT_FALSE(is_judged(plan, window(0.01, 0.2, 0.21, 1000)));
  EXPECT_FALSE(is_judged(plan, window(0.01, 0.2, 0.21, 251)));
  EXPECT_TRUE(is_judged(plan, window(0.01, 0.2, 0.21, 250)));
  AcceptanceReading few = window(0.0, 0.2, 0.21);
  few.attempts = 999;
  EXPECT_FALSE(is_judged(plan, few));
}

TEST(Alerts, AColdStartFromGivenStatesIsDeliberate) {
  AcceptancePlan plan = anneal();
  plan.given_states = true;
  EXPECT_FALSE(acceptance_alert(plan, window(0.01, 0.2, 0.22), false));
}

TEST(Alerts, GroupsOfAnnealsAreNotJudgedByTheirMean) {
  const AcceptancePlan plan = acceptance_plan(
      "simulated-annealing",
      {{"beta_min", "0.2"}, {"beta_max", "3"}, {"anneal_sweeps", "1000"}, {"groups", "4"}}, false);
  EXPECT_EQ(plan.kind, AcceptanceKind::unjudged);
}

// Of 16 rungs with the cold ones frozen a mean of 4 % is healthy: the hottest may accept 64 %.
TEST(Alerts, ALadderIsFrozenOnlyIfItsHottestRungIs) {
  const AcceptancePlan plan = acceptance_plan("parallel-tempering", {{"rungs", "16"}}, false);
  ASSERT_EQ(plan.kind, AcceptanceKind::ladder);
  EXPECT_FALSE(acceptance_alert(plan, window(0.04, 0.2, 0.2), false));
  EXPECT_FALSE(acceptance_alert(plan, window(0.0032, 0.2, 0.2), false));
  EXPECT_TRUE(acceptance_alert(plan, window(0.0031, 0.2, 0.2), false));
  EXPECT_FALSE(acceptance_alert(plan, window(0.95, 0.2, 0.2), false));
  EXPECT_TRUE(acceptance_alert(plan, window(0.951, 0.2, 0.2), false));
}

TEST(Alerts, ChainsThatMoveAlwaysAreHealthyAndStuckOnesAreNot) {
  const AcceptancePlan plan =
      acceptance_plan("hmc", {{"mode", "sample"}, {"warmup", "500"}}, false);
  ASSERT_EQ(plan.kind, AcceptanceKind::chains);
  EXPECT_EQ(plan.warmup, 500);
  EXPECT_FALSE(acceptance_alert(plan, window(1.0, 1, 1), false));
  EXPECT_FALSE(acceptance_alert(plan, window(0.06, 1, 1), false));
  EXPECT_TRUE(acceptance_alert(plan, window(0.04, 1, 1), false));
  EXPECT_EQ(acceptance_plan("hmc", {{"mode", "anneal"}}, false).kind, AcceptanceKind::unjudged);
}

TEST(Alerts, SchedulesWithoutAHealthyRangeAreNotJudged) {
  for (const char* name : {"evolutionary", "amosa", "random-search", "tabu-coloring",
                           "population-annealing", "bayesian-optimization", "another"}) {
    EXPECT_EQ(acceptance_plan(name, {{"beta_min", "1"}, {"beta_max", "2"}}, false).kind,
              AcceptanceKind::unjudged)
        << name;
  }
}

TEST(Alerts, SwapRatesBelowTenPercentNameTheWorstGap) {
  const double none = std::nan("");
  EXPECT_FALSE(swap_alert({0.5, 0.10, none}, false));
  EXPECT_FALSE(swap_alert({}, false));
  const auto alert = swap_alert({0.5, 0.09, 0.02, none}, false);
  ASSERT_TRUE(alert);
  EXPECT_EQ(alert->message,
            "rungs 2 and 3 accept 2 % of their exchanges; 2 of 4 gaps are below 10 %");
  EXPECT_TRUE(swap_alert({0.11}, true));
}

TEST(Alerts, APowerLimitIsNoFault) {
  EXPECT_FALSE(throttle_alert({{}}));
  EXPECT_FALSE(throttle_alert({{"power", "idle"}}));
  EXPECT_EQ(throttle_alert({{"power", "thermal"}})->message,
            "the device lowers its clocks: thermal");
}

TEST(Alerts, LostRecordsOfTelemetry) {
  EXPECT_FALSE(overrun_alert({0}));
  EXPECT_TRUE(overrun_alert({1}));
}

TEST(Alerts, ABusyHostIsOneWhereThreadsWait) {
  // Idle threads: half of the processor time, and nobody waits.
  EXPECT_FALSE(host_alert({5, 5, 0.1, 2}, false));
  // All of it is used, and so waiting costs nothing.
  EXPECT_FALSE(host_alert({5, 9, 4, 2}, false));
  EXPECT_TRUE(host_alert({5, 5, 5, 2}, false));
  EXPECT_FALSE(host_alert({5, 5, 1, 2}, false));
  EXPECT_TRUE(host_alert({5, 5, 1, 2}, true));
  EXPECT_FALSE(host_alert({0, 0, 0, 2}, false));
}

TEST(Alerts, AreRaisedOnceUntilTheyClear) {
  AlertLedger ledger;
  const Alert alert{AlertCode::memory, "much", "less"};
  EXPECT_FALSE(ledger.judge(AlertCode::memory, std::nullopt));
  const auto raised = ledger.judge(AlertCode::memory, alert);
  ASSERT_TRUE(raised && raised->raised);
  EXPECT_TRUE(ledger.is_active(AlertCode::memory));
  EXPECT_FALSE(ledger.judge(AlertCode::memory, alert)) << "still raised";
  EXPECT_FALSE(ledger.judge(AlertCode::swap_rate, std::nullopt)) << "another one";
  const auto ended = ledger.judge(AlertCode::memory, std::nullopt);
  ASSERT_TRUE(ended && !ended->raised);
  EXPECT_FALSE(ledger.is_active(AlertCode::memory));
  EXPECT_TRUE(ledger.judge(AlertCode::memory, alert)->raised) << "again";
}

}  // namespace
}  // namespace kiln::cli::alerts_test
