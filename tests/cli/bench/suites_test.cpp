// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The verb bench: which rows there are and what the document says. No test looks at a time.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "program.hpp"

namespace kiln::test::bench_test {
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
  EXPECT_TRUE(measured["failed"].empty()) << measured["failed"];
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

TEST_F(Bench, MeasuresFactorsOfLargeMatrices) {
  const std::string row = "batched_triangular_solve 1 system of 1000 unknowns, 1000 right";
  const Outcome outcome = run({"bench", "kernels", "--device", "cpu", "--only", row, "--json",
                               "--time-limit", "1ms", "--quiet"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const json measured = json::parse(outcome.out);
  EXPECT_TRUE(measured["failed"].empty()) << measured["failed"];
  ASSERT_EQ(measured["rows"].size(), 1u);
  EXPECT_EQ(measured["rows"][0]["shape"], "1 system of 1000 unknowns, 1000 right-hand sides");
}

// A program for each kernel: a fault of one ends no other.
TEST_F(Bench, MeasuresEveryRowOfEveryKernelOnAGpu) {
  const Outcome probe = run({"bench", "kernels", "--device", "cuda", "--quick", "--only", "tick"});
  if (probe.exit_code == 4 && std::getenv("KILN_REQUIRE_GPU") == nullptr) {
    GTEST_SKIP() << probe.err;
  }
  const json listed = json::parse(run({"list", "kernels", "--json"}).out);
  ASSERT_GT(listed["kernels"].size(), 60u);
  for (const json& kernel : listed["kernels"]) {
    const std::string name = kernel["name"];
    const Outcome outcome = run({"bench", "kernels", "--device", "cuda", "--only", name + " ",
                                 "--time-limit", "1ms", "--json", "--quiet"});
    EXPECT_EQ(outcome.exit_code, 0) << name << ": " << outcome.err;
    const json measured = json::parse(outcome.out, nullptr, false);
    ASSERT_FALSE(measured.is_discarded()) << name;
    EXPECT_TRUE(measured["failed"].empty()) << measured["failed"];
    EXPECT_GE(measured["rows"].size(), 1u) << name;
  }
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
  EXPECT_EQ(row["replicas"], 512);
  EXPECT_EQ(row["sweeps"], 20);
  expect_spread(row["attempts_per_ns_spread"]);
  EXPECT_EQ(row["attempts_per_ns"], row["attempts_per_ns_spread"]["median"]);
  // The rate of the median time: 2000 variables, 512 replicas, 20 sweeps.
  const double attempts = row["attempts_per_ns"].get<double>() * row["seconds"].get<double>() * 1e9;
  EXPECT_NEAR(attempts, 2000.0 * 512 * 20, 1.0);
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
  EXPECT_LT(row["cluster_share"], 1.0);
  EXPECT_LT(row["exchange_share"], 1.0);
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

TEST_F(Bench, MeasuresHowGoodAFrontIs) {
  const json measured = document({"pareto"});

  EXPECT_EQ(measured["suite"], "pareto");
  EXPECT_EQ(measured["method"], "run");
  ASSERT_EQ(measured["rows"].size(), 1u);
  const json& row = measured["rows"][0];
  EXPECT_EQ(row["case"], "zdt:1 nsga2");
  EXPECT_EQ(row["instance"], "zdt:1");
  EXPECT_EQ(row["strategy"], "nsga2");
  EXPECT_EQ(row["backend"], "cpu");
  EXPECT_EQ(row["islands"], 1);
  EXPECT_EQ(row["population"], 100);
  EXPECT_EQ(row["generations"], 249);
  EXPECT_EQ(row["evaluations"], 25000);
  EXPECT_EQ(row["reference"], 1.0);
  // Under f2 = 1 - sqrt(f1) lies a third of the square.
  EXPECT_NEAR(row["true_hypervolume"].get<double>(), 2.0 / 3, 1e-4);
  EXPECT_GT(row["hypervolume"], 0.65) << "what NSGA-II is known to reach is 0.659";
  EXPECT_LT(row["hypervolume"], row["true_hypervolume"]);
  EXPECT_DOUBLE_EQ(row["true_share"].get<double>() * row["true_hypervolume"].get<double>(),
                   row["hypervolume"].get<double>());
  EXPECT_GT(row["igd"], 0.0);
  EXPECT_LT(row["igd"], 0.01);
  EXPECT_TRUE(row["constraint_cost"].is_null());
  expect_spread(row["hypervolume_spread"]);
  expect_spread(row["generations_per_s_spread"]);
  EXPECT_EQ(row["seeds"], row["hypervolume_spread"]["count"]);
  // The rate of the median time.
  EXPECT_NEAR(row["generations_per_s"].get<double>() * row["seconds"].get<double>(), 249, 1e-6);
}

TEST_F(Bench, MeasuresWhatAConstraintCosts) {
  const json measured = document({"pareto", "--only", "beside dtlz:2,2", "--sweeps", "20"});

  ASSERT_EQ(measured["rows"].size(), 1u);
  const json& row = measured["rows"][0];
  EXPECT_EQ(row["instance"], "cdtlz:c2-dtlz2,2");
  EXPECT_EQ(row["population"], 1000);
  EXPECT_EQ(row["generations"], 20);
  EXPECT_EQ(row["evaluations"], 21000);
  EXPECT_TRUE(row["igd"].is_null());
  EXPECT_GT(row["constraint_cost"], -1.0);
  expect_spread(row["constraint_cost_spread"]);
  EXPECT_EQ(row["constraint_cost_spread"]["count"], row["seeds"]) << "a pair for each seed";
}

TEST_F(Bench, MeasuresAFrontOfManyIslands) {
  const json measured = document({"pareto", "--only", "many islands", "--sweeps", "20"});

  ASSERT_EQ(measured["rows"].size(), 1u);
  const json& row = measured["rows"][0];
  EXPECT_EQ(row["islands"], 10);
  EXPECT_EQ(row["population"], 100);
  EXPECT_EQ(row["evaluations"], 21000);
  EXPECT_TRUE(row["constraint_cost"].is_null());
}

TEST_F(Bench, MeasuresAFrontOfThreeObjectivesByItsDistance) {
  const json measured = document({"pareto", "--only", "nsga3", "--sweeps", "100"});

  ASSERT_EQ(measured["rows"].size(), 1u);
  const json& row = measured["rows"][0];
  EXPECT_EQ(row["instance"], "dtlz:2");
  EXPECT_EQ(row["population"], 92);
  EXPECT_EQ(row["reference"], 1.1);
  EXPECT_TRUE(row["true_share"].is_null());
  // The cube up to 1.1 without an eighth of the unit ball.
  EXPECT_GT(row["hypervolume"], 0.6);
  EXPECT_LT(row["hypervolume"], 1.331 - 0.5236);
  EXPECT_LT(row["igd"], 0.1);
}

TEST_F(Bench, EndsASearchForAFrontAfterAFixedTime) {
  const json measured = document({"pareto", "--only", "zdt:2 sms-emoa, fixed", "--sweeps", "7"});

  ASSERT_EQ(measured["rows"].size(), 1u);
  const json& row = measured["rows"][0];
  EXPECT_EQ(row["strategy"], "sms-emoa");
  EXPECT_EQ(row["seeds"], 1);
  EXPECT_GE(row["generations"], 1);
  EXPECT_LE(row["generations"], 7);
  EXPECT_EQ(row["population"], 1000);
  EXPECT_EQ(row["evaluations"], 1000 * (row["generations"].get<int>() + 1));
  EXPECT_NEAR(row["true_hypervolume"].get<double>(), 1.0 / 3, 1e-4);
}

TEST_F(Bench, MeasuresHowGoodBayesianOptimisationIs) {
  const json measured = document({"bayes"});

  EXPECT_EQ(measured["suite"], "bayes");
  EXPECT_EQ(measured["method"], "run");
  ASSERT_EQ(measured["rows"].size(), 1u);
  const json& row = measured["rows"][0];
  EXPECT_EQ(row["case"], "branin");
  EXPECT_EQ(row["instance"], "function:branin");
  EXPECT_EQ(row["backend"], "cpu");
  EXPECT_EQ(row["dimension"], 2);
  EXPECT_EQ(row["evaluations"], 30);
  EXPECT_EQ(row["batch"], 1);
  EXPECT_EQ(row["studies"], 2);
  EXPECT_EQ(row["value_spread"]["count"], 2) << "a best value for each study";
  expect_spread(row["value_spread"]);
  expect_spread(row["milliseconds_spread"]);
  // Thirty random points reach 2 or so.
  EXPECT_GE(row["value"], 0.397887357);
  EXPECT_LT(row["value"], 0.5);
  EXPECT_TRUE(row["bad_suggestions"].is_null());
  EXPECT_TRUE(row["failure"].is_null());
  ASSERT_EQ(row["gates"].size(), 1u);
  const json& gate = row["gates"][0];
  EXPECT_EQ(gate["what"], "median gap");
  EXPECT_NEAR(gate["value"].get<double>(), row["value"].get<double>() - 0.39788735772973816, 1e-12);
  EXPECT_EQ(gate["met"], gate["value"].get<double>() <= gate["limit"].get<double>());
  EXPECT_EQ(row["met"], gate["met"]);
}

// Both studies of the row are those of a run that anyone can start.
TEST_F(Bench, SearchesTheFunctionThatSolveSearches) {
  const json measured = document({"bayes", "--only", "branin", "--sweeps", "9"});
  const Outcome outcome =
      run({"solve", "function:branin", "--schedule", "bayesian-optimization", "-p", "studies=2",
           "--sweeps", "9", "--seed", "1", "--device", "cpu", "--output", "run"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json result = json::parse(read("run/result.json"));
  EXPECT_EQ(measured["rows"][0]["value_spread"]["min"], result["objective"]["best"]);
}

TEST_F(Bench, MeasuresBatchesOfPointsThatAreAskedFor) {
  const json measured = document({"bayes", "--only", "ask for 4 points", "-p", "restarts=1"});

  ASSERT_EQ(measured["rows"].size(), 1u);
  const json& row = measured["rows"][0];
  EXPECT_EQ(row["case"], "ask for 4 points after 60 evaluations, 6 variables");
  EXPECT_EQ(row["dimension"], 6);
  EXPECT_EQ(row["evaluations"], 60);
  EXPECT_EQ(row["batch"], 4);
  EXPECT_GT(row["milliseconds"], 0.0);
  EXPECT_TRUE(row["value"].is_null());
  EXPECT_EQ(row["gates"].size(), 0u) << "there is a gate on a GPU only";
  EXPECT_TRUE(row["met"].is_null());
}

TEST_F(Bench, AsksAfterDataThatAreHardOnModels) {
  for (const std::string data : {"constant", "one evaluation", "outlier", "failed", "duplicated"}) {
    const json measured = document({"bayes", "--only", data});
    ASSERT_EQ(measured["rows"].size(), 1u);
    const json& row = measured["rows"][0];
    EXPECT_EQ(row["bad_suggestions"], 0) << row;
    EXPECT_TRUE(row["failure"].is_null()) << row;
    EXPECT_EQ(row["milliseconds_spread"]["count"], 2) << "both batches came: " << row;
    EXPECT_EQ(row["met"], true);
  }
}

TEST_F(Bench, SearchesATableThatIsGiven) {
  std::string table = "entry,base,temperature,yield\n";
  for (int base = 0; base < 8; ++base) {
    for (int degrees = 0; degrees < 8; ++degrees) {
      table += std::to_string(8 * base + degrees) + ",b" + std::to_string(base) + "," +
               std::to_string(10 * degrees) + "," + std::to_string(base * 10 + degrees) + "\n";
    }
  }
  write("yields.csv", table);
  const json measured =
      document({"bayes", "--only", "arylation", "--data", "yields.csv", "--sweeps", "5"});
  ASSERT_EQ(measured["rows"].size(), 1u);
  const json& row = measured["rows"][0];
  EXPECT_EQ(row["dimension"], 2);
  EXPECT_EQ(row["evaluations"], 25);
  EXPECT_EQ(row["batch"], 5);
  ASSERT_EQ(row["gates"].size(), 1u) << "what is asked after 50 is left out";
  EXPECT_EQ(row["gates"][0]["what"], "mean after 25 evaluations");
  EXPECT_EQ(row["gates"][0]["at_least"], true);
  EXPECT_LE(row["value"], 77.0);
  EXPECT_GE(row["value"], 60.0) << "25 of 64 rows are looked at";

  const Outcome missing = run({"bench", "bayes", "--only", "arylation", "--device", "cpu"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.err.find("give it with --data FILE"), std::string::npos) << missing.err;
  const Outcome other = run({"bench", "pareto", "--data", "yields.csv", "--device", "cpu"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("--data is for suite bayes"), std::string::npos) << other.err;
}

}  // namespace
}  // namespace kiln::test::bench_test
