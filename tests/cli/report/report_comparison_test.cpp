// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Reports on several runs.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "program.hpp"
#include "report/report_page.hpp"

namespace kiln::test::report_comparison_test {
namespace {

using nlohmann::json;

class Comparison : public ProgramTest {
 protected:
  /// A run folder with these rows in its trace.
  void make(const std::string& name, const std::string& schedule, int seed, double best,
            const std::vector<std::pair<double, double>>& found) const {
    const json run = {
        {"schema", "kiln.run/2"},
        {"kiln", "0.1.0"},
        {"seed", seed},
        {"problem", {{"name", "p"}, {"objective", {{"name", "cut"}, {"sense", "maximize"}}}}},
        {"schedule",
         {{"name", schedule}, {"given", json::object()}, {"parameters", json::object()}}},
        {"device", {{"name", "cpu"}}},
        {"options",
         {{"seed", {{"value", std::to_string(seed)}, {"origin", "default"}}},
          {"output", {{"value", name}, {"origin", "command line"}}}}}};
    std::filesystem::create_directories(folder_ / name);
    write(name + "/run.json", run.dump());
    const json result = {{"schema", "kiln.result/2"},
                         {"objective", {{"name", "cut"}, {"sense", "maximize"}, {"best", best}}},
                         {"time", {{"run_s", 10}}},
                         {"stop", "time_limit"},
                         {"verified", true}};
    write(name + "/result.json", result.dump());
    std::string trace = "time_s,sweeps,attempts,best,mean,acceptance_rate,beta,attempts_per_ns\n";
    for (const auto& [time, value] : found)
      trace += fmt::format("{0},1,1,{1},{1},1,1,1\n", time, value);
    write(name + "/trace.csv", trace);
  }
  std::vector<std::string> runs_of(const std::string& schedule,
                                   const std::vector<double>& best) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < best.size(); ++i) {
      names.push_back(fmt::format("{}-{}", schedule, i));
      const double time = 0.5 + static_cast<double>(i);
      make(names.back(), schedule, static_cast<int>(i), best[i],
           {{0.25, best[i] - 5}, {time, best[i]}});
    }
    return names;
  }
  std::string compare(std::vector<std::string> words) const {
    words.insert(words.begin(), "report");
    words.insert(words.end(), {"-o", "all.html"});
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return read("all.html");
  }
};

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST_F(Comparison, MediansAndTimesAreThoseOfTheRuns) {
  const auto annealing = runs_of("annealing", {90, 100, 95, 100, 80, 99, 100});
  const auto tempering = runs_of("tempering", {100, 100, 70});
  const std::string html = compare(joined(annealing, tempering));
  const auto fields = fields_of(html);
  EXPECT_EQ(fields.find("median.0")->second, "99");
  EXPECT_EQ(fields.find("median.1")->second, "100");
  // Seven runs: the least and the greatest value cover the median with 1 - 2/128.
  EXPECT_NE(html.find("<td class=\"n\">80 .. 100</td>"), std::string::npos);
  // The target is the best value of all, 100: annealing hits at 1.5, 3.5 and 6.5 s, three of seven.
  EXPECT_NE(html.find("Target: best value of these runs."), std::string::npos);
  EXPECT_NE(html.find("3 of 7 runs by 6.5 s"), std::string::npos);
  EXPECT_EQ(html.find("4 of 7 runs"), std::string::npos);
  EXPECT_NE(html.find("2 of 3 runs by 1.5 s"), std::string::npos);
  // Its median time lies beyond all hits; that of tempering is its second.
  EXPECT_NE(html.find("<td class=\"n\">7</td><td class=\"n\">3</td>"), std::string::npos);
  EXPECT_NE(html.find("<td class=\"n\">1.5 s</td>"), std::string::npos);
}

TEST_F(Comparison, TheTargetCanBeGiven) {
  const std::string html = compare(joined(runs_of("annealing", {90, 100, 95}), {"--target", "95"}));
  EXPECT_NE(html.find("2 of 3 runs by 2.5 s"), std::string::npos);
  EXPECT_NE(html.find("Target: given."), std::string::npos);
  EXPECT_EQ(run({"report", "annealing-0", "annealing-1", "--target", "much"}).exit_code, 2);
}

TEST_F(Comparison, ListsTheSettingsThatDiffer) {
  for (const char* beta : {"2", "3"}) {
    for (const char* seed : {"1", "2"}) {
      ASSERT_EQ(run(short_run({"-q", "-o", fmt::format("b{}s{}", beta, seed), "--seed", seed, "-p",
                               fmt::format("beta_max={}", beta)}))
                    .exit_code,
                0);
    }
  }
  const std::string html = compare({"b2s1", "b2s2", "b3s1", "b3s2"});
  EXPECT_NE(html.find("<tr><td>-p beta_max</td><td>2</td><td>3</td></tr>"), std::string::npos);
  EXPECT_EQ(html.find("<td>--seed</td>"), std::string::npos) << "seeds make no groups";
  EXPECT_EQ(html.find("<td>--output</td>"), std::string::npos);
  const json first = json::parse(read("b2s1/result.json"));
  EXPECT_NE(html.find(fmt::format("value=\"{}\"", first["objective"]["best"].get<double>())),
            std::string::npos);
}

TEST_F(Comparison, RunsOfSeveralProblemsHaveASectionEach) {
  ASSERT_EQ(run(short_run({"-q", "-o", "a"})).exit_code, 0);
  ASSERT_EQ(
      run({"solve", "torus:6x6,2", "--sweeps", "20", "--device", "cpu", "-q", "-o", "b"}).exit_code,
      0);
  const Outcome outcome = run({"report", "a", "b", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["sections"], (json{"problem-1", "problem-2"}));
  EXPECT_TRUE(exists("report.html")) << "in the current folder";
}

}  // namespace
}  // namespace kiln::test::report_comparison_test
