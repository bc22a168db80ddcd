// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln bench forecast: rows of each model, and the figures that belong together.
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace kiln::test::bench_forecast_test {
namespace {

using nlohmann::json;

class BenchForecast : public ProgramTest {};

TEST_F(BenchForecast, HasARowForEachModelAndMarksTheChoice) {
  const Outcome outcome = run({"bench", "forecast", "--device", "cpu", "--quick", "--only",
                               "learning", "--json", "--quiet"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json measured = json::parse(outcome.out);

  EXPECT_EQ(measured["suite"], "forecast");
  EXPECT_TRUE(measured["failed"].empty()) << measured["failed"];
  ASSERT_EQ(measured["rows"].size(), 5u);
  const std::vector<std::string> models{"last", "power_law", "ar", "kalman", "ridge"};
  int chosen = 0;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const json& row = measured["rows"][i];
    EXPECT_EQ(row["family"], "learning curves");
    EXPECT_EQ(row["model"], models[i]);
    EXPECT_EQ(row["runs"], 120);
    EXPECT_EQ(row["test_runs"], 30);
    EXPECT_EQ(row["level"], 0.9);
    // Four forecasts of each run; a few runs improve too late for the first.
    EXPECT_GT(row["forecasts"], 100);
    EXPECT_LE(row["forecasts"], 120);
    ASSERT_EQ(row["coverage_by_stage"].size(), 4u);
    double sum = 0;
    for (const json& stage : row["coverage_by_stage"]) sum += stage.get<double>();
    EXPECT_NEAR(row["coverage"].get<double>(), sum / 4, 0.05);
    // 36 runs calibrate 30: the standard deviation of a fraction is about 0.07.
    EXPECT_GT(row["coverage"], 0.7) << row["model"];
    EXPECT_GT(row["coverage_between"], 0.6) << row["model"];
    EXPECT_GT(row["width"], 0);
    EXPECT_NEAR(row["crps_ratio"].get<double>(),
                row["crps"].get<double>() / measured["rows"][0]["crps"].get<double>(), 1e-12);
    EXPECT_EQ(row["met"].is_null(), !row["chosen"].get<bool>());
    chosen += row["chosen"].get<bool>() ? 1 : 0;
  }
  EXPECT_EQ(chosen, 1);
}

// Runs are made and forecast in a fixed order: nothing depends on a time.
TEST_F(BenchForecast, GivesTheSameFiguresTwice) {
  const std::vector<std::string> words{"bench",  "forecast", "--device", "cpu",
                                       "--only", "maxcut",   "--quick",  "--json"};
  const Outcome first = run(words), second = run(words);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(json::parse(first.out)["rows"], json::parse(second.out)["rows"]);
}

TEST_F(BenchForecast, SaysWhichRunsAreTooShort) {
  const Outcome outcome = run(
      {"bench", "forecast", "--device", "cpu", "--quick", "--only", "maxcut", "--sweeps", "16"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err,
            "error[bench.sweeps]: after an eighth of 16 sweeps a run has too few points for a "
            "forecast\n  384 sweeps or more\n  fix: --sweeps 384\n");
  const Outcome least = run(
      {"bench", "forecast", "--device", "cpu", "--quick", "--only", "maxcut", "--sweeps", "384"});
  EXPECT_EQ(least.exit_code, 0) << least.err;
}

TEST_F(BenchForecast, NamesItsFamilies) {
  const Outcome outcome =
      run({"bench", "forecast", "--device", "cpu", "--quick", "--only", "maxcutt"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("'maxcut'"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace kiln::test::bench_forecast_test
