// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The suites schedules, latency, api and targets of kiln bench. No test looks at a time.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::test::bench_small_runs_test {
namespace {

using nlohmann::json;

class BenchSmallRuns : public ProgramTest {
 protected:
  json rows_of(std::vector<std::string> words) const {
    words.insert(words.begin(), "bench");
    words.insert(words.end(), {"--device", "cpu", "--quick", "--json", "-q"});
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const json measured = json::parse(outcome.out);
    EXPECT_TRUE(measured["failed"].empty()) << measured["failed"];
    return measured["rows"];
  }
};

TEST_F(BenchSmallRuns, AnnealsEveryGroupByItsOwnOptions) {
  const json rows = rows_of({"schedules", "--only", "torus", "--sweeps", "200"});
  ASSERT_EQ(rows.size(), 1u);
  const json& row = rows[0];
  EXPECT_EQ(row["groups"], 4096);
  EXPECT_EQ(row["replicas"], 4096 * 32);
  EXPECT_EQ(row["anneal_sweeps"], 100);
  EXPECT_EQ(row["anneals"], 2 * 4096) << "two rounds of 100 sweeps";
  const double rate = row["schedules_per_s"], seconds = row["seconds"];
  EXPECT_NEAR(rate * seconds, 2 * 4096, 1e-6 * rate);
  // An anneal is 100 sweeps of 32 replicas of 64 spins.
  EXPECT_NEAR(row["attempts_per_ns"].get<double>() * 1e9, rate * 100 * 32 * 64, 1e-3 * rate * 1e5);
  EXPECT_GT(row["best_share"], 0.9) << "a ground state of 64 spins is easy to find";
}

TEST_F(BenchSmallRuns, DividesARun) {
  const json rows = rows_of({"latency"});
  ASSERT_EQ(rows.size(), 1u);
  const json& row = rows[0];
  EXPECT_EQ(row["backend"], "cpu");
  EXPECT_GE(row["runs"], 10);
  for (const char* part : {"setup_microseconds", "ticks_microseconds", "result_microseconds",
                           "microseconds", "beside_ticks_microseconds"}) {
    EXPECT_GT(row[part]["median"], 0.0) << part;
    EXPECT_GE(row[part]["p99"], row[part]["median"]) << part;
    EXPECT_LE(row[part]["median"], row["microseconds"]["median"]) << part;
  }
  EXPECT_GT(row["driver_calls_of_first_run"], 0);
}

// A run and launches by hand that differ in ticks or in the value found are a failed row.
TEST_F(BenchSmallRuns, ComparesARunWithItsLaunches) {
  const json rows = rows_of({"api", "--sweeps", "48"});
  ASSERT_EQ(rows.size(), 1u);
  const json& row = rows[0];
  EXPECT_EQ(row["case"], "G22");
  EXPECT_EQ(row["replicas"], 4096);
  EXPECT_EQ(row["sweeps"], 48);
  EXPECT_GT(row["direct_microseconds_per_sweep"]["min"], 0.0);
  EXPECT_EQ(row["ratio"]["count"], 2);
  EXPECT_NEAR(row["overhead"], row["ratio"]["median"].get<double>() - 1, 1e-12);
  EXPECT_GT(row["whole_overhead"], row["overhead"]) << "set-up and result take time";
  EXPECT_NEAR(
      row["sweeps_per_s"].get<double>() * row["api_microseconds_per_sweep"]["median"].get<double>(),
      1e6, 1);
}

TEST_F(BenchSmallRuns, PutsFiguresBesideTheirGoals) {
  const json steps = rows_of({"targets", "--only", "1000 schedules", "--sweeps", "50"}).at(0);
  EXPECT_EQ(steps["replicas"], 1000 * 32);
  EXPECT_NEAR(steps["figure"].get<double>() * steps["seconds"]["median"].get<double>(), 1000 * 50,
              1e-3);
  EXPECT_EQ(steps["goal_is"], "at least");
  EXPECT_EQ(steps["met"], steps["figure"] >= steps["goal"]);

  const json square = rows_of({"targets", "--only", "1000 spins", "--sweeps", "20"}).at(0);
  EXPECT_NEAR(square["figure"].get<double>() * 1e9 * square["seconds"]["median"].get<double>(),
              1000.0 * 1000 * 20, 1);
  EXPECT_TRUE(square["met"].is_null()) << "there is no goal";
}

// The couplings are real numbers, and their sums are rounded in each of the updates.
TEST_F(BenchSmallRuns, MeasuresTheErrorOfEnergies) {
  const json row = rows_of({"targets", "--only", "energies after 1000", "--sweeps", "300"}).at(0);
  EXPECT_EQ(row["sweeps"], 300);
  EXPECT_GT(row["figure"], 0.0);
  EXPECT_LT(row["figure"], 1e-6);
  EXPECT_EQ(row["met"], true);
}

}  // namespace
}  // namespace kiln::test::bench_small_runs_test
