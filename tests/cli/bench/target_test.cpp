// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The suite time-to-target of kiln bench.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::test::bench_target_test {
namespace {

using nlohmann::json;

class BenchTarget : public ProgramTest {
 protected:
  json row_of(const char* limit, const char* only = "G1") const {
    const Outcome outcome = run({"bench", "time-to-target", "--device", "cpu", "--only", only,
                                 "--quick", "--time-limit", limit, "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const json measured = json::parse(outcome.out);
    EXPECT_EQ(measured["suite"], "time-to-target");
    return measured["rows"].at(0);
  }
};

// G1 takes a CPU some tenths of a second; within 5 ms no run can make the first tick and win.
TEST_F(BenchTarget, MeasuresTimesToTheBestKnownValue) {
  const json row = row_of("60s");
  EXPECT_EQ(row["instance"], "gset:G1");
  EXPECT_EQ(row["schedule"], "parallel-tempering");
  EXPECT_EQ(row["target"], 11624);
  EXPECT_EQ(row["limit_s"], 30.0) << "60 s for two seeds of one row";
  EXPECT_EQ(row["seeds"], 2);
  EXPECT_EQ(row["reached"], 2);
  const auto first = row["run_s"][0].get<double>(), second = row["run_s"][1].get<double>();
  EXPECT_DOUBLE_EQ(row["median_s"], (first + second) / 2);
  EXPECT_EQ(row["slowest_s"], std::max(first, second));
  EXPECT_EQ(row["setup_s_spread"]["count"], 2);
  EXPECT_GT(row["setup_s_spread"]["min"], 0.0);
  EXPECT_GT(row["primal_integral_s_spread"]["min"], 0.0);
  EXPECT_LT(row["primal_integral_s_spread"]["max"], std::max(first, second))
      << "the gap is at most 1, and after the first tick a few percent";

  const json missed = row_of("2ms");
  EXPECT_EQ(missed["reached"], 0);
  EXPECT_EQ(missed["median_s"], nullptr);
  EXPECT_EQ(missed["slowest_s"], nullptr);
}

TEST_F(BenchTarget, RunsTheDefaultScheduleOfAColoringToItsBound) {
  const json row = row_of("60s", "queen9");
  EXPECT_EQ(row["instance"], "coloring:queen9,10");
  EXPECT_EQ(row["schedule"], "tabu-coloring");
  EXPECT_EQ(row["target"], 0);
  EXPECT_EQ(row["reached"], 2);
  EXPECT_NE(row["command"].get<std::string>().find(" --target 0 "), std::string::npos);
}

// The row names a command that makes the same run.
TEST_F(BenchTarget, NamesTheCommandOfATime) {
  const json row = row_of("60s");
  std::istringstream text(row["command"].get<std::string>());
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  ASSERT_EQ(words.front(), "kiln");
  ASSERT_EQ(words.back(), "N");
  words.erase(words.begin());
  words.back() = "1";
  words.emplace_back("--json");

  const json result = json::parse(run(words).out);

  EXPECT_EQ(result["objective"]["best"], row["target"]);
  EXPECT_EQ(result["work"]["replicas"], row["replicas"]);
}

}  // namespace
}  // namespace kiln::test::bench_target_test
