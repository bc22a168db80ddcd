// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// incumbents.ndjson, telemetry.bin and what results say of incumbents.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kiln/telemetry/reader.hpp"

#include "program.hpp"

namespace kiln::test::telemetry_test {
namespace {

using nlohmann::json;

class Telemetry : public ProgramTest {
 protected:
  // 128 sweeps per epoch at least, on a problem that is not solved at once.
  Outcome solve_into(const std::string& folder, std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"solve", "torus:40x40,1", "--device", "cpu",        "--seed",
                                   "3",     "--sweeps",      "4000",     "--replicas", "64",
                                   "-o",    folder};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  std::vector<json> incumbents_of(const std::string& folder) const {
    std::vector<json> all;
    for (const std::string& line : lines_of(read(folder + "/incumbents.ndjson"))) {
      if (!line.empty()) all.push_back(json::parse(line));
    }
    return all;
  }
};

// The staircase again, from the lines of the file.
double area_under(const std::vector<json>& lines, double reference, double run_s) {
  double area = 0, since_s = 0, gap = 1;
  for (const json& line : lines) {
    const double time_s = line.at("time_s"), value = line.at("value");
    area += gap * (time_s - since_s);
    since_s = time_s;
    gap = value >= reference ? 0 : (reference - value) / reference;
  }
  return area + gap * (run_s - since_s);
}

TEST_F(Telemetry, IncumbentsRiseToTheResultAndHaveItsPrimalIntegral) {
  const Outcome outcome = solve_into("out", {"--json", "--report-interval", "10ms"});
  const json result = result_of(outcome);
  const std::vector<json> lines = incumbents_of("out");

  ASSERT_GT(lines.size(), 3u);
  EXPECT_EQ(lines.front().at("sweeps"), 0) << "the best of the initial states";
  for (std::size_t i = 1; i < lines.size(); ++i) {
    EXPECT_GT(lines[i].at("value"), lines[i - 1].at("value"));
    EXPECT_GT(lines[i].at("sweeps"), lines[i - 1].at("sweeps"));
    EXPECT_GE(lines[i].at("time_s"), lines[i - 1].at("time_s"));
  }
  EXPECT_EQ(lines.back().at("value"), result.at("objective").at("best"));
  EXPECT_EQ(lines.back().at("replica"), result.at("best_replica"));
  EXPECT_EQ(result.at("incumbents").at("count"), lines.size());
  EXPECT_EQ(result.at("incumbents").at("relative_to"), "best");
  EXPECT_FALSE(result.at("incumbents").contains("time_to_gap"));
  const double integral = result.at("incumbents").at("primal_integral");
  EXPECT_NEAR(integral, area_under(lines, lines.back().at("value"), result["time"]["run_s"]),
              1e-5 * static_cast<double>(lines.size()));
}

TEST_F(Telemetry, ARepeatHasTheSameIncumbentsButForTheirTimes) {
  solve_into("one", {"--threads", "1"});
  solve_into("two", {"--threads", "2", "--telemetry", "off", "--report-interval", "1ms"});
  std::vector<json> one = incumbents_of("one"), two = incumbents_of("two");
  for (std::vector<json>* lines : {&one, &two}) {
    for (json& line : *lines) line.erase("time_s");
  }
  EXPECT_EQ(one, two);
}

TEST_F(Telemetry, TimeToGapIsThereWhereTheBestIsKnown) {
  const Outcome outcome = run({"solve", "gset:G1", "--device", "cpu", "--sweeps", "300",
                               "--replicas", "64", "-v", "--target", "best-known"});
  EXPECT_NE(outcome.err.find("primal integral"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("time to gap  10 % at"), std::string::npos) << outcome.err;
}

// A tick takes longer than a report interval, so that each epoch ends with a report point.
TEST_F(Telemetry, SolutionsOfIncumbentsHaveTheirValues) {
  const json result = result_of(
      run({"solve", "torus:200x200,1", "--device", "cpu", "--sweeps", "400", "--replicas", "64",
           "--json", "--incumbent-solutions", "--report-interval", "1ms", "-o", "out"}));
  const std::vector<json> lines = incumbents_of("out");
  const auto name_of = [](std::size_t line) {
    const std::string number = std::to_string(line);
    return "out/incumbents/" + std::string(6 - number.size(), '0') + number + ".txt";
  };
  int found = 0;
  for (std::size_t i = 1; i <= lines.size(); ++i) {
    if (!exists(name_of(i))) continue;
    ++found;
    // A cold sweep from that state only finds what is as good or better.
    const json again = result_of(
        run({"solve", "torus:200x200,1", "--device", "cpu", "--initial", name_of(i), "--replicas",
             "1", "--sweeps", "1", "-p", "beta_min=1e9", "-p", "beta_max=1e9", "--json"}));
    EXPECT_GE(again.at("objective").at("best"), lines[i - 1].at("value")) << name_of(i);
  }
  EXPECT_GT(found, 1);
  EXPECT_TRUE(exists(name_of(lines.size()))) << "the last one is always there";
  EXPECT_EQ(lines.back().at("value"), result.at("objective").at("best"));
}

TEST_F(Telemetry, TheFileHasARecordOfEachEpochByDefault) {
  const json result = result_of(solve_into("out", {"--json"}));
  const TelemetryReader reader(read("out/telemetry.bin"), "telemetry.bin");
  const TelemetryHeader& header = reader.header();
  EXPECT_EQ(header.level, TelemetryLevel::summary);
  EXPECT_EQ(header.replicas, 64u);
  const auto ticks = result["work"]["ticks"].get<std::uint64_t>();
  ASSERT_EQ(reader.records().size(), 1 + ticks / header.ticks_per_epoch);
  const TelemetryRecord& last = reader.records().back();
  EXPECT_EQ(reader.value_of(last.best), incumbents_of("out").back().at("value").get<double>());
  EXPECT_GT(last.acceptance, 0);
  EXPECT_LT(last.acceptance, 1);
}

TEST_F(Telemetry, LevelsAndBudgetSayWhatIsRecorded) {
  solve_into("off", {"--telemetry", "off"});
  EXPECT_FALSE(exists("off/telemetry.bin"));
  EXPECT_TRUE(exists("off/incumbents.ndjson"));
  solve_into("nothing", {"--telemetry-budget", "0"});
  EXPECT_FALSE(exists("nothing/telemetry.bin"));
  solve_into("all", {"--telemetry", "replicas"});
  EXPECT_EQ(TelemetryReader(read("all/telemetry.bin"), "all").header().records_per_epoch, 66u);
  // 128 epochs of 66 records do not fit, 128 of one do.
  solve_into("less", {"--telemetry", "replicas", "--telemetry-budget", "32Ki"});
  EXPECT_EQ(TelemetryReader(read("less/telemetry.bin"), "less").header().level,
            TelemetryLevel::groups);
}

TEST_F(Telemetry, NeedsARunFolder) {
  const Outcome level = run({"solve", "torus:8x8,1", "--telemetry", "groups"});
  EXPECT_EQ(level.exit_code, 2);
  EXPECT_EQ(level.err,
            "error[cli.telemetry]: --telemetry needs a run folder\n"
            "  it writes into the folder of the run\n"
            "  fix: -o out/run\n");
  EXPECT_EQ(run({"solve", "torus:8x8,1", "--incumbent-solutions"}).exit_code, 2);
  const Outcome unknown = run({"solve", "torus:8x8,1", "--telemetry", "some", "-o", "x"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("--telemetry"), std::string::npos);
}

TEST_F(Telemetry, AFullDiskEndsNoRun) {
  Call call{{"solve", "torus:20x20,1", "--device", "cpu", "--sweeps", "4000", "--replicas", "64",
             "--telemetry", "replicas", "-o", "out"}};
  call.file_limit = 4096;
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.exit_code, 6) << outcome.err;
  EXPECT_NE(outcome.out.find("done   sweep limit"), std::string::npos) << outcome.out;
}

// A front has no energies: what asks for them says so, and leaves no folder behind.
TEST_F(Telemetry, OfAFrontIsRefusedWithTheReason) {
  const std::vector<std::string> front{"solve", "zdt:1", "--generations", "5", "--device", "cpu",
                                       "-o",    "out"};
  const auto outcome_of = [&](std::vector<std::string> more) {
    more.insert(more.begin(), front.begin(), front.end());
    return run(more);
  };
  EXPECT_EQ(
      outcome_of({"--telemetry", "groups"}).err,
      "error[cli.telemetry]: --telemetry=groups: schedule 'evolutionary' searches for a front, "
      "and has neither telemetry nor incumbents\n"
      "  they are about the energies of replicas, which states of a front do not have\n"
      "  fix: remove --telemetry; trace.csv and events.ndjson have the hypervolume of the "
      "front\n");
  write("run.toml", "telemetry = \"summary\"\n");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--telemetry", "summary"},
                                                {"--telemetry-budget", "1M"},
                                                {"--incumbent-solutions"},
                                                {"--config", "run.toml"},
                                                {"--telemetry", "replicas", "--seed", "2"}}) {
    const Outcome outcome = outcome_of(words);
    EXPECT_EQ(outcome.exit_code, 2) << words.front() << outcome.err;
    EXPECT_NE(outcome.err.find("error[cli.telemetry]: "), std::string::npos) << outcome.err;
    EXPECT_FALSE(exists("out")) << words.front();
  }
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{}, {"--telemetry", "off"}, {"--telemetry-budget", "0"}}) {
    const Outcome outcome = outcome_of(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err.find("telemetry"), std::string::npos) << outcome.err;
    std::filesystem::remove_all(folder_ / "out");
  }
}

}  // namespace
}  // namespace kiln::test::telemetry_test
