// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Words that public headers, docs and messages do not use, because the field has a term for each:
// distribution, expensive, max_ and min_, acquisition, or a subject and an active verb.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <ostream>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::test::words_test {
namespace {

namespace fs = std::filesystem;

/// A banned phrase: a fixed part that is quick to find, and the whole around it.
struct Banned {
  std::string_view part;
  const char* phrase;
};

constexpr std::array banned{
    Banned{"law", R"(\blaws?\b)"},
    Banned{"dear", R"(\bdear(er|est|ly)?\b)"},
    Banned{"own", R"(\bof (its|his|her|their|your|our|my|one's|an|a) own\b)"},
    Banned{"to be", R"(\b(is|are|was|were) to be\b)"},
    Banned{"most_", R"(\bmost_[a-z])"},
    Banned{"least_", R"(\bleast_(?!squares)[a-z])"},
    Banned{"promise", R"(\bwhat [a-z ]{0,40}promises?\b)"},
};

struct Finding {
  std::size_t line = 0;  // from 1
  std::string words;
  bool operator==(const Finding&) const = default;
};

void PrintTo(const Finding& found, std::ostream* out) { *out << found.line << ": " << found.words; }

/// Prose in lower case as one line, so that phrases are found across line ends, and the first
/// position of each source line. Marks of comments and quotations go; a blank line ends a phrase.
struct Prose {
  std::string text;
  std::vector<std::size_t> begin;

  explicit Prose(const std::string& source) {
    std::istringstream lines(source);
    for (std::string line; std::getline(lines, line);) {
      begin.push_back(text.size());
      const std::size_t first = line.find_first_not_of(" \t/*<>#|");
      if (first == std::string::npos) {
        text += '\n';
        continue;
      }
      for (const char c : line.substr(first) + ' ') {
        const auto letter = static_cast<unsigned char>(c);
        const bool blank = std::isspace(letter) != 0;
        if (!blank) text += static_cast<char>(std::tolower(letter));
        if (blank && !text.ends_with(' ')) text += ' ';
      }
    }
  }

  std::size_t line_of(std::size_t position) const {
    return static_cast<std::size_t>(std::upper_bound(begin.begin(), begin.end(), position) -
                                    begin.begin());
  }
};

/// The banned words of a text, each with the line where it begins.
std::vector<Finding> banned_words(const std::string& source) {
  const Prose prose(source);
  std::vector<Finding> found;
  for (const Banned& one : banned) {
    const std::regex phrase(one.phrase);
    std::size_t reported = 0;  // end of the last finding
    for (std::size_t at = prose.text.find(one.part); at != std::string::npos;
         at = prose.text.find(one.part, at + 1)) {
      const std::size_t from = std::max(reported, at < 60 ? 0 : at - 60);
      const std::string window = prose.text.substr(from, at + 20 - from);
      for (std::sregex_iterator hit(window.begin(), window.end(), phrase), end; hit != end; ++hit) {
        const std::size_t begin = from + static_cast<std::size_t>(hit->position());
        const std::size_t last = begin + static_cast<std::size_t>(hit->length());
        if (last <= reported || last <= at) continue;
        found.push_back({prose.line_of(begin), hit->str()});
        reported = last;
      }
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Finding& a, const Finding& b) { return a.line < b.line; });
  return found;
}

/// The string literals of a C++ source on their lines; everything else becomes blank lines or
/// separators, and adjacent literals stay one text.
std::string literals_of(const std::string& source) {
  // Comments, raw strings, strings, characters; digit separators are no characters.
  std::string text;
  bool after_code = true;
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t i = 0; i < source.size();) {
    const std::string_view rest = std::string_view(source).substr(i);
    std::size_t length = 1;
    if (rest.starts_with("//")) {
      length = std::min(rest.find('\n'), rest.size());
    } else if (rest.starts_with("/*")) {
      length = std::min(rest.find("*/"), rest.size() - 2) + 2;
      text.append(static_cast<std::size_t>(
                      std::count(rest.begin(), rest.begin() + static_cast<long>(length), '\n')),
                  '\n');
    } else if (rest.starts_with("R\"")) {
      const std::string close = ")" + std::string(rest.substr(2, rest.find('(') - 2)) + "\"";
      const std::size_t open = rest.find('(') + 1;
      length = std::min(rest.find(close, open), rest.size() - close.size()) + close.size();
      if (after_code) text += '|';
      text += rest.substr(open, length - open - close.size());
      after_code = false;
    } else if (rest[0] == '"') {
      if (after_code) text += '|';
      for (; length < rest.size() && rest[length] != '"'; ++length) {
        if (rest[length] != '\\') {
          text += rest[length];
        } else if (++length < rest.size()) {
          text += rest[length] == 'n' ? ' ' : rest[length];
        }
      }
      ++length;
      after_code = false;
    } else if (rest[0] == '\'' && (i == 0 || !is_word(source[i - 1]))) {
      while (length < rest.size() && rest[length] != '\'') length += rest[length] == '\\' ? 2 : 1;
      ++length;
      after_code = true;
    } else if (rest[0] == '\n') {
      text += '\n';
    } else if (std::isspace(static_cast<unsigned char>(rest[0])) == 0) {
      after_code = true;
    }
    i += length;
  }
  return text;
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// All files below a folder of the tree with one of the suffixes.
std::vector<fs::path> files_in(const std::string& folder,
                               std::initializer_list<std::string_view> suffixes) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(KILN_SOURCE_DIR) / folder)) {
    const std::string suffix = entry.path().extension().string();
    if (entry.is_regular_file() &&
        std::find(suffixes.begin(), suffixes.end(), suffix) != suffixes.end()) {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

void expect_no_banned_words(const fs::path& path, const std::string& text) {
  for (const Finding& found : banned_words(text)) {
    ADD_FAILURE() << path.lexically_relative(KILN_SOURCE_DIR).generic_string() << ":" << found.line
                  << ": \"" << found.words << "\"";
  }
}

TEST(Words, AreFoundInAPlantedText) {
  const std::string planted =
      "/// The law of a normal variable, for dear objectives.\n"  // line 1
      "///\n"
      "/// Laws, dearest, of their own, is to be; a lawful dearth owns nothing.\n"
      "/// Runs a kernel of\n"  // across a line end
      "/// its own, as\n"
      "///\n"
      "/// a kernel of\n"
      "///\n"  // not across a blank one
      "/// its own\n"
      "int most_replicas = least_squares + least_cells + almost_done;\n"
      "/// What a point of the search promises, and what Kiln keeps.\n";
  const std::vector<Finding> expected{
      {1, "law"},          {1, "dear"},
      {3, "laws"},         {3, "dearest"},
      {3, "of their own"}, {3, "is to be"},
      {4, "of its own"},   {10, "most_r"},
      {10, "least_c"},     {11, "what a point of the search promises"}};
  EXPECT_EQ(banned_words(planted), expected);
}

TEST(Words, AreFoundInStringLiteralsOnly) {
  const std::string planted =
      "// the law of comments\n"
      "const int most_cells = 1'000'000;  /* dear\n"
      "  reader */ const char quote = '\"';\n"
      "fail(\"the law\", 'x', \"a kernel of \"\n"
      "     \"its own\");\n"
      "f(\"of its\", \"own\");\n"
      "const char* raw = R\"q(a \"dear\"\n"
      "law)q\";\n"
      "const char* escaped = \"\\\"dear\\\"\";\n";
  const std::vector<Finding> expected{
      {4, "law"}, {4, "of its own"}, {7, "dear"}, {8, "law"}, {9, "dear"}};
  EXPECT_EQ(banned_words(literals_of(planted)), expected);
}

TEST(Words, OfPublicHeadersAreThoseOfTheField) {
  for (const char* folder :
       {"engine/include", "schedules/include", "problems/include", "gpu/include"}) {
    const std::vector<fs::path> headers = files_in(folder, {".hpp", ".cuh", ".h", ".def", ".in"});
    EXPECT_FALSE(headers.empty()) << folder;
    for (const fs::path& path : headers) expect_no_banned_words(path, read(path));
  }
}

TEST(Words, OfTheDocumentationAreThoseOfTheField) {
  // Decisions keep the words of their day, and so does the change log.
  const fs::path decisions = fs::path(KILN_SOURCE_DIR) / "docs/adr";
  std::size_t pages = 0;
  for (const fs::path& path : files_in("docs", {".md"})) {
    if (path.parent_path() == decisions) continue;
    ++pages;
    expect_no_banned_words(path, read(path));
  }
  EXPECT_GT(pages, 30u);
  const fs::path readme = fs::path(KILN_SOURCE_DIR) / "README.md";
  expect_no_banned_words(readme, read(readme));
}

TEST(Words, OfMessagesAreThoseOfTheField) {
  for (const char* folder : {"engine/src", "problems/src", "schedules", "apps/kiln"}) {
    const std::vector<fs::path> sources = files_in(folder, {".cpp", ".hpp", ".cu", ".cuh", ".def"});
    EXPECT_FALSE(sources.empty()) << folder;
    for (const fs::path& path : sources) expect_no_banned_words(path, literals_of(read(path)));
  }
}

}  // namespace
}  // namespace kiln::test::words_test
