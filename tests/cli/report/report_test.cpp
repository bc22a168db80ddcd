// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The verb report and report.html in run folders: what it says is what the files say.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "program.hpp"
#include "report/report_page.hpp"

namespace kiln::test::report_test {
namespace {

using nlohmann::json;

class Report : public ProgramTest {
 protected:
  void tempering() const {
    ASSERT_EQ(run(short_run({"--schedule", "parallel-tempering", "-q", "-o", "run"})).exit_code, 0);
  }
  void draws() const {
    ASSERT_EQ(run({"sample", "posterior:eight-schools", "--draws", "60", "--warmup", "40",
                   "--chains", "4", "--device", "cpu", "-q", "-o", "run"})
                  .exit_code,
              0);
  }
  json result() const { return json::parse(read("run/result.json")); }
};

TEST_F(Report, IsInTheFolderOfEveryRunUnlessSwitchedOff) {
  const Outcome outcome = run(short_run({"-o", "run"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("checkpoint.kiln,report.html}"), std::string::npos) << outcome.out;
  EXPECT_EQ(read("run/report.html").rfind("<!DOCTYPE html>", 0), 0u);

  ASSERT_EQ(run(short_run({"-o", "other", "--no-report"})).exit_code, 0);
  EXPECT_FALSE(exists("other/report.html"));
  EXPECT_EQ(run({"report", "other"}).exit_code, 0);
  EXPECT_TRUE(exists("other/report.html"));
}

TEST_F(Report, HasTheNumbersOfTheResult) {
  tempering();
  const std::string html = read("run/report.html");
  EXPECT_EQ(differing_fields(html, result()), std::vector<std::string>{});
  const auto fields = fields_of(html);
  for (const char* field : {"objective.best", "time.run_s", "time.to_best_s", "work.sweeps",
                            "work.attempts", "diagnostics.barrier", "diagnostics.round_trips"}) {
    EXPECT_TRUE(fields.contains(field)) << field;
  }
  // A wrong number anywhere is found.
  for (const auto& [field, value] : fields) {
    std::string path = "/" + field;
    std::ranges::replace(path, '.', '/');
    json wrong = result();
    json& number = wrong[json::json_pointer(path)];
    number = number.get<double>() + 1;
    EXPECT_FALSE(differing_fields(html, wrong).empty()) << field;
  }
}

TEST_F(Report, ShowsTheExchangesBetweenRungs) {
  tempering();
  const auto figures = figures_with(read("run/report.html"), "data-values");
  ASSERT_TRUE(figures.contains("swap acceptance"));
  EXPECT_EQ(json(numbers_in(figures.at("swap acceptance"))), result()["series"]["acceptance"]);
}

/// The draws of a quantity, chain after chain.
std::vector<double> column_of(const std::string& npy, std::size_t quantity, std::size_t width) {
  const std::size_t begin = 10 + static_cast<unsigned char>(npy[8]) +
                            std::size_t{256} * static_cast<unsigned char>(npy[9]);
  std::vector<double> column;
  for (std::size_t at = begin + 8 * quantity; at + 8 <= npy.size(); at += 8 * width) {
    double value = 0;
    std::memcpy(&value, npy.data() + at, sizeof value);
    column.push_back(value);
  }
  return column;
}

TEST_F(Report, HistogramsCountAllDrawsAndRanksAreAmongAllChains) {
  draws();
  const std::string html = read("run/report.html"), npy = read("run/draws.npy");
  const json summary = result()["summary"];
  const auto counts = figures_with(html, "data-counts"),
             outside = figures_with(html, "data-outside"), ranks = figures_with(html, "data-ranks");
  ASSERT_EQ(counts.size(), summary.size());
  ASSERT_EQ(ranks.size(), summary.size());
  for (std::size_t q = 0; q < summary.size(); ++q) {
    const auto name = summary[q]["name"].get<std::string>();
    const std::vector<double> numbers = numbers_in(counts.at(name));
    EXPECT_EQ(std::reduce(numbers.begin(), numbers.end()) + std::stod(outside.at(name)), 4 * 60)
        << name;
    const std::vector<double> values = column_of(npy, q, summary.size());
    ASSERT_EQ(values.size(), 4u * 60);
    for (std::size_t chain = 0; chain < 4; ++chain) {
      std::vector<int> expected(20);
      for (std::size_t i = 60 * chain; i < 60 * chain + 60; ++i) {
        std::size_t rank = 0;  // ties, of moves that were refused, by their order
        for (std::size_t j = 0; j < values.size(); ++j) {
          rank += values[j] < values[i] || (values[j] == values[i] && j < i) ? 1 : 0;
        }
        ++expected[20 * rank / values.size()];
      }
      const std::string row = fmt::format("{}:{}", chain, json(expected).dump());
      std::string wanted = row;
      std::erase(wanted, '[');
      std::erase(wanted, ']');
      EXPECT_NE(ranks.at(name).find(wanted), std::string::npos) << name << "\n" << wanted;
    }
  }
  EXPECT_EQ(fields_of(html).find("summary.mu.mean")->second, fmt::format("{}", [&] {
              for (const json& one : summary) {
                if (one["name"] == "mu") return one["mean"].get<double>();
              }
              return 0.0;
            }()));
}

TEST_F(Report, ShowsFrontAndEvaluations) {
  ASSERT_EQ(run({"solve", "zdt:1", "--generations", "20", "--device", "cpu", "-q", "-o", "run"})
                .exit_code,
            0);
  const std::string front = read("run/report.html");
  EXPECT_EQ(std::stod(fields_of(front).find("front.hypervolume")->second),
            result()["front"]["hypervolume"].get<double>());
  EXPECT_NE(front.find("<section id=\"front\">"), std::string::npos);
  ASSERT_EQ(run({"solve", "function:branin", "--schedule", "bayesian-optimization", "--evaluations",
                 "12", "--device", "cpu", "-q", "-o", "bayes"})
                .exit_code,
            0);
  const json document = json::parse(run({"report", "bayes", "--json"}).out);
  EXPECT_EQ(document["schema"], "kiln.report/1");
  EXPECT_EQ(document["file"], "bayes/report.html");
  EXPECT_EQ(document["notes"], json::array());
  EXPECT_EQ(document["sections"][0], "evaluations");
  EXPECT_EQ(document["bytes"], read("bayes/report.html").size());
}

// Both objectives of zdt:1 lie within 0 .. 1, so that its box is the unit square: the area that the
// members dominate, strip by strip up to (1.1, 1.1).
TEST_F(Report, HypervolumeAndMembersAreThoseOfThePoints) {
  ASSERT_EQ(run({"solve", "zdt:1", "--generations", "40", "--device", "cpu", "-q", "-o", "run"})
                .exit_code,
            0);
  const json front = result()["front"];
  ASSERT_EQ(front["reference"], (json{1.1, 1.1}));
  auto points = front["points"].get<std::vector<std::vector<double>>>();
  std::ranges::sort(points);
  double area = 0, floor = 1.1;
  for (const std::vector<double>& point : points) {
    if (point[0] >= 1.1 || point[1] >= floor) continue;
    area += (1.1 - point[0]) * (floor - point[1]);
    floor = point[1];
  }
  const std::string html = read("run/report.html");
  EXPECT_NEAR(std::stod(fields_of(html).find("front.hypervolume")->second), area, 1e-12);
  EXPECT_NE(html.find(fmt::format("members</span><b>{}</b>", points.size())), std::string::npos);
}

// Fields that later versions of the program write, or that only a GPU gives.
TEST_F(Report, ShowsMemoryProfileAndHardware) {
  tempering();
  json with = result();
  with["memory"] = {{"peak_bytes", 3000},
                    {"planned_bytes", 4000},
                    {"owners", {{{"owner", "batch"}, {"bytes", 10}, {"peak_bytes", 20}}}}};
  with["profile"] = {{"device_s", 1.5},
                     {"busy_share", 0.75},
                     {"gaps_s", 0.25},
                     {"host_s", 0.5},
                     {"kernels",
                      {{{"name", "sweep"},
                        {"launches", 7},
                        {"time_s", 1.25},
                        {"share", 0.9},
                        {"bytes", nullptr},
                        {"floor_s", nullptr}}}}};
  with["hardware"] = {
      {"energy_j", 12.5}, {"power_w", {{"mean", 300}, {"max", 350}}}, {"throttled", {"power"}}};
  with["incumbents"] = {{"count", 2}, {"primal_integral", 0.125}};
  write("run/result.json", with.dump());
  const json document = json::parse(run({"report", "run", "--json"}).out);
  for (const char* section : {"memory", "profile", "hardware"}) {
    EXPECT_NE(std::ranges::find(document["sections"], section), document["sections"].end())
        << section;
  }
  const std::string html = read("run/report.html");
  const auto fields = fields_of(html);
  EXPECT_EQ(fields.find("memory.peak_bytes")->second, "3000");
  EXPECT_EQ(fields.find("memory.owners.0.peak_bytes")->second, "20");
  EXPECT_EQ(fields.find("profile.busy_share")->second, "0.75");
  EXPECT_EQ(fields.find("hardware.power_w.max")->second, "350");
  EXPECT_EQ(fields.find("incumbents.primal_integral")->second, "0.125");
  EXPECT_NE(html.find("<td>sweep</td>"), std::string::npos);
}

TEST_F(Report, StaysSmallWhateverTheRunFound) {
  ASSERT_EQ(
      run({"solve", "zdt:1", "--generations", "5", "--device", "cpu", "-q", "-o", "run"}).exit_code,
      0);
  json large = result();
  large["front"]["points"] = json::array();
  for (int i = 0; i < 20000; ++i) large["front"]["points"].push_back({i, 20000 - i});
  std::vector<double> series(50000);
  std::iota(series.begin(), series.end(), 0.5);
  for (int i = 0; i < 30; ++i) large["series"][fmt::format("series_{}", i)] = series;
  write("run/result.json", large.dump());
  std::string trace = "time_s,sweeps,attempts,best,mean,acceptance_rate,beta,attempts_per_ns\n";
  for (int i = 1; i <= 100000; ++i) {
    trace +=
        fmt::format("{},{},{},{},{},0.{},{},1\n", i, i, i, i / 7, i % 97, 1 + i % 8, 1 + i % 5);
  }
  write("run/trace.csv", trace);
  const Outcome outcome = run({"report", "run"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_LE(read("run/report.html").size(), 500'000u);
}

TEST_F(Report, OfARunWithoutAResultSaysThatItHasNoEnd) {
  tempering();
  std::filesystem::remove(folder_ / "run/result.json");
  const Outcome outcome = run({"report", "run"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string html = read("run/report.html");
  EXPECT_NE(html.find("no end"), std::string::npos);
  EXPECT_NE(html.find("so far"), std::string::npos);
}

TEST_F(Report, RefusesWhatIsNoRun) {
  EXPECT_EQ(run({"report"}).exit_code, 2);
  const Outcome outcome = run({"report", "nothing"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(first_line(outcome).rfind("error[input.open]: nothing/run.json: ", 0), 0u)
      << outcome.err;
  std::filesystem::create_directory(folder_ / "run");
  write("run/run.json", "{\"schema\":\"kiln.run/9\"}");
  EXPECT_EQ(run({"report", "run"}).exit_code, 3);
  EXPECT_FALSE(exists("run/report.html"));
}

TEST_F(Report, ReplacesReportsAndNothingElse) {
  tempering();
  write("mine.html", "<!DOCTYPE html><p>mine");
  const Outcome outcome = run({"report", "run", "-o", "mine.html"});
  EXPECT_EQ(outcome.exit_code, 6);
  EXPECT_EQ(first_line(outcome), "error[io.exists]: mine.html exists and is no report of Kiln");
  EXPECT_EQ(read("mine.html"), "<!DOCTYPE html><p>mine");
  EXPECT_EQ(run({"report", "run"}).exit_code, 0) << "over the one that the run wrote";
  EXPECT_EQ(run({"report", "run", "-o", "-"}).out, read("run/report.html"));
}

TEST_F(Report, SaysThatNobodyGotIt) {
  tempering();
  EXPECT_EQ(run(Call{.words = {"report", "run", "-o", "-"}, .output_file = "/dev/full"}).exit_code,
            6);
  EXPECT_EQ(run(Call{.words = {"report", "run", "-o", "small.html"}, .file_limit = 1000}).exit_code,
            6);
  EXPECT_FALSE(exists("small.html"));
}

}  // namespace
}  // namespace kiln::test::report_test
