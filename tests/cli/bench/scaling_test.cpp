// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The suite scaling of kiln bench.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::test::bench_scaling_test {
namespace {

using nlohmann::json;

class BenchScaling : public ProgramTest {
 protected:
  json document(std::vector<std::string> more) const {
    std::vector<std::string> words{"bench", "scaling", "--device", "cpu", "--json", "-q"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const json measured = json::parse(outcome.out);
    EXPECT_TRUE(measured["failed"].empty()) << measured["failed"];
    return measured;
  }
};

TEST_F(BenchScaling, MeasuresPowersOfTwoAndSaysWhereTheRateSaturates) {
  const json measured = document({"--only", "torus", "--threads", "1", "--time-limit", "300ms"});
  const json& rows = measured["rows"];
  ASSERT_GE(rows.size(), 3u);
  std::vector<double> rates;
  for (const json& row : rows) rates.push_back(row["attempts_per_ns"]);
  const double best = *std::max_element(rates.begin(), rates.end());
  json saturated = nullptr;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const json& row = rows[i];
    EXPECT_EQ(row["instance"], "torus:50x40,1");
    EXPECT_EQ(row["threads"], 1);
    EXPECT_EQ(row["replicas"], 32 << i);
    // Attempts of a sweep: 2000 spins of each replica.
    EXPECT_NEAR(rates[i] * row["microseconds_per_sweep"].get<double>() * 1e3,
                2000.0 * row["replicas"].get<double>(), 1e-6 * 2000 * 32);
    EXPECT_DOUBLE_EQ(
        row["microseconds_per_sweep"].get<double>() * row["sweeps"].get<double>() * 1e-6,
        row["seconds"]);
    EXPECT_DOUBLE_EQ(row["best_share"].get<double>() * best, rates[i]);
    const bool counts = saturated.is_null() && i + 1 < rows.size();
    if (counts && rates[i] >= 0.9 * best) saturated = row["replicas"];
  }
  ASSERT_EQ(measured["saturation"].size(), 1u);
  const json& one = measured["saturation"][0];
  EXPECT_EQ(one["replicas"], saturated);
  EXPECT_EQ(one["best_attempts_per_ns"], best);
  EXPECT_EQ(one["max_replicas"], rows.back()["replicas"]);
  EXPECT_EQ(one["default_replicas"], 512);
  const std::string next = std::to_string(2 * rows.back()["replicas"].get<int>());
  EXPECT_EQ(one["end"], next + " replicas take longer than the time limit leaves");
}

TEST_F(BenchScaling, MeasuresTwoRowsOfASparseAndADenseInstanceInAnyCase) {
  const json measured = document({"--threads", "1", "--time-limit", "0.001ms", "--sweeps", "4"});
  std::vector<std::string> names;
  for (const json& row : measured["rows"]) {
    names.push_back(row["instance"].get<std::string>() + " " + row["replicas"].dump());
    EXPECT_EQ(row["sweeps"], 4);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"torus:50x40,1 32", "torus:50x40,1 64", "k2000 32",
                                             "k2000 64"}));
}

TEST_F(BenchScaling, MeasuresEachNumberOfThreads) {
  const json measured = document({"--quick"});
  const int all = measured["threads"];
  std::vector<int> wanted, threads;
  for (int n = 1; n < all; n *= 2) wanted.push_back(n);
  wanted.push_back(all);
  for (const json& one : measured["saturation"]) {
    threads.push_back(one["threads"]);
    EXPECT_EQ(one["times_one_thread"].is_null(), threads.back() == 1);
    if (threads.back() == 1) continue;
    EXPECT_DOUBLE_EQ(one["times_one_thread"].get<double>() *
                         measured["saturation"][0]["best_attempts_per_ns"].get<double>(),
                     one["best_attempts_per_ns"]);
  }
  EXPECT_EQ(threads, wanted);
  EXPECT_EQ(measured["rows"].size(), 2 * wanted.size());
}

TEST_F(BenchScaling, FitsIntoEightyColumns) {
  const Outcome outcome = run({"bench", "scaling", "--device", "cpu", "--quick", "-q"});
  const std::vector<std::string> lines = lines_of(outcome.out);
  ASSERT_GT(lines.size(), 4u);
  EXPECT_TRUE(lines[2].starts_with("instance ")) << lines[2];
  for (std::size_t i = 2; !lines[i].empty(); ++i) EXPECT_LT(lines[i].size(), 80u) << lines[i];
  EXPECT_NE(outcome.out.find("\ntorus:50x40,1, 1 thr: "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find(" Default: 512 replicas. The rows end: the suite measures up to 64 "
                             "replicas.\n"),
            std::string::npos)
      << outcome.out;
}

}  // namespace
}  // namespace kiln::test::bench_scaling_test
