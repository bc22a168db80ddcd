// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Commands of version 0.1 give the answer that they gave, and one warning with the present names.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "program.hpp"

namespace kiln::test::present_names_test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;
using PresentNames = ProgramTest;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// Lines that the terminal's width broke, joined.
std::string joined_lines(const std::string& text) {
  std::string all;
  for (const char c : text) {
    if (c == ' ' && all.ends_with(' ')) continue;
    all += c == '\n' ? ' ' : c;
  }
  return all;
}

struct Renamed {
  Words former, present;
  std::string warning;
};

TEST_F(PresentNames, OfFormerCommandsGiveTheSameAnswerAndOneWarning) {
  const std::vector<Renamed> all{
      {{"zdt:1", "--schedule", "multi-objective", "--generations", "9"},
       {"zdt:1", "--schedule", "evolutionary", "--generations", "9"},
       "warning[cli.renamed]: schedule 'multi-objective' is now 'evolutionary'; a later version "
       "of Kiln refuses the former name"},
      {{"zdt:2,8", "-p", "strategy=amosa", "--sweeps", "40"},
       {"zdt:2,8", "--schedule", "amosa", "--sweeps", "40"},
       "'strategy=amosa' is now schedule 'amosa'"},
      {{"zdt:2,8", "--schedule", "mo", "-p", "strategy=amosa", "-p", "population=12", "-p",
        "generations=30", "-p", "archive=0", "-p", "migrants=2"},
       {"zdt:2,8", "--schedule", "amosa", "-p", "chains=12", "--sweeps", "30"},
       "'archive' has no effect on the present schedule; 'generations' is now --sweeps 30; "
       "'migrants' has no effect on the present schedule; 'population' is now 'chains=12'"},
      {{"zdt:1,4", "-p", "strategy=surrogate", "-p", "batch=2", "-p", "islands=2", "--generations",
        "4"},
       {"zdt:1,4", "--schedule", "bayesian-front", "-p", "batch=2", "-p", "studies=2",
        "--evaluations", "8"},
       "'generations' is now 'evaluations=8'; 'islands' is now 'studies=2'"},
      // Zeros stood for automatic values, however they were written.
      {{"zdt:2,8", "-p", "strategy=amosa", "-p", "mutation_index=0.0", "--sweeps", "20"},
       {"zdt:2,8", "--schedule", "amosa", "--sweeps", "20"},
       "'strategy=amosa' is now schedule 'amosa'"},
      {{"zdt:2,8", "-p", "strategy=amosa", "-p", "generations=0", "--time-limit", "1h"},
       {"zdt:2,8", "--schedule", "amosa", "--sweeps", "250", "--time-limit", "1h"},
       "'generations' is now --sweeps 250"},
      // --sweeps won over generations.
      {{"zdt:1,3", "-p", "strategy=surrogate", "--generations", "4", "--sweeps", "6"},
       {"zdt:1,3", "--schedule", "bayesian-front", "--evaluations", "6"},
       "'generations' is now 'evaluations=4', which another option overrides"},
      // Strategies ignored parameters of others.
      {{"zdt:1,6", "--generations", "7", "-p", "temperature=0.2", "-p", "batch=1"},
       {"zdt:1,6", "--generations", "7"},
       "'batch' has no effect on the present schedule; 'temperature' has no effect on the present "
       "schedule"},
      {{"zdt:1", "--sweeps", "9"},
       {"zdt:1", "--generations", "9"},
       "with schedule 'evolutionary', --sweeps counts generations; use --generations instead"}};
  for (const Renamed& one : all) {
    const auto result_of_words = [&](Words words, std::string& err) {
      words.insert(words.begin(), "solve");
      for (const char* word : {"--device", "cpu", "--json"}) words.emplace_back(word);
      const Outcome outcome = run(words);
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      err = outcome.err;
      return json::parse(outcome.out);
    };
    std::string of_former, of_present;
    const json former = result_of_words(one.former, of_former);
    const json present = result_of_words(one.present, of_present);

    for (const char* part : {"objective", "solution", "front", "work"}) {
      EXPECT_EQ(former[part], present[part]) << one.warning << ": " << part;
    }
    EXPECT_EQ(former["schedule"]["name"], present["schedule"]["name"]);
    EXPECT_NE(joined_lines(of_former).find(one.warning), std::string::npos) << of_former;
    EXPECT_EQ(count_of(of_former, "warning[cli.renamed]"), 1u) << of_former;
    EXPECT_EQ(count_of(of_present, "warning[cli.renamed]"), 0u) << of_present;
  }
}

// A difference of one generation is a difference.
TEST_F(PresentNames, AreComparedByAnswersThatDiffer) {
  const auto front = [&](const char* generations) {
    return json::parse(
        run({"solve", "zdt:1", "--generations", generations, "--device", "cpu", "--json", "-q"})
            .out)["front"];
  };
  EXPECT_NE(front("9"), front("10"));
}

TEST_F(PresentNames, StandInTheDocumentsOfARepeatedRun) {
  // As version 0.1 wrote it.
  write("run.json",
        R"({"schema": "kiln.run/1", "kiln": "0.1.0", "problem": {"source": "zdt:2,8",)"
        R"( "fingerprint": null}, "options": {"schedule": {"value": "multi-objective", "origin":)"
        R"( "command line"}, "seed": {"value": "7", "origin": "command line"}}, "schedule":)"
        R"( {"name": "multi-objective", "given": {"strategy": {"value": "amosa", "origin":)"
        R"( "command line"}, "generations": {"value": "30", "origin": "command line"}}},)"
        R"( "replicas": 10})");

  const Outcome again =
      run({"solve", "--repeat", "run.json", "--device", "cpu", "--json", "-o", "new"});

  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(count_of(again.err, "warning[cli.renamed]"), 1u) << again.err;
  const json result = json::parse(again.out), written = json::parse(read("new/run.json"));
  EXPECT_EQ(result["schedule"]["name"], "amosa");
  EXPECT_EQ(result["work"]["sweeps"], 30);
  EXPECT_EQ(result["schema"], "kiln.result/2");
  EXPECT_EQ(written["schema"], "kiln.run/2");
  EXPECT_EQ(written["schedule"]["name"], "amosa");
  const Outcome third = run({"solve", "--repeat", "new", "--device", "cpu", "--json"});
  EXPECT_EQ(count_of(third.err, "warning[cli.renamed]"), 0u) << third.err;
  EXPECT_EQ(json::parse(third.out)["front"], result["front"]);
}

TEST_F(PresentNames, OfLimitsAreInTheRefusalOfAWrongOne) {
  const auto fix_of = [&](Words words) {
    words.insert(words.begin(), "solve");
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 2);
    const std::size_t at = outcome.err.find("fix: ");
    return at == std::string::npos ? outcome.err
                                   : outcome.err.substr(at, outcome.err.find('\n', at) - at);
  };
  EXPECT_EQ(fix_of({"torus:4x4,1", "--schedule", "sa", "--generations", "5"}), "fix: --sweeps N");
  EXPECT_EQ(fix_of({"zdt:1", "--schedule", "amosa", "--generations", "5"}), "fix: --sweeps N");
  EXPECT_EQ(fix_of({"zdt:1", "--evaluations", "5"}), "fix: --generations N");
  EXPECT_EQ(fix_of({"zdt:1,4", "--schedule", "bayesian-front", "--generations", "5"}),
            "fix: --evaluations N");
}

// What was refused is refused, also where it would have no effect, and nothing overflows.
TEST_F(PresentNames, JudgeTheTextsThatTheyReplace) {
  for (const auto& [strategy, parameter] :
       std::vector<std::pair<std::string, std::string>>{{"surrogate", "batch=0"},
                                                        {"surrogate", "reference=0"},
                                                        {"surrogate", "generations=-3"},
                                                        {"amosa", "islands=0"},
                                                        {"amosa", "crossover=bogus"},
                                                        {"amosa", "neighbors=0"},
                                                        {"amosa", "population=-1"},
                                                        {"nsga2", "archive=7"},
                                                        {"nsga2", "temperature_spread=0"}}) {
    const Outcome outcome = run({"solve", "zdt:1", "--schedule", "multi-objective", "-p",
                                 "strategy=" + strategy, "-p", parameter, "--dry-run"});
    EXPECT_EQ(outcome.exit_code, 2) << strategy << " " << parameter << outcome.err << outcome.out;
  }
  const Outcome huge =
      run({"solve", "zdt:1,4", "-p", "strategy=surrogate", "-p", "generations=9007199254740992",
           "-p", "batch=4096", "--time-limit", "1s", "--dry-run"});
  EXPECT_NE(joined_lines(huge.err).find("'generations' is now 'evaluations=9007199254740992'"),
            std::string::npos)
      << huge.err;
}

TEST_F(PresentNames, YieldToStrongerOrigins) {
  write("c.toml",
        "[schedule]\nname = \"multi-objective\"\nstrategy = \"amosa\"\npopulation = 20\n");
  const auto chains = [&](Words words) {
    for (const char* word : {"solve", "zdt:1", "--config", "c.toml", "--json", "--sweeps", "3"}) {
      words.emplace_back(word);
    }
    words.erase(std::ranges::find(words, "solve"));
    words.insert(words.begin(), "solve");
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return json::parse(outcome.out)["schedule"]["parameters"]["chains"];
  };
  EXPECT_EQ(chains({}), "20");
  EXPECT_EQ(chains({"-p", "chains=5"}), "5");
  const Outcome twice = run({"solve", "zdt:1", "-p", "strategy=amosa", "-p", "population=20", "-p",
                             "chains=30", "--sweeps", "3"});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_NE(twice.err.find("'population' is the former name of 'chains', and both are given"),
            std::string::npos)
      << twice.err;
}

}  // namespace
}  // namespace kiln::test::present_names_test
