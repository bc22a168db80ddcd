// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What the documentation quotes must be what the programs say: every error message in docs/ has a
// test that expects it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "kiln/problems/readers.hpp"
#include "kiln/registry.hpp"

namespace kiln::docs_test {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The messages that a page quotes: `f:2:1: ...` in tables, and `error[code]: ...` in examples.
std::vector<std::string> quoted_messages(const std::string& page) {
  static const std::regex in_table("`f(?::[0-9]+){0,2}: ([^`\n]+)`");
  static const std::regex in_example("(?:^|\n)error\\[[a-z_.]+\\]: ([^\n]+)");
  std::vector<std::string> messages;
  for (const std::regex& form : {in_table, in_example}) {
    for (std::sregex_iterator at(page.begin(), page.end(), form), end; at != end; ++at) {
      messages.push_back((*at)[1].str());
    }
  }
  return messages;
}

/// All that tests expect: their sources, with literals that go on in the next line joined and
/// escapes undone, and the messages beside the corpus of bad files.
std::string all_expectations() {
  static const std::regex literal_goes_on("\"\\s*\n\\s*\"");
  std::string all;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(KILN_SOURCE_DIR) / "tests")) {
    if (!entry.is_regular_file() || entry.path().filename() == "docs_test.cpp") continue;
    const bool source = entry.path().extension() == ".cpp" || entry.path().extension() == ".hpp";
    const bool corpus = entry.path().string().find("corpus") != std::string::npos;
    if (!source && !corpus) continue;
    const std::string text = read(entry.path());
    all += source ? std::regex_replace(text, literal_goes_on, "") : text;
    all += '\n';
  }
  return all;
}

TEST(Documentation, QuotesOnlyMessagesThatATestExpects) {
  const std::string expected = all_expectations();
  std::size_t n_messages = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(KILN_SOURCE_DIR) / "docs")) {
    if (entry.path().extension() != ".md") continue;
    for (const std::string& message : quoted_messages(read(entry.path()))) {
      ++n_messages;
      EXPECT_NE(expected.find(message), std::string::npos)
          << entry.path().filename() << ": no test expects \"" << message << "\"";
    }
  }
  EXPECT_GT(n_messages, 30u) << "the pages are not read as they should be";
}

/// A row of the table of options on the page of a schedule.
std::string row_of(const FieldInfo& field) {
  const std::string details = field.details.empty() ? "" : " " + field.details;
  const std::string range = std::regex_replace(field.range, std::regex(" \\| "), " \\| ");
  return "| `" + field.name + "` | " + field.type + (field.unit.empty() ? "" : ", " + field.unit) +
         " | " + range + " | " + field.default_text + " | " + field.sentence + details + " |\n";
}

TEST(Documentation, HasTheOptionsAsTheyAreDeclared) {
  const fs::path page = fs::path(KILN_SOURCE_DIR) / "docs/schedules/simulated_annealing.md";
  const std::string text = read(page);
  const std::vector<FieldInfo> fields = builtin_registry().schedule("simulated-annealing").fields;
  ASSERT_GT(fields.size(), 20U);
  for (const FieldInfo& field : fields) {
    EXPECT_NE(text.find("\n" + row_of(field)), std::string::npos) << row_of(field);
  }
}

// Pages of other schedules say what an option does in words of their own; its type, unit, range and
// default are those of the table.
TEST(Documentation, HasTheRangesAndDefaultsAsTheyAreDeclared) {
  const Registry registry = builtin_registry();
  std::size_t rows = 0;
  for (const ScheduleEntry* entry : registry.schedules()) {
    const std::string name = std::regex_replace(entry->name, std::regex("-"), "_");
    const std::string text = read(fs::path(KILN_SOURCE_DIR) / "docs/schedules" / (name + ".md"));
    for (const FieldInfo& field : entry->fields) {
      if (text.find("\n| `" + field.name + "` | ") == std::string::npos) continue;
      ++rows;
      const std::string row = row_of(field);
      const std::string beginning = row.substr(0, row.rfind(" | " + field.sentence) + 3);
      EXPECT_NE(text.find("\n" + beginning), std::string::npos) << entry->name << ": " << beginning;
    }
  }
  EXPECT_GT(rows, 100U) << "the pages are not read as they should be";
}

TEST(Documentation, HasARowForEveryFormat) {
  const std::string page = read(fs::path(KILN_SOURCE_DIR) / "docs/formats.md");
  for (const FormatInfo& info : problems::formats()) {
    std::string suffixes;
    for (const std::string& suffix : info.suffixes) {
      suffixes += (suffixes.empty() ? "" : " ") + suffix;
    }
    const std::string row = "\n| `" + info.name + "` | `" + suffixes + "` | ";
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

TEST(Documentation, HasTheGrammarOfEveryFormatOnSomePage) {
  std::string pages;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(KILN_SOURCE_DIR) / "docs")) {
    if (entry.path().extension() == ".md") pages += read(entry.path());
  }
  for (const FormatInfo& info : problems::formats()) {
    if (info.example.empty()) continue;  // bytes, which have no grammar
    for (const std::string& rule : info.grammar) {
      EXPECT_NE(pages.find("    " + rule + "\n"), std::string::npos) << info.name << ": " << rule;
    }
  }
}

TEST(Documentation, NamesEveryFamilyOfProblems) {
  std::string pages;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(KILN_SOURCE_DIR) / "docs/problems")) {
    pages += read(entry.path());
  }
  const Registry registry = builtin_registry();
  for (const ProblemEntry* family : registry.problems()) {
    const bool named = pages.find("`" + family->name + ":") != std::string::npos ||
                       pages.find("`" + family->name + "`") != std::string::npos;
    EXPECT_TRUE(named) << family->name;
  }
}

TEST(Documentation, HasAPageForEverySchedule) {
  const Registry registry = builtin_registry();
  for (const ScheduleEntry* entry : registry.schedules()) {
    const std::string name = std::regex_replace(entry->name, std::regex("-"), "_");
    const std::string text = read(fs::path(KILN_SOURCE_DIR) / "docs/schedules" / (name + ".md"));
    for (const std::string& words :
         {"`--schedule " + entry->name + "`", std::string("\n## Options\n")}) {
      EXPECT_NE(text.find(words), std::string::npos) << name << ".md does not say " << words;
    }
  }
}

TEST(Documentation, FindsTheMessagesOfAPage) {
  EXPECT_EQ(
      quoted_messages("| a | `f:1:2: bad word` |\n| b | `f: empty` |\n```\nerror[a.b]: why\n"),
      (std::vector<std::string>{"bad word", "empty", "why"}));
}

}  // namespace
}  // namespace kiln::docs_test
