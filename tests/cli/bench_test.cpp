// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The verb bench: which rows there are and what the document says. No test looks at a time.
#include <nlohmann/json.hpp>
#include <set>

#include "program.hpp"

namespace kiln::test {
namespace {

using nlohmann::json;

class Bench : public ProgramTest {
 protected:
  json document(std::vector<std::string> words) const {
    words.insert(words.begin(), "bench");
    words.insert(words.end(), {"--device", "cpu", "--quick", "--json"});
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return json::parse(outcome.out);
  }
};

void expect_spread(const json& spread) {
  EXPECT_GE(spread["count"], 1);
  EXPECT_LE(spread["min"], spread["lower_quartile"]);
  EXPECT_LE(spread["lower_quartile"], spread["median"]);
  EXPECT_LE(spread["median"], spread["upper_quartile"]);
  EXPECT_LE(spread["upper_quartile"], spread["max"]);
}

TEST_F(Bench, HasARowForEveryKernelOfTheCatalogue) {
  std::set<std::string> kernels;
  const json listed = json::parse(run({"list", "kernels", "--json"}).out);
  for (const json& kernel : listed["kernels"]) kernels.insert(kernel["name"]);

  const json measured = document({"kernels"});

  EXPECT_EQ(measured["schema"], "kiln.bench/1");
  EXPECT_EQ(measured["suite"], "kernels");
  EXPECT_EQ(measured["method"], "loop");
  EXPECT_EQ(measured["device"]["name"], "cpu");
  EXPECT_EQ(measured["command"][1], "bench");
  EXPECT_GE(measured["threads"], 1);
  EXPECT_GT(measured["floors"]["copy_gb_per_s"], 0.0);
  const std::string date = measured["date"];
  EXPECT_EQ(date.size(), 20u) << date;
  EXPECT_EQ(date.back(), 'Z') << date;
  std::set<std::string> seen;
  for (const json& row : measured["rows"]) {
    seen.insert(row["kernel"]);
    expect_spread(row["microseconds"]);
    EXPECT_GE(row["launches_per_batch"], 1);
    EXPECT_GT(row["bytes"], 0) << row;
    EXPECT_NE(row["shape"], "");
  }
  EXPECT_EQ(seen, kernels);
}

TEST_F(Bench, CountsTheAttemptsOfARun) {
  const json measured =
      document({"sweep", "--only", "torus:50x40,1", "--sweeps", "20", "--threads", "1"});

  EXPECT_EQ(measured["suite"], "sweep");
  EXPECT_EQ(measured["threads"], 1);
  ASSERT_EQ(measured["rows"].size(), 1u);
  const json row = measured["rows"][0];
  EXPECT_EQ(row["instance"], "torus:50x40,1");
  EXPECT_EQ(row["backend"], "cpu");
  EXPECT_EQ(row["kernel"], "metropolis_sweep");
  EXPECT_EQ(row["n"], 2000);
  EXPECT_EQ(row["m"], 4000);
  EXPECT_EQ(row["replicas"], 128);
  EXPECT_EQ(row["sweeps"], 20);
  expect_spread(row["attempts_per_ns_spread"]);
  EXPECT_EQ(row["attempts_per_ns"], row["attempts_per_ns_spread"]["median"]);
  // The rate of the median time: 2000 variables, 128 replicas, 20 sweeps.
  const double attempts = row["attempts_per_ns"].get<double>() * row["seconds"].get<double>() * 1e9;
  EXPECT_NEAR(attempts, 2000.0 * 128 * 20, 1.0);
}

TEST_F(Bench, MeasuresTemperingBesideItsSweeps) {
  const json measured = document({"tempering", "--only", "torus:10x10,1", "--sweeps", "80"});

  EXPECT_EQ(measured["suite"], "tempering");
  EXPECT_EQ(measured["method"], "run");
  ASSERT_EQ(measured["rows"].size(), 1u);
  const json row = measured["rows"][0];
  EXPECT_EQ(row["instance"], "torus:10x10,1");
  EXPECT_EQ(row["backend"], "cpu");
  EXPECT_EQ(row["n"], 100);
  EXPECT_EQ(row["m"], 200);
  EXPECT_EQ(row["rungs"].get<double>() * row["ladders"].get<double>(), row["replicas"]);
  EXPECT_EQ(row["sweeps"], 80);
  EXPECT_GT(row["barrier"], 0.0);
  EXPECT_LT(row["barrier"], row["rungs"]);
  EXPECT_NEAR(row["round_trips_predicted"].get<double>(),
              1 / (2 + 2 * row["barrier"].get<double>()), 1e-12);
  EXPECT_GE(row["round_trips_per_phase"], 0.0);
  expect_spread(row["attempts_per_ns_spread"]);
  expect_spread(row["other_share_spread"]);
  EXPECT_LT(row["other_share"], 1.0);
  const double attempts = row["attempts_per_ns"].get<double>() * row["seconds"].get<double>() * 1e9;
  EXPECT_NEAR(attempts, 100.0 * row["replicas"].get<double>() * 80, 1.0);
}

TEST_F(Bench, PrintsATableAndSaysOnStandardErrorWhatItDoes) {
  const std::vector<std::string> words{"bench",   "kernels", "--device",    "cpu",
                                       "--quick", "--only",  "advance_tick"};
  const Outcome outcome = run(words);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.out.find("\nadvance_tick   1 run "), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("summarize"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.err, "measuring  1 of 1: advance_tick 1 run\n");

  std::vector<std::string> quiet = words;
  quiet.emplace_back("--quiet");
  EXPECT_EQ(run(quiet).err, "");
}

TEST_F(Bench, DoesNotFallBackFromAnExplicitGpu) {
  const Outcome outcome = run(
      Call{{"bench", "kernels", "--device", "cuda"}, {}, {{"KILN_CUDA_MODULE", "/nonexistent"}}});
  EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
  EXPECT_EQ(outcome.out, "");
}

TEST_F(Bench, MeasuresSamplingRuns) {
  const json measured = document({"sampling"});

  EXPECT_EQ(measured["suite"], "sampling");
  EXPECT_EQ(measured["method"], "run");
  ASSERT_EQ(measured["rows"].size(), 1u);
  const json& row = measured["rows"][0];
  EXPECT_EQ(row["instance"], "posterior:eight-schools");
  EXPECT_EQ(row["chains"], 64);
  EXPECT_EQ(row["warmup"], 100);
  EXPECT_EQ(row["draws"], 100);
  EXPECT_GE(row["gradients"], 6400) << "one at least for each transition";
  EXPECT_GT(row["effective_draws"], 0);
  EXPECT_LE(row["sampling_seconds"], row["seconds"]);
  expect_spread(row["gradients_per_s_spread"]);
  expect_spread(row["effective_draws_per_s_spread"]);
}

TEST_F(Bench, SamplesALogisticRegressionOfItsOwn) {
  const json measured = document({"sampling", "--only", "logistic 5000 x 20, many"});

  ASSERT_EQ(measured["rows"].size(), 1u);
  const json& row = measured["rows"][0];
  EXPECT_EQ(row["case"], "logistic 5000 x 20, many chains");
  EXPECT_EQ(row["instance"], "posterior:logistic-regression,y");
  EXPECT_EQ(row["divergences"], 0);
  EXPECT_GT(row["effective_draws"], 0);
}

}  // namespace
}  // namespace kiln::test
