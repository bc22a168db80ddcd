// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// "Where new things go" in docs/architecture.md says how many files and lines a new thing touches.
// For each kind that has an example commit, this counts them there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace kiln::architecture_test {
namespace {

namespace fs = std::filesystem;

struct Row {
  std::string task, subject;  ///< of the example commit
  int new_files = -1, edited_lines = -1;
};

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line.substr(1));
  for (std::string cell; std::getline(in, cell, '|');) cells.push_back(cell);
  return cells;
}

/// The first number of a cell, or -1.
int number_in(const std::string& cell) {
  static const std::regex number("\\b([0-9]+)\\b");
  std::smatch found;
  return std::regex_search(cell, found, number) ? std::stoi(found[1].str()) : -1;
}

/// Rows of the table "| task | new files | edited lines | example | ... |" whose example is a
/// commit.
std::vector<Row> rows_with_examples(std::istream& page) {
  static const std::regex commit("commit \"([^\"]+)\"");
  std::vector<Row> rows;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("|")) continue;
    const std::vector<std::string> cells = cells_of(line);
    std::smatch found;
    if (cells.size() < 5 || !std::regex_search(cells[3], found, commit)) continue;
    rows.push_back({cells[0], found[1].str(), number_in(cells[1]), number_in(cells[2])});
  }
  return rows;
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  std::string text;
  char buffer[4096];
  while (pipe && std::fgets(buffer, sizeof buffer, pipe.get()) != nullptr) text += buffer;
  return text;
}

std::string git(const std::string& arguments) {
  return output_of("git -C '" KILN_SOURCE_DIR "' " + arguments + " 2>/dev/null");
}

struct Count {
  int new_files = 0, edited_lines = 0;
};

/// Of `git show --numstat --summary`: files that were created, and lines that changed in others. A
/// line that is replaced counts once; the change log and records of decisions do not count.
Count count_changes(const std::string& text) {
  static const std::regex lines("^([0-9]+)\t([0-9]+)\t(.+)$"),
      created("^ create mode [0-9]+ (.+)$");
  std::vector<std::string> fresh;
  std::istringstream in(text);
  std::smatch found;
  for (std::string line; std::getline(in, line);) {
    if (std::regex_match(line, found, created)) fresh.push_back(found[1].str());
  }
  Count count;
  const auto is_free = [](const std::string& path) {
    return path == "CHANGELOG.md" || path.starts_with("docs/adr/");
  };
  for (const std::string& path : fresh) count.new_files += is_free(path) ? 0 : 1;
  in = std::istringstream(text);
  for (std::string line; std::getline(in, line);) {
    if (!std::regex_match(line, found, lines)) continue;
    const std::string path = found[3].str();
    if (is_free(path) || std::ranges::find(fresh, path) != fresh.end()) continue;
    count.edited_lines += std::max(std::stoi(found[1].str()), std::stoi(found[2].str()));
  }
  return count;
}

/// The commit with exactly this subject; "" without one.
std::string commit_of(const std::string& subject) {
  std::istringstream in(git("log --format='%H %s'"));
  for (std::string line; std::getline(in, line);) {
    const std::size_t space = line.find(' ');
    if (space != std::string::npos && line.substr(space + 1) == subject)
      return line.substr(0, space);
  }
  return {};
}

TEST(Architecture, CountsOfExamplesAreThoseOfTheirCommits) {
  std::ifstream page(fs::path(KILN_SOURCE_DIR) / "docs" / "architecture.md");
  const std::vector<Row> rows = rows_with_examples(page);
  EXPECT_GE(rows.size(), 5u) << "a test that sees nothing";
  if (git("rev-parse --is-shallow-repository") != "false\n") {
    GTEST_SKIP() << "the history of the source tree is not here";
  }
  const auto is_here = [](const Row& row) { return !commit_of(row.subject).empty(); };
  if (std::ranges::none_of(rows, is_here))
    GTEST_SKIP() << "this is a copy of the source tree alone";
  for (const Row& row : rows) {
    const std::string commit = commit_of(row.subject);
    ASSERT_NE(commit, "") << row.subject;
    const Count count = count_changes(git("show --numstat --summary --format= " + commit));
    EXPECT_EQ(count.new_files, row.new_files) << row.task << ": new files of " << row.subject;
    EXPECT_EQ(count.edited_lines, row.edited_lines) << row.task << ": lines of " << row.subject;
  }
}

TEST(Architecture, ChangesAreCounted) {
  const Count count = count_changes(
      "3\t1\tCHANGELOG.md\n40\t0\tdocs/adr/0099-b.md\n55\t0\tengine/a.hpp\n2\t1\tengine/list.hpp\n"
      "0\t4\tdocs/b.md\n create mode 100644 engine/a.hpp\n create mode 100644 "
      "docs/adr/0099-b.md\n");
  EXPECT_EQ(count.new_files, 1);
  EXPECT_EQ(count.edited_lines, 6);
  std::istringstream page(
      "| kernel | **5**: a, b | 2: c | commit \"Add k\" | d |\n| other | 1 | 1 | none | d |\n");
  const std::vector<Row> rows = rows_with_examples(page);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].new_files, 5);
  EXPECT_EQ(rows[0].edited_lines, 2);
  EXPECT_EQ(rows[0].subject, "Add k");
}

}  // namespace
}  // namespace kiln::architecture_test
