// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The option --profile of the verbs that run a schedule.
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::test::profile_option_test {
namespace {

using nlohmann::json;

class ProfileOption : public ProgramTest {};

std::vector<std::string> annealing(std::vector<std::string> more) {
  std::vector<std::string> words{"solve",    "torus:30x30,1", "--device",   "cpu",
                                 "--sweeps", "400",           "--replicas", "256"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_F(ProfileOption, AddsATableToTheResult) {
  const Outcome plain = run(annealing({"-o", "plain"}));
  const Outcome profiled = run(annealing({"--profile", "-o", "profiled"}));
  ASSERT_EQ(profiled.exit_code, 0) << profiled.err;
  const std::string before = plain.out.substr(0, plain.out.find('\n') + 1);
  EXPECT_TRUE(profiled.out.starts_with(before.substr(0, before.find("after")))) << profiled.out;
  EXPECT_EQ(read("plain/solution.txt"), read("profiled/solution.txt"));
  const std::size_t begin = profiled.out.find("profile 50 of 50 ticks   device ");
  ASSERT_NE(begin, std::string::npos) << profiled.out;
  std::istringstream lines(profiled.out.substr(begin));
  std::string line;
  std::getline(lines, line);
  std::getline(lines, line);
  EXPECT_TRUE(line.starts_with("kernel ")) << line;
  std::getline(lines, line);
  EXPECT_TRUE(line.starts_with("metropolis_sweep ")) << line;
  bool files = false;
  while (std::getline(lines, line)) {
    EXPECT_LE(line.size(), 79u) << line;
    files |= line.starts_with("files  profiled/");
    EXPECT_TRUE(!files || line.starts_with("files ") || line.starts_with("       ")) << line;
  }
  EXPECT_TRUE(files) << "the last lines are those to act on";
  EXPECT_EQ(plain.out.find("profile"), std::string::npos);
}

TEST_F(ProfileOption, IsInTheDocument) {
  const json result = result_of(run(annealing({"--profile", "--json"})));
  const json& profile = result["profile"];
  EXPECT_EQ(profile["ticks"], 50);
  EXPECT_EQ(profile["of_ticks"], result["work"]["ticks"]);
  double time_s = 0;
  std::int64_t launches = 0;
  for (const json& kernel : profile["kernels"]) {
    time_s += kernel["time_s"].get<double>();
    launches += kernel["launches"].get<std::int64_t>();
    EXPECT_TRUE(kernel.contains("share") && kernel.contains("bytes") && kernel.contains("floor_s"));
  }
  EXPECT_EQ(launches, result["queue"]["in_ticks"]["launches"]);
  const double device_s = profile["device_s"];
  EXPECT_NEAR(time_s + profile["gaps_s"].get<double>(), device_s, 1e-9 * device_s);
  EXPECT_LE(device_s, result["time"]["run_s"].get<double>());
  EXPECT_FALSE(result.contains("hardware")) << "a CPU has no sensors";
  EXPECT_FALSE(result_of(run(annealing({"--json"}))).contains("profile"));
}

TEST_F(ProfileOption, IsForSamplingToo) {
  const json result =
      result_of(run({"sample", "posterior:eight-schools", "--device", "cpu", "--chains", "4",
                     "--warmup", "50", "--draws", "50", "--profile", "--json"}));
  ASSERT_FALSE(result["profile"]["kernels"].empty());
  EXPECT_EQ(result["profile"]["kernels"][0]["name"], "nuts_transition");
}

TEST_F(ProfileOption, GoesWithASearchWhoseTicksWaitForTheHost) {
  const json result =
      result_of(run({"solve", "function:branin", "--schedule", "bayesian-optimization", "--device",
                     "cpu", "--evaluations", "12", "--profile", "--json"}));
  const json& profile = result["profile"];
  EXPECT_EQ(profile["ticks"], result["work"]["ticks"]);
  EXPECT_GT(profile["gaps_s"], 0.0) << "the values are computed on the host";
}

TEST_F(ProfileOption, FailsLikeAnyResultThatCannotBeWritten) {
  Call call{annealing({"--profile"})};
  call.output_file = "/dev/full";
  EXPECT_EQ(run(call).exit_code, 6);
}

}  // namespace
}  // namespace kiln::test::profile_option_test
