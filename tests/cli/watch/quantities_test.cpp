// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// kiln watch shows the numbers that a schedule has, and none of those that stand at 0 in its trace.
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::test::quantities_test {
namespace {

using nlohmann::json;

class WatchQuantities : public ProgramTest {
 protected:
  // The panel line that begins with a label.
  std::string line_of(const std::string& label) const {
    const Outcome panel = run({"watch", "out", "--once"});
    EXPECT_EQ(panel.exit_code, 0) << panel.err;
    for (const std::string& line : lines_of(panel.out)) {
      if (line.starts_with(label)) return line;
    }
    return {};
  }
  json document() const { return json::parse(run({"watch", "out", "--json"}).out); }
  std::string improvement() const {
    for (const std::string& line : lines_of(run({"watch", "out"}).out)) {
      if (line.find("   improvement   ") != std::string::npos) return line;
    }
    return {};
  }
  void add(const std::string& line) const {
    std::ofstream(folder_ / "out/events.ndjson", std::ios::app) << line << "\n";
  }
  void expect_absent(const json& document, const std::vector<std::string>& names) const {
    for (const std::string& name : names) EXPECT_TRUE(document.at(name).is_null()) << name;
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
};

TEST_F(WatchQuantities, AnnealingHasAllOfThem) {
  ASSERT_EQ(run(short_run({"-o", "out"})).exit_code, 0);
  for (const char* name : {"mean", "accept"}) EXPECT_TRUE(has(line_of("now"), name)) << name;
  EXPECT_TRUE(has(line_of("work"), " attempts/s"));
  EXPECT_TRUE(document().at("mean").is_number());
  EXPECT_TRUE(document().at("attempts_per_s").is_number());
  EXPECT_TRUE(has(improvement(), "   mean "));
}

TEST_F(WatchQuantities, OfASamplerHaveNoTemperatureAndNoAttempts) {
  ASSERT_EQ(run({"sample", "posterior:eight-schools", "--device", "cpu", "--draws", "200",
                 "--warmup", "200", "-o", "out", "-q"})
                .exit_code,
            0);
  EXPECT_TRUE(has(line_of("now"), "mean lp ")) << line_of("now");
  EXPECT_TRUE(has(line_of("now"), "moved ")) << line_of("now");
  EXPECT_EQ(line_of("work"), "work         400 transitions");
  expect_absent(document(), {"beta", "attempts_per_s"});
}

TEST_F(WatchQuantities, OfAModeOfADensityHaveNoAttempts) {
  ASSERT_EQ(run(solve("posterior:eight-schools", {"--sweeps", "200", "-o", "out", "-q"})).exit_code,
            0);
  EXPECT_TRUE(has(line_of("now"), "mean ")) << line_of("now");
  EXPECT_TRUE(has(line_of("now"), "moved ")) << line_of("now");
  EXPECT_EQ(line_of("work"), "work         200 transitions");
}

TEST_F(WatchQuantities, OfABayesianSearchAreItsNotes) {
  ASSERT_EQ(run(solve("function:branin", {"--schedule", "bayesian-optimization", "--evaluations",
                                          "8", "-o", "out", "-q"}))
                .exit_code,
            0);
  const std::string now = line_of("now");
  EXPECT_TRUE(now.starts_with("now          evaluations 8 ")) << now;
  EXPECT_EQ(line_of("work"), "work         8 batches");
  expect_absent(document(), {"mean", "acceptance_rate", "beta", "attempts_per_s"});
  EXPECT_FALSE(has(improvement(), "mean")) << improvement();
}

TEST_F(WatchQuantities, OfAFrontAreItsNewMembers) {
  ASSERT_EQ(run(solve("zdt:1", {"--generations", "30", "-o", "out", "-q"})).exit_code, 0);
  const std::string now = line_of("now");
  EXPECT_TRUE(now.starts_with("now          new ")) << now;
  for (const char* name : {"mean", "beta", "accept"}) EXPECT_FALSE(has(now, name)) << now;
  EXPECT_EQ(line_of("work"), "work         30 generations");
  expect_absent(document(), {"mean", "beta", "attempts_per_s"});
  EXPECT_FALSE(has(improvement(), "mean")) << improvement();
}

TEST_F(WatchQuantities, OfTabuSearchAreItsNotes) {
  ASSERT_EQ(run(solve("coloring:queen5,min", {"-o", "out", "-q"})).exit_code, 0);
  for (const char* name : {"mean", "beta", "accept"}) {
    EXPECT_FALSE(has(line_of("now"), name)) << line_of("now");
  }
  expect_absent(document(), {"mean", "acceptance_rate", "beta"});
}

// Runs of versions before said nothing of what their schedule has.
TEST_F(WatchQuantities, OfAnOlderRunAreAllShown) {
  std::filesystem::create_directory(folder_ / "out");
  add(R"({"time_s":0,"event":"start","problem":"p","host":"another","step":"sweep"})");
  add(R"({"time_s":1,"event":"improvement","sweeps":4,"best":7,"mean":2.5,"acceptance_rate":0.25,)"
      R"("beta":0.5,"attempts_per_ns":1.0})");
  EXPECT_EQ(line_of("now"), "now          mean 2.5   accept 25.0 %   beta 0.5");
  EXPECT_EQ(line_of("work"), "work         4 sweeps   1.0G attempts/s");
}

TEST_F(WatchQuantities, ImprovementsAreNumbers) {
  std::filesystem::create_directory(folder_ / "out");
  add(R"({"time_s":0,"event":"start","problem":"p","host":"another"})");
  add(R"({"time_s":1,"event":"improvement","best":13359})");
  add(R"({"time_s":2,"event":"improvement","best":0.1})");
  const json all = json::parse(run({"watch", "out", "--once", "--json"}).out).at("improvements");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].at("value"), 0.1);
  EXPECT_TRUE(all[1].at("value").is_number_integer()) << all[1];
  EXPECT_EQ(all[1].at("value"), 13359);
}

TEST_F(WatchQuantities, AnEventThatSaysNothingHasNoLine) {
  ASSERT_EQ(run(short_run({"-o", "out"})).exit_code, 0);
  const std::string before = run({"watch", "out"}).out;
  const std::string events = read("out/events.ndjson");
  const std::size_t stop = events.rfind("{\"time_s\"");
  std::ofstream(folder_ / "out/events.ndjson")
      << events.substr(0, stop) << R"({"time_s":0.1,"event":""})"
      << "\n"
      << R"({"time_s":0.1,"event":"checkpoint"})"
      << "\n"
      << R"({"time_s":0.1,"event":"unheard-of","code":7})"
      << "\n"
      << events.substr(stop);
  EXPECT_EQ(run({"watch", "out"}).out, before);
  std::ofstream(folder_ / "out/events.ndjson")
      << events.substr(0, stop) << R"({"time_s":0.1,"event":"checkpoint","sweeps":9,"bytes":512})"
      << "\n"
      << events.substr(stop);
  EXPECT_TRUE(has(run({"watch", "out"}).out, "    0.1s   checkpoint    sweeps 9   bytes 512\n"));
}

TEST_F(WatchQuantities, TimesThatNoRunHasAreSkippedAndCounted) {
  ASSERT_EQ(run(short_run({"-o", "out"})).exit_code, 0);
  const std::string digits(300, '7');
  for (const std::string& time : {digits, "-" + digits, std::string("-1")}) {
    add("{\"time_s\":" + time + ",\"event\":\"improvement\",\"best\":1}");
  }
  std::ofstream(folder_ / "out/trace.csv", std::ios::app) << digits << ",1,1,1,1,1,1,1\n";
  for (const std::vector<std::string>& words : {std::vector<std::string>{"watch", "out"},
                                                {"watch", "out", "--once"},
                                                {"watch", "out", "--json"}}) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_FALSE(has(outcome.out, "7777777777")) << outcome.out;
    EXPECT_FALSE(has(outcome.out, ">27y")) << outcome.out;
  }
  EXPECT_EQ(line_of("note"), "note         3 lines of events.ndjson cannot be read");
}

}  // namespace
}  // namespace kiln::test::quantities_test
