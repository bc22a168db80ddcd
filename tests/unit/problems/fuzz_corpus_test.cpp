// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The corpus of the fuzzers: bad texts with the message that each must give, and good ones.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "../../fuzz/fuzz.hpp"
#include "../../fuzz/fuzz_expensive.hpp"
#include "../../fuzz/fuzz_front.hpp"
#include "../../fuzz/fuzz_numeric_table.hpp"
#include "../../fuzz/fuzz_output.hpp"
#include "../../fuzz/fuzz_routing.hpp"
#include "../../fuzz/fuzz_text.hpp"
#include "../../fuzz/fuzz_unpacked.hpp"

namespace kiln::fuzz_corpus_test {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string format;
  fs::path file;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.format << '/' << one.file.stem(); }

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The first line of `<name>.expected`, or "accepted" if there is no such file.
std::string expected_of(fs::path path) {
  path.replace_extension(".expected");
  if (!fs::exists(path)) return "accepted";
  const std::string text = bytes_of(path);
  return text.substr(0, text.find('\n'));
}

/// A folder for every file format, and those of other texts. One that is not there is an error.
std::vector<std::string> folders() {
  std::vector<std::string> names{"data",  "front",         "routing", "family",  "command",
                                 "table", "numeric_table", "output",  "unpacked"};
  for (const FormatInfo& info : problems::formats()) names.push_back(info.name);
  return names;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const std::string& format : folders()) {
    const fs::path folder = fs::path(KILN_SOURCE_DIR) / "tests/fuzz/corpus" / format;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".txt") cases.push_back({format, entry.path()});
    }
  }
  return cases;
}

class FuzzCorpus : public testing::TestWithParam<Case> {};

TEST_P(FuzzCorpus, GivesTheMessageOrReadsBackEqual) {
  const auto& [format_name, file] = GetParam();
  const std::string text = bytes_of(file);
  const auto format = problems::format_by_name(format_name);

  const std::string answer = format                           ? test::check_reader(*format, text)
                             : format_name == "data"          ? test::check_data(text)
                             : format_name == "front"         ? test::check_front(text)
                             : format_name == "routing"       ? test::check_routing(text)
                             : format_name == "command"       ? test::check_command(text)
                             : format_name == "table"         ? test::check_table(text)
                             : format_name == "numeric_table" ? test::check_numeric_table(text)
                             : format_name == "output"        ? test::check_output(text)
                             : format_name == "unpacked"      ? test::check_unpacked(text)
                                                              : test::check_family(text);

  EXPECT_EQ(answer, expected_of(file));
}

INSTANTIATE_TEST_SUITE_P(All, FuzzCorpus, testing::ValuesIn(all_cases()), [](const auto& param) {
  return param.param.format + "_" + param.param.file.stem().string();
});

TEST(FuzzCorpusSize, HoldsAtLeastFiftyBadTexts) {
  int n_bad = 0;
  for (const Case& one : all_cases()) n_bad += expected_of(one.file) != "accepted" ? 1 : 0;
  EXPECT_GE(n_bad, 50);
}

TEST(FuzzCorpusOfTexts, BecomesFitForATerminal) {
  const fs::path folder = fs::path(KILN_SOURCE_DIR) / "tests/fuzz/corpus/clean";
  int n_texts = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    test::check_clean(bytes_of(entry.path()));  // ends the program where a promise is broken
    ++n_texts;
  }
  EXPECT_GE(n_texts, 2);
}

}  // namespace
}  // namespace kiln::fuzz_corpus_test
