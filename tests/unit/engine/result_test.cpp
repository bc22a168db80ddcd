// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/result.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "backends/cpu_queue.hpp"

namespace kiln::result_test {
namespace {

using Json = nlohmann::json;
using test::complaint;

Result cut_result() {
  Result result;
  result.problem = "gset:G22";
  result.family = "maxcut";
  result.schedule = "simulated-annealing";
  result.device = "cpu";
  result.device_description = "2 threads";
  result.seed = 18446744073709551615ull;
  result.sense = Sense::maximize;
  result.integral = true;
  result.objective = 13359;
  result.energy = -6728;
  result.best_known = 13359;
  result.gap = 0;
  result.stop = Stop::target_reached;
  result.verified = true;
  result.solution = {std::vector<std::int8_t>{1, -1, 1}};
  result.best_replica = 5;
  result.work.sweeps = 1000;
  result.work.replicas = 32;
  result.work.attempts = 64e6;
  result.work.ticks = 125;
  result.work.accepted = 7;
  result.work.device.launches = 3;
  result.time = {0.5, 4.75, 4.5};
  result.parameters = {{"cooling", "linear"}};
  result.diagnostics = {{"rounds", 2.0}};
  result.series = {{"beta", {0.5, std::numeric_limits<double>::quiet_NaN()}}};
  result.advice = {"Take more rungs."};
  return result;
}

TEST(ResultJson, HasTheFieldsOfTheSchema) {
  const Json json = Json::parse(cut_result().to_json());

  EXPECT_EQ(json.at("schema"), "kiln.result/2");
  EXPECT_EQ(json.at("problem"),
            (Json{{"name", "gset:G22"}, {"family", "maxcut"}, {"notes", Json::array()}}));
  EXPECT_EQ(json.at("schedule").at("name"), "simulated-annealing");
  EXPECT_EQ(json.at("schedule").at("parameters").at("cooling"), "linear");
  EXPECT_EQ(json.at("device").at("name"), "cpu");
  EXPECT_TRUE(json.at("device").at("fallback_reason").is_null());
  EXPECT_EQ(json.at("seed").get<std::uint64_t>(), 18446744073709551615ull);
  EXPECT_EQ(json.at("objective").at("sense"), "maximize");
  EXPECT_EQ(json.at("objective").at("gap"), 0.0);
  EXPECT_EQ(json.at("stop"), "target_reached");
  EXPECT_EQ(json.at("verified"), true);
  EXPECT_EQ(json.at("work").at("sweeps"), 1000);
  EXPECT_EQ(json.at("work").at("accepted"), 7);
  EXPECT_EQ(json.at("queue").at("total").at("launches"), 3);
  EXPECT_EQ(json.at("time").at("run_s"), 4.75);
  EXPECT_EQ(json.at("diagnostics").at("rounds"), 2.0);
  EXPECT_EQ(json.at("series").at("beta"), (Json{0.5, nullptr}));
  EXPECT_EQ(json.at("advice"), Json::array({"Take more rungs."}));
  EXPECT_EQ(json.at("solution"), (Json{1, -1, 1}));
  EXPECT_EQ(json.at("best_replica"), 5);
}

TEST(ResultJson, WritesIntegersAsIntegers) {
  const std::string text = cut_result().to_json();
  EXPECT_NE(text.find("\"best\":13359,\"best_known\":13359,"), std::string::npos) << text;
  EXPECT_NE(text.find("\"energy\":-6728,"), std::string::npos) << text;
  EXPECT_NE(text.find("\"attempts\":64000000,"), std::string::npos) << text;
}

TEST(ResultJson, WritesRealsWithAllTheirDigits) {
  Result result = cut_result();
  result.integral = false;
  result.objective = 0.1;
  result.energy = 1.0 / 3.0;
  result.solution = {std::vector<double>{0.1, 1e-300}};

  const Json json = Json::parse(result.to_json());

  EXPECT_EQ(json.at("objective").at("best").get<double>(), 0.1);
  EXPECT_EQ(json.at("energy").get<double>(), 1.0 / 3.0);
  EXPECT_EQ(json.at("solution"), (Json{0.1, 1e-300}));
}

TEST(ResultJson, UnknownIsNullAndNeverZero) {
  Result result = cut_result();
  result.best_known.reset();
  result.gap.reset();

  const Json json = Json::parse(result.to_json());

  EXPECT_TRUE(json.at("objective").at("best_known").is_null());
  EXPECT_TRUE(json.at("objective").at("gap").is_null());
}

TEST(ResultJson, WritesSeveralBlocksAsAList) {
  Result result = cut_result();
  result.solution = {std::vector<std::int32_t>{2, 0, 1}, std::vector<double>{0.5}};
  EXPECT_EQ(Json::parse(result.to_json()).at("solution"), (Json{{2, 0, 1}, {0.5}}));
}

TEST(ResultJson, SurvivesANameThatIsNotUtf8) {
  Result result = cut_result();
  result.problem = "caf\xE9.mtx";
  EXPECT_NO_THROW(Json::parse(result.to_json()));
}

TEST(Result, ReportsInOneLine) {
  Result result = cut_result();
  EXPECT_EQ(result.brief_report(), "best 13359 (gap 0.000 %), target_reached after 4.8 s");
  result.gap.reset();
  result.integral = false;
  result.objective = 0.25;
  result.verified = false;
  EXPECT_EQ(result.brief_report(), "best 0.25, target_reached after 4.8 s, NOT VERIFIED");
}

TEST(Result, GivesTheSolutionByItsType) {
  Result result;
  result.solution = {std::vector<std::int8_t>{1, -1}};
  EXPECT_EQ(result.spins(), (std::vector<std::int8_t>{1, -1}));
  EXPECT_EQ(&result.bits(), &result.spins());
  EXPECT_EQ(complaint([&] { result.reals(); }),
            "result.solution: the solution is not a single block of reals");
  EXPECT_EQ(complaint([&] { result.permutation(); }),
            "result.solution: the solution is not a single block of a permutation");

  result.solution = {std::vector<double>{0.5}};
  EXPECT_EQ(result.reals(), std::vector<double>{0.5});
  result.solution = {std::vector<std::int32_t>{1, 0}};
  EXPECT_EQ(result.permutation(), (std::vector<std::int32_t>{1, 0}));
  result.solution.push_back(std::vector<double>{0.5});
  EXPECT_NE(complaint([&] { result.permutation(); }), "accepted");
}

TEST(Stop, HasAName) {
  EXPECT_STREQ(to_string(Stop::target_reached), "target_reached");
  EXPECT_STREQ(to_string(Stop::time_limit), "time_limit");
  EXPECT_STREQ(to_string(Stop::sweep_limit), "sweep_limit");
  EXPECT_STREQ(to_string(Stop::evaluation_limit), "evaluation_limit");
  EXPECT_STREQ(to_string(Stop::converged), "converged");
  EXPECT_STREQ(to_string(Stop::interrupted), "interrupted");
}

}  // namespace
}  // namespace kiln::result_test
