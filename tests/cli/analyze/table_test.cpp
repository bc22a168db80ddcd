// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln analyze FILE: what a user types, and what is refused.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kiln/information.hpp"

#include "information/gaussian_series.hpp"
#include "program.hpp"

namespace kiln::test::analyze_table_test {
namespace {

using nlohmann::json;

class AnalyzeTable : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    const auto [x, y] = coupled_pair(400, 5);
    std::string text = "x,y,noise,same,city\n";
    NormalDraws draw(3);
    for (std::size_t i = 0; i < x.size(); ++i) {
      text += fmt::format("{},{},{},3,town\n", x[i], y[i], draw());
    }
    write("s.csv", text);
    source_ = x;
    target_ = y;
  }

  std::string refusal(const std::vector<std::string>& words, int exit_code) const {
    std::vector<std::string> all{"analyze"};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome outcome = run(all);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  }

  std::vector<double> source_, target_;
};

TEST_F(AnalyzeTable, GivesWhatTheLibraryGives) {
  const Outcome outcome =
      run({"analyze", "s.csv", "--measure", "te", "--source", "x", "--target", "y", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  EXPECT_EQ(document["schema"], "kiln.analysis/1");
  ASSERT_EQ(document["maps"].size(), 1u);
  const json& link = document["maps"][0]["links"][0];
  InformationOptions options;
  options.surrogates = 100;
  const InformationEstimate expected = transfer_entropy(source_, target_, options);
  // The surrogates of a column follow its number in the table; the value does not.
  EXPECT_DOUBLE_EQ(link["value"].get<double>(), expected.value);
  EXPECT_LT(link["p"].get<double>(), 1e-4);
  EXPECT_TRUE(link["significant"].get<bool>());
}

TEST_F(AnalyzeTable, SaysWhatItFindsAndWhatItLeavesOut) {
  const Outcome outcome = run({"analyze", "s.csv", "--measure", "te", "--target", "y"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("column 'city' is text: left out"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("* x "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("no information: constant"), std::string::npos) << outcome.out;
}

TEST_F(AnalyzeTable, DoesNotDependOnThreads) {
  const std::vector<std::string> words{"analyze", "s.csv", "--measure", "mi,te,ais", "--json"};
  const auto with = [&](const std::string& threads) {
    std::vector<std::string> all = words;
    all.insert(all.end(), {"--threads", threads});
    return run(all).out;
  };
  EXPECT_EQ(with("1"), with("3"));
}

TEST_F(AnalyzeTable, WritesItsFiles) {
  const Outcome outcome =
      run({"analyze", "s.csv", "--measure", "te", "--columns", "x,y", "--local", "-o", "out"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* file :
       {"map.csv", "information.json", "heat_map.svg", "graph.svg", "report.html", "local.csv"}) {
    EXPECT_TRUE(std::filesystem::exists(folder_ / "out" / file)) << file;
  }
  const json map = json::parse(read("out/information.json"));
  double value = 0;
  for (const json& link : map["links"]) {
    if (link["source"] == "x") value = link["value"];
  }
  // Local values of x -> y have its value as mean.
  const std::string local = read("out/local.csv");
  std::size_t lines = 0;
  double sum = 0;
  const std::size_t column = local.substr(0, local.find('\n')).find("x -> y") == 5 ? 1 : 2;
  for (std::size_t at = local.find('\n') + 1; at < local.size(); ++lines) {
    const std::string line = local.substr(at, local.find('\n', at) - at);
    std::size_t begin = line.find(',') + 1;
    if (column == 2) begin = line.find(',', begin) + 1;
    sum += std::stod(line.substr(begin));
    at += line.size() + 1;
  }
  EXPECT_EQ(lines, 399u);
  EXPECT_NEAR(sum / 399, value, 1e-9);
}

TEST_F(AnalyzeTable, ReadsStandardInputAndPrintsCsv) {
  const Outcome outcome = run(Call{.words = {"analyze", "-", "--csv", "--surrogates", "0"},
                                   .input = "a b\n1 2\n2 1\n3 5\n4 3\n5 6\n6 4\n7 8\n"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find("source,target,lag,value"), 0u) << outcome.out;
}

// A number is that of the column in the file, whatever columns of text are left out.
TEST_F(AnalyzeTable, CountsColumnsAsTheFileDoes) {
  write("t.csv", "date,a,b,c\nx,1,5,3\nx,2,3,1\nx,3,8,2\nx,4,1,9\nx,5,9,4\nx,6,2,8\n");
  const auto targets = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"analyze", "t.csv", "--csv", "--surrogates", "0"};
    words.insert(words.end(), more.begin(), more.end());
    const std::string csv = run(words).out;
    std::vector<std::string> found;
    for (std::size_t at = csv.find('\n') + 1; at < csv.size(); at = csv.find('\n', at) + 1) {
      const std::size_t comma = csv.find(',', at);
      found.push_back(csv.substr(comma + 1, csv.find(',', comma + 1) - comma - 1));
    }
    return found;
  };
  EXPECT_EQ(targets({"--target", "2"}), (std::vector<std::string>{"a", "a"}));
  EXPECT_EQ(targets({"--target", "a"}), (std::vector<std::string>{"a", "a"}));
  EXPECT_EQ(targets({"--columns", "3,4", "--target", "4"}), (std::vector<std::string>{"c"}));
}

TEST_F(AnalyzeTable, NeverOverwrites) {
  write("notes.txt", "mine\n");
  std::filesystem::create_directory(folder_ / "full");
  std::filesystem::rename(folder_ / "notes.txt", folder_ / "full" / "notes.txt");
  const Outcome outcome = run({"analyze", "s.csv", "--surrogates", "0", "-o", "full"});
  EXPECT_EQ(outcome.exit_code, 6);
  EXPECT_NE(outcome.err.find("never overwrites"), std::string::npos) << outcome.err;
  EXPECT_FALSE(exists("full/map.csv"));
}

TEST_F(AnalyzeTable, RefusesOptionsThatItsMeasuresHaveNoUseFor) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--condition", "noise"},
                                                {"--past", "2"},
                                                {"--bins", "4"},
                                                {"--direct"},
                                                {"--measure", "te", "--type", "2"},
                                                {"--measure", "entropy", "--k", "3"},
                                                {"--measure", "ais", "--source", "x"},
                                                {"--model", "ar"},
                                                {"--forecast", "2", "--lag", "3"},
                                                {"--spectrum", "--surrogates", "3"}}) {
    std::vector<std::string> all{"s.csv"};
    all.insert(all.end(), words.begin(), words.end());
    EXPECT_NE(refusal(all, 2).find("cli.conflict"), std::string::npos) << words.front();
  }
  // One of the measures has.
  EXPECT_EQ(run({"analyze", "s.csv", "--measure", "mi,te", "--past", "2", "--surrogates", "0",
                 "--columns", "x,y"})
                .exit_code,
            0);
}

TEST_F(AnalyzeTable, ForecastsColumns) {
  const Outcome outcome = run({"analyze", "s.csv", "--forecast", "3", "--target", "x", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  EXPECT_TRUE(document["maps"].empty());
  ASSERT_EQ(document["series"].size(), 1u);
  EXPECT_EQ(document["series"][0]["forecast"]["mean"].size(), 3u);
}

TEST_F(AnalyzeTable, RefusesWhatItCannotDoAndSaysWhatWould) {
  EXPECT_NE(refusal({}, 2).find("kiln analyze needs a table"), std::string::npos);
  EXPECT_NE(refusal({"none.csv"}, 3).find("input.open"), std::string::npos);
  EXPECT_NE(refusal({"function:branin"}, 3).find("--landscape"), std::string::npos);
  EXPECT_NE(refusal({"s.csv", "--target", "z"}, 2).find("there is no column of numbers 'z'"),
            std::string::npos);
  EXPECT_NE(refusal({"s.csv", "--columns", "city"}, 3).find("s.csv:2:"), std::string::npos);
  EXPECT_NE(refusal({"s.csv", "--measure", "tea"}, 2).find("the nearest is 'te'"),
            std::string::npos);
  EXPECT_NE(refusal({"s.csv", "--measure", "te", "--lag", "400"}, 2).find("at most 399"),
            std::string::npos);
  EXPECT_NE(refusal({"s.csv", "--measure", "cmi"}, 2).find("condition"), std::string::npos);
  EXPECT_NE(refusal({"s.csv", "--k", "17"}, 2).find("--k '17' is no whole number from 1 to 16"),
            std::string::npos);
  EXPECT_NE(refusal({"s.csv", "--resolution", "64"}, 2).find("--landscape"), std::string::npos);
  EXPECT_NE(refusal({"s.csv", "--local"}, 2).find("-o"), std::string::npos);
  write("few.csv", "a,b\n1,2\n2,3\n3,1\n");
  EXPECT_NE(refusal({"few.csv"}, 2).find("at least 5 rows"), std::string::npos);
  write("mixed.csv", "a,b\n1,2\n2,three\n");
  EXPECT_NE(refusal({"mixed.csv"}, 3).find("mixed.csv:3:3"), std::string::npos);
}

TEST_F(AnalyzeTable, AsksForATargetIfThereAreManyColumns) {
  std::string text;
  NormalDraws draw(9);
  for (int row = 0; row < 30; ++row) {
    for (int column = 0; column < 17; ++column) text += fmt::format("{:.6f},", draw());
    text.back() = '\n';
  }
  write("wide.csv", text);
  EXPECT_NE(refusal({"wide.csv"}, 2).find("--map for all"), std::string::npos);
  const Outcome all = run({"analyze", "wide.csv", "--map", "--surrogates", "0", "--json"});
  ASSERT_EQ(all.exit_code, 0) << all.err;
  EXPECT_EQ(json::parse(all.out)["maps"][0]["links"].size(), 17u * 16 / 2);
}

}  // namespace
}  // namespace kiln::test::analyze_table_test
