// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// `kiln help VERB` lists every option, from the table that declares it. What docs/command_line.md
// says more of some of them must be said of options that there are, with their kind of value.
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "program.hpp"

namespace kiln::test::option_docs_test {
namespace {

std::string page() {
  std::ifstream in(std::filesystem::path(KILN_SOURCE_DIR) / "docs/command_line.md");
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// What a section of the page says of a verb.
std::string section_of(const std::string& page, const std::string& verb) {
  const std::size_t begin = page.find("\n## kiln " + verb + "\n");
  if (begin == std::string::npos) return {};
  return page.substr(begin, page.find("\n## ", begin + 1) - begin);
}

struct Documented {
  std::string name;   ///< "--seed"
  std::string value;  ///< "N", "" for a flag
};

/// The options in the first column of a table of options: `--top N`, `-q`, `--quiet`.
std::vector<Documented> options_of(const std::string& section) {
  static const std::regex option("`(--[a-z-]+)(?: ([^`]+))?`"), end_of_cell("[^\\\\] \\|");
  std::vector<Documented> all;
  bool in_table = false;
  for (const std::string& line : lines_of(section)) {
    in_table = line.starts_with("| option |") || (in_table && line.starts_with("|"));
    std::smatch end;
    if (!in_table || !std::regex_search(line, end, end_of_cell)) continue;
    const std::string cell = line.substr(0, static_cast<std::size_t>(end.position()) + 1);
    for (std::sregex_iterator at(cell.begin(), cell.end(), option), last; at != last; ++at) {
      all.push_back({(*at)[1].str(), (*at)[2].str()});
    }
  }
  return all;
}

using OptionDocs = ProgramTest;

TEST_F(OptionDocs, NameOptionsThatThereAre) {
  for (const auto& [verb, least] : {std::pair("solve", 35U), std::pair("sample", 7U)}) {
    const std::vector<Documented> options = options_of(section_of(page(), verb));
    EXPECT_GE(options.size(), least) << "the page is not read as it should be";
    for (const Documented& one : options) {
      const std::string word = one.value.empty() ? one.name : one.name + "=x";
      const Outcome outcome = run({verb, word, "--help"});
      EXPECT_EQ(outcome.exit_code, 0) << verb << " " << word << ": " << outcome.err;
    }
  }
  // An option that there is not, and two with the other kind of value.
  for (const char* word : {"--sede=x", "--quiet=x", "--seed"}) {
    EXPECT_EQ(run({"solve", word, "--help"}).exit_code, 2) << word;
  }
}

TEST_F(OptionDocs, AreReadFromTables) {
  const std::string text =
      "\n## kiln solve\n\n| option | meaning |\n|---|---|\n| `-q`, `--quiet` | little |\n"
      "| `--graph-capture on\\|off` | see `--device` |\n\n| input | most |\n|---|---|\n| `--data` "
      "| 1 |\n"
      "\n## kiln sample\n\n| `--draws N` | some "
      "|\n";
  std::string found;
  for (const Documented& one : options_of(section_of(text, "solve"))) {
    found += one.name + "(" + one.value + ")";
  }
  EXPECT_EQ(found, "--quiet()--graph-capture(on\\|off)");
}

}  // namespace
}  // namespace kiln::test::option_docs_test
