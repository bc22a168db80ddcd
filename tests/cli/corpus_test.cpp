// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The corpus of the fuzzers for files that only the program reads: configurations, run.json,
// states and evaluations.
#include <algorithm>
#include <ostream>
#include <utility>

#include "program.hpp"

namespace kiln::test::corpus_test {
namespace {

namespace fs = std::filesystem;

class Corpus : public ProgramTest {
 protected:
  /// Each text of a folder, and the first line that it must give; "" if it is a good one.
  std::vector<std::pair<std::string, std::string>> texts_of(const std::string& folder) const {
    std::vector<std::pair<std::string, std::string>> texts;
    for (const auto& entry :
         fs::directory_iterator(fs::path(KILN_SOURCE_DIR) / "tests/fuzz/corpus" / folder)) {
      if (entry.path().extension() != ".txt") continue;
      fs::path expected = entry.path();
      expected.replace_extension(".expected");
      const std::string line = fs::exists(expected) ? read(expected.string()) : "";
      texts.emplace_back(read(entry.path().string()), line.substr(0, line.find('\n')));
    }
    std::ranges::sort(texts);
    return texts;
  }
};

TEST_F(Corpus, OfConfigurationsGivesTheMessages) {
  const auto texts = texts_of("config");
  EXPECT_GE(texts.size(), 7u);
  for (const auto& [text, expected] : texts) {
    write("f.toml", text);
    const Outcome outcome = run(short_run({"-q", "--config", "f.toml"}));
    EXPECT_EQ(outcome.exit_code, expected.empty() ? 0 : 2) << text;
    EXPECT_EQ(first_line(outcome), expected);
  }
}

TEST_F(Corpus, OfStatesAndEvaluationsGivesTheMessages) {
  for (const std::string option : {"initial", "past"}) {
    const auto texts = texts_of(option);
    EXPECT_GE(texts.size(), 6u);
    for (const auto& [text, expected] : texts) {
      write("f.txt", text);
      const Outcome outcome =
          run({"solve", "function:ackley-2", "--schedule", "bayesian-optimization", "--device",
               "cpu", "--evaluations", "1", "-p", "initial=1", "-q", "--" + option, "f.txt"});
      EXPECT_EQ(outcome.exit_code == 0, expected.empty()) << text;
      EXPECT_NE(outcome.exit_code, 1) << text;
      EXPECT_EQ(first_line(outcome), expected);
    }
  }
}

TEST_F(Corpus, OfRecordedRunsGivesTheMessages) {
  const auto texts = texts_of("repeat");
  EXPECT_GE(texts.size(), 9u);
  for (const auto& [text, expected] : texts) {
    write("f.json", text);
    const Outcome outcome = run({"solve", "--repeat", "f.json", "--device", "cpu", "-q"});
    EXPECT_EQ(outcome.exit_code == 0, expected.empty()) << text;
    EXPECT_NE(outcome.exit_code, 1) << text;
    EXPECT_EQ(first_line(outcome), expected);
  }
}

TEST_F(Corpus, OfResultsGivesTheMessages) {
  const auto texts = texts_of("result");
  EXPECT_GE(texts.size(), 6u);
  for (const auto& [text, expected] : texts) {
    write("f.json", text);
    const Outcome outcome = run({"diagnose", "f.json"});
    EXPECT_EQ(outcome.exit_code, expected.empty() ? 0 : 3) << text;
    EXPECT_EQ(first_line(outcome), expected);
  }
}

}  // namespace
}  // namespace kiln::test::corpus_test
