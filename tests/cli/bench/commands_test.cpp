// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The suite commands of kiln bench.
#include <nlohmann/json.hpp>
#include <string>

#include "program.hpp"

namespace kiln::test::bench_commands_test {
namespace {

using nlohmann::json;

class BenchCommands : public ProgramTest {
 protected:
  json row_of(const std::string& name) const {
    const Outcome outcome = run({"bench", "commands", "--device", "cpu", "--only", name, "--quick",
                                 "--time-limit", "1s", "--json", "-q"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const json measured = json::parse(outcome.out);
    EXPECT_TRUE(measured["failed"].empty()) << measured["failed"];
    return measured["rows"].at(0);
  }
};

TEST_F(BenchCommands, LosesNoneOfMany) {
  const json row = row_of("many");
  EXPECT_EQ(row["commands"], 10000);
  EXPECT_EQ(row["lost"], 0);
  EXPECT_EQ(row["reordered"], 0);
  EXPECT_GT(row["commands_per_s"], 0.0);
  EXPECT_TRUE(row["held_microseconds"].is_null());
}

TEST_F(BenchCommands, TimesSingleOnes) {
  const json row = row_of("single: parallel-tempering torus");
  EXPECT_EQ(row["lost"], 0);
  EXPECT_EQ(row["executor"], "stream");
  EXPECT_GE(row["commands"], 200);
  const double tick = row["microseconds_per_tick"];
  const json &held = row["held_microseconds"], &answered = row["answered_microseconds"];
  EXPECT_GT(tick, 0.0);
  EXPECT_LE(held["median"], held["p99"]);
  EXPECT_LE(held["median"], answered["median"]);
  // A run of the CPU obeys at the end of its tick or of the next one.
  EXPECT_LT(held["median"].get<double>(), 10 * tick + 1000);
}

}  // namespace
}  // namespace kiln::test::bench_commands_test
