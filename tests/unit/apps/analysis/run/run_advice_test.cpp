// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a ladder without significant flow is told, by what its run recorded and exchanged.
#include <gtest/gtest.h>

#include "analysis/run/run_analysis.hpp"

namespace kiln::cli::run_advice_test {
namespace {

// One gap; the deviation of surrogates is 0.004 nats.
RunAnalysis without_flow(std::int64_t apart, double memory) {
  RunAnalysis run;
  LadderAnalysis ladder;
  ladder.ladders = 16;
  ladder.rungs = 2;
  ladder.epochs = 250;
  ladder.sweeps_apart = apart;
  ladder.p_value = 0.5;
  InformationLink link;
  link.estimate.surrogate_deviation = 0.004;
  ladder.up = ladder.down = {link};
  ladder.memory.resize(2);
  for (RungMemory& rung : ladder.memory) rung.sweeps = memory;
  run.ladder = ladder;
  run.exchange.min_acceptance = 0.34;
  run.exchange.round_trips = 100;
  run.recording = {1, 1, 600 << 20};
  return run;
}

std::string first_advice(const RunAnalysis& run) {
  const std::vector<std::string> advice = advice_of(run);
  return advice.empty() ? "" : advice.front();
}

bool says(const RunAnalysis& run, const char* words) {
  return first_advice(run).find(words) != std::string::npos;
}

TEST(RunAdvice, AcceptedSwapsMakeATestThatIsNotSignificantTooShort) {
  RunAnalysis run = without_flow(1, 3);
  EXPECT_TRUE(says(run, "250 epochs, which are too few")) << first_advice(run);
  // Score 2 * 0.002 / 0.004 / sqrt(2) = 0.71, and 4 takes 32 times as many epochs.
  EXPECT_TRUE(says(run, "about 8000 epochs")) << first_advice(run);
  EXPECT_TRUE(says(run, "--rows 128000")) << first_advice(run);
  run.exchange.min_acceptance = 0.01;
  EXPECT_TRUE(says(run, "exchanged too rarely")) << first_advice(run);
  run.exchange.min_acceptance = 0.34;
  run.exchange.round_trips = 0;
  EXPECT_TRUE(says(run, "exchanged too rarely")) << first_advice(run);
  run.exchange.min_acceptance.reset();
  EXPECT_FALSE(says(run, "too rarely")) << "a run in progress has no acceptance";
}

TEST(RunAdvice, ExchangeThatIsOffIsNamed) {
  RunAnalysis run = without_flow(64, 64);
  run.exchange.is_off = true;
  EXPECT_TRUE(says(run, "Exchange is off")) << first_advice(run);
}

TEST(RunAdvice, RareRecordsNameTheOptionThatMadeThemRare) {
  RunAnalysis run = without_flow(64, 64);
  run.ladder->is_thinned = true;
  EXPECT_TRUE(says(run, "--telemetry-budget 600Mi")) << first_advice(run);
  EXPECT_FALSE(says(run, "--telemetry-interval")) << first_advice(run);
  run.ladder->is_thinned = false;
  EXPECT_TRUE(says(run, "--telemetry-interval 4")) << first_advice(run);
  run.recording.sweeps_per_tick = 64;
  EXPECT_TRUE(says(run, "sweeps_per_swap")) << first_advice(run);
  EXPECT_FALSE(says(run, "--telemetry-interval")) << first_advice(run);
}

}  // namespace
}  // namespace kiln::cli::run_advice_test
