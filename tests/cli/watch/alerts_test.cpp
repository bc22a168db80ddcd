// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Planted conditions raise exactly their alert, and defaults raise none.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::test::alerts_test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

class AlertsOfRuns : public ProgramTest {
 protected:
  /// Codes of the alerts in the event log, but for those that depend on the machine alone.
  std::set<std::string> alerts_of(const Words& words) {
    Words all = words;
    all.insert(all.end(), {"--device", "cpu", "--threads", "2", "-o", "out"});
    std::filesystem::remove_all(folder_ / "out");
    outcome_ = run(all);
    EXPECT_EQ(outcome_.exit_code, 0) << outcome_.err;
    std::set<std::string> codes;
    for (const std::string& line : lines_of(read("out/events.ndjson"))) {
      const json event = json::parse(line);
      if (event["event"] != "alert") continue;
      EXPECT_TRUE(event["message"].is_string() && event["fix"].is_string()) << line;
      codes.insert(event["code"]);
    }
    codes.erase("memory");
    codes.erase("host_busy");
    return codes;
  }
  std::int64_t count_of(const std::string& text) const {
    std::int64_t count = 0;
    for (std::size_t at = outcome_.err.find(text); at != std::string::npos;
         at = outcome_.err.find(text, at + 1)) {
      ++count;
    }
    return count;
  }

  Outcome outcome_;
};

const std::set<std::string> none;

TEST_F(AlertsOfRuns, AnAnnealThatBeginsFrozen) {
  const std::set<std::string> codes =
      alerts_of({"solve", "gset:G1", "--time-limit", "1", "-p", "beta_min=50", "-p", "beta_max=60",
                 "-p", "anneal_sweeps=10M"});
  EXPECT_EQ(codes, std::set<std::string>{"acceptance"});
  EXPECT_EQ(count_of("warning[alert.acceptance]: the anneal begins frozen: "), 1) << outcome_.err;
  EXPECT_EQ(count_of("\n  fix: use a smaller -p beta_min, for example 5\n"), 1) << outcome_.err;
  const json result = json::parse(read("out/result.json"));
  const auto tells = [](const json& advice) {
    return advice.get<std::string>().starts_with("The anneal begins frozen: ");
  };
  EXPECT_EQ(std::ranges::count_if(result["advice"], tells), 1) << result["advice"];
}

TEST_F(AlertsOfRuns, AnAnnealThatEndsFluid) {
  EXPECT_EQ(alerts_of({"solve", "gset:G1", "--sweeps", "5000", "--report-interval", "10ms", "-p",
                       "beta_min=0.00001", "-p", "beta_max=0.00002", "-p", "polish_sweeps=0"}),
            std::set<std::string>{"acceptance"});
  EXPECT_EQ(count_of("warning[alert.acceptance]: the anneal ends fluid: "), 1) << outcome_.err;
}

TEST_F(AlertsOfRuns, ALadderThatIsFrozen) {
  EXPECT_EQ(
      alerts_of({"solve", "gset:G1", "--time-limit", "2.5", "--schedule", "parallel-tempering",
                 "-p", "beta_min=50", "-p", "beta_max=60", "-p", "rungs=4"})
          .count("acceptance"),
      1U);
}

TEST_F(AlertsOfRuns, ALadderWithAGapThatIsClosed) {
  EXPECT_EQ(alerts_of({"solve", "gset:G1", "--sweeps", "3000", "--schedule", "parallel-tempering",
                       "-p", "beta_min=0.05", "-p", "beta_max=2", "-p", "rungs=3"}),
            std::set<std::string>{"swap_rate"});
  EXPECT_EQ(count_of("warning[alert.swap_rate]: rungs "), 1) << outcome_.err;
}

// While the run can still be changed, and once.
TEST_F(AlertsOfRuns, AClosedGapIsToldDuringTheRun) {
  EXPECT_EQ(alerts_of({"solve", "gset:G1", "--time-limit", "6", "--schedule", "parallel-tempering",
                       "-p", "beta_min=0.05", "-p", "beta_max=2", "-p", "rungs=3"}),
            std::set<std::string>{"swap_rate"});
  EXPECT_EQ(count_of("warning[alert.swap_rate]: rungs "), 1) << outcome_.err;
  for (const std::string& line : lines_of(read("out/events.ndjson"))) {
    const json event = json::parse(line);
    const bool is_one = event["event"] == "alert" && event["code"] == "swap_rate";
    EXPECT_TRUE(!is_one || event["time_s"] < 5) << line;
  }
}

TEST_F(AlertsOfRuns, AProgramThatPrintsNan) {
  write("f.sh", "awk -v x=$1 'BEGIN { if (x < 0.5) print \"nan\"; else print x }'\n");
  EXPECT_EQ(alerts_of({"solve", "command:sh f.sh {x}", "--var", "x=real:0:1", "--schedule",
                       "simulated-annealing", "--replicas", "8", "--time-limit", "4"}),
            std::set<std::string>{"non_finite"});
  EXPECT_EQ(count_of("warning[alert.non_finite]: "), 1) << outcome_.err;
}

TEST_F(AlertsOfRuns, AreNotShownByQuietRuns) {
  alerts_of({"solve", "gset:G1", "--time-limit", "1", "-p", "beta_min=50", "-p", "beta_max=60",
             "-p", "anneal_sweeps=10M", "-q"});
  EXPECT_EQ(outcome_.err, "");
}

TEST_F(AlertsOfRuns, DefaultsRaiseNone) {
  for (const Words& words : std::initializer_list<Words>{
           {"solve", "gset:G22", "--time-limit", "2"},
           {"solve", "gset:G1", "--sweeps", "20k", "-p", "beta_max=3", "-p", "cooling=geometric"},
           {"solve", "gset:G32", "--schedule", "parallel-tempering", "--time-limit", "2"},
           {"solve", "gset:G32", "--schedule", "replica-exchange", "--time-limit", "2"},
           {"solve", "gset:G32", "--schedule", "population-annealing", "--time-limit", "2"},
           {"solve", "gset:G1", "--schedule", "random-search", "--time-limit", "1.5"},
           {"solve", "coloring:90,50,min,1", "--time-limit", "1.5"},
           {"solve", "function:rastrigin-30", "--time-limit", "2"},
           {"solve", "posterior:eight-schools", "--time-limit", "2"},
           {"sample", "posterior:eight-schools", "--chains", "16", "--draws", "20k"},
           {"solve", "zdt:1", "--time-limit", "1.5"},
           {"solve", "zdt:1", "--schedule", "amosa", "--time-limit", "1.5"},
           {"solve", "constrained:gramacy", "--evaluations", "12"}}) {
    EXPECT_EQ(alerts_of(words), none) << words[1] << outcome_.err;
  }
}

}  // namespace
}  // namespace kiln::test::alerts_test
