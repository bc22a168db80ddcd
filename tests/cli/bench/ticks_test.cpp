// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The suite ticks of kiln bench.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::test::bench_ticks_test {
namespace {

using nlohmann::json;

class BenchTicks : public ProgramTest {
 protected:
  json row_of(const std::string& name) const {
    const Outcome outcome =
        run({"bench", "ticks", "--device", "cpu", "--only", name, "--quick", "--json", "-q"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const json measured = json::parse(outcome.out);
    EXPECT_TRUE(measured["failed"].empty()) << measured["failed"];
    return measured["rows"].at(0);
  }
};

// What a run of the same length counts while its ticks are enqueued.
TEST_F(BenchTicks, CountsTheLaunchesThatARunCounts) {
  struct Case {
    std::string schedule, instance;
    std::vector<std::string> parameters;
  };
  for (const Case& one : {Case{"simulated-annealing", "gset:G1", {}},
                          {"parallel-tempering", "gset:G1", {}},
                          {"population-annealing", "gset:G1", {}},
                          {"evolutionary", "zdt:1", {"-p", "strategy=sms-emoa"}}}) {
    const std::string strategy = one.parameters.empty() ? "" : "sms-emoa ";
    const json row = row_of(one.schedule + " " + strategy + one.instance);
    EXPECT_EQ(row["schedule"], one.schedule);
    EXPECT_EQ(row["instance"], one.instance);
    EXPECT_EQ(row["backend"], "cpu");
    EXPECT_TRUE(row["nodes_per_tick"].is_null()) << "nothing is captured on the CPU";
    const double per_tick = row["sweeps_per_tick"], ticks = row["ticks"];
    std::vector<std::string> words{
        "solve",    one.instance, "--schedule", one.schedule,
        "--device", "cpu",        "--sweeps",   std::to_string(static_cast<int>(per_tick * ticks)),
        "--json"};
    words.insert(words.end(), one.parameters.begin(), one.parameters.end());
    const json result = json::parse(run(words).out);
    EXPECT_EQ(row["replicas"], result["work"]["replicas"]);
    EXPECT_EQ(result["work"]["ticks"], ticks);
    EXPECT_EQ(row["launches_per_tick"].get<double>() * ticks,
              result["queue"]["in_ticks"]["launches"].get<double>())
        << one.schedule;
  }
}

TEST_F(BenchTicks, DividesATick) {
  const json row = row_of("parallel-tempering gset:G1");
  const json& tick = row["microseconds_per_tick"];
  const double us = tick["median"];
  EXPECT_GE(tick["count"], 1);
  EXPECT_DOUBLE_EQ(
      row["microseconds_per_sweep"].get<double>() * row["sweeps_per_tick"].get<double>(), us);
  EXPECT_DOUBLE_EQ(
      row["microseconds_per_node"].get<double>() * row["launches_per_tick"].get<double>(), us);
  EXPECT_DOUBLE_EQ(row["idle_share"].get<double>() * us,
                   row["idle_microseconds_per_tick"]["median"].get<double>());
  EXPECT_EQ(row["idle_microseconds_per_tick"]["count"], 15);
  EXPECT_GT(row["idle_share"], 0.0);
  // Sweeps of 512 replicas of 800 spins against a few calls that return at once.
  EXPECT_LT(row["idle_share"], 0.5);
}

TEST_F(BenchTicks, HasARowForEachScheduleThatEnqueuesTicks) {
  const Outcome outcome =
      run({"bench", "ticks", "--device", "cpu", "--time-limit", "1ms", "--json", "-q"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const json measured = json::parse(outcome.out);
  EXPECT_TRUE(measured["failed"].empty()) << measured["failed"];
  const json listed = json::parse(run({"list", "schedules", "--json"}).out)["schedules"];
  for (const json& schedule : listed) {
    const std::string name = schedule["name"];
    bool found = name.starts_with("bayesian-");  // models are fitted between its batches
    for (const json& row : measured["rows"]) found = found || row["schedule"] == name;
    EXPECT_TRUE(found) << name;
  }
}

}  // namespace
}  // namespace kiln::test::bench_ticks_test
