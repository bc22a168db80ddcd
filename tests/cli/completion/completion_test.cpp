// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What a real bash offers with the script that the program prints, and what man makes of its pages.
#include <array>
#include <cstdio>
#include <memory>
#include <set>

#include "kiln/registry.hpp"

#include "program.hpp"

namespace kiln::test::completion_test {
namespace {

/// Standard output and error of a command of the shell, and whether it succeeded.
std::string shell(const std::string& command, bool* succeeded = nullptr) {
  std::string text;
  std::array<char, 4096> part{};
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return "no shell";
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), pipe)) {
    text.append(part.data(), count);
  }
  const int status = pclose(pipe);
  if (succeeded != nullptr) *succeeded = status == 0;
  return text;
}

bool has(const std::string& program) {
  bool found = false;
  shell("command -v " + program, &found);
  return found;
}

class Completion : public ProgramTest {
 protected:
  /// The words that bash offers at the end of a line.
  std::multiset<std::string> offered(const std::string& line) {
    write("script", run({"completion", "bash"}).out);
    write(
        "ask",
        "cd '" + folder_.string() +
            "'\nset -u\nsource ./script\nf=$(complete -p kiln | sed 's/.*-F \\([^ ]*\\).*/\\1/')\n"
            "COMP_LINE='" +
            line + "' COMP_POINT=" + std::to_string(line.size()) +
            "\nCOMPREPLY=()\n\"$f\"\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
    std::multiset<std::string> words;
    for (const std::string& word : lines_of(shell("bash --norc " + (folder_ / "ask").string()))) {
      if (!word.empty()) words.insert(word);
    }
    return words;
  }
};

using Words = std::multiset<std::string>;

TEST_F(Completion, OffersVerbsAndOptionsOfTheVerb) {
  EXPECT_EQ(offered("kiln so"), Words{"solve"});
  EXPECT_EQ(offered("kiln solve --sched"), Words{"--schedule"});
  EXPECT_EQ(offered("kiln list --sched"), Words{});
  EXPECT_EQ(offered("kiln list k"), Words{"kernels"});
  EXPECT_EQ(offered("kiln completion "), (Words{"bash", "zsh"}));
}

TEST_F(Completion, OffersSchedulesAndTheirParameters) {
  EXPECT_EQ(offered("kiln solve x --schedule par"), Words{"parallel-tempering"});
  EXPECT_EQ(offered("kiln solve x --schedule=par"), Words{"parallel-tempering"});
  EXPECT_EQ(offered("kiln solve x -p coo"), Words{"cooling="});
  EXPECT_EQ(offered("kiln solve x -p cooling=li"), (Words{"linear", "list"}));
  EXPECT_EQ(offered("kiln solve x --schedule tabu-coloring -p coo"), Words{});
  // Without a word all schedules of the library are offered, and nothing else.
  const Registry registry = builtin_registry();
  Words all;
  for (const ScheduleEntry* entry : registry.schedules()) all.insert(entry->name);
  EXPECT_EQ(offered("kiln solve x --schedule "), all);
}

TEST_F(Completion, OffersFamiliesInstancesAndFiles) {
  write("gset_of_mine.txt", "");
  EXPECT_EQ(offered("kiln solve gset"), (Words{"gset:", "gset_of_mine.txt"}));
  EXPECT_EQ(offered("kiln solve gset:G22"), Words{"G22"});
  EXPECT_EQ(offered("kiln sample posterior:eight-schools-c"), Words{"eight-schools-centered"});
  std::filesystem::create_directory(folder_ / "run of mine");
  write("running.txt", "");
  EXPECT_EQ(offered("kiln watch run"), Words{"run of mine"});
}

TEST_F(Completion, OfZshIsAScriptOfZsh) {
  const Outcome outcome = run({"completion", "zsh"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(outcome.out.starts_with("#compdef kiln\n"));
  EXPECT_NE(outcome.out.find("'--schedule=["), std::string::npos);
  if (!has("zsh")) GTEST_SKIP() << "no zsh here";
  write("script", outcome.out);
  EXPECT_EQ(shell("zsh -f -n " + (folder_ / "script").string()), "");
}

TEST_F(Completion, RefusesOtherShells) {
  const Outcome outcome = run({"completion", "bahs"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err,
            "error[cli.unknown]: unknown shell 'bahs'; the nearest is 'bash'\n"
            "  available: bash zsh\n"
            "  fix: kiln completion bash\n");
  EXPECT_EQ(run({"completion"}).exit_code, 2);
}

TEST_F(Completion, PagesOfTheManualHaveEveryOptionAndNoWarning) {
  EXPECT_EQ(run({"help", "--man", "."}).exit_code, 0);
  const bool has_groff = has("groff");
  std::size_t pages = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    const std::string page = entry.path().string();
    if (!page.ends_with(".1")) continue;
    ++pages;
    const std::string text = read(entry.path().filename());
    for (const char* section :
         {".TH ", ".SH NAME\n", ".SH SYNOPSIS\n", ".SH DESCRIPTION\n", ".SH SEE ALSO\n"}) {
      EXPECT_NE(text.find(section), std::string::npos) << page << " has no " << section;
    }
    if (has_groff) {
      EXPECT_EQ(shell("groff -man -ww -Tascii -z " + page), "") << page;
    }
  }
  const Outcome verbs = run({"--help"});
  std::size_t count = 1;  // kiln(1)
  for (const std::string& line : lines_of(verbs.out)) {
    if (line.empty()) {
      if (count > 1) break;
    } else if (line.starts_with("  ") && line[2] != ' ') {
      const std::string verb = line.substr(2, line.find(' ', 2) - 2);
      if (verb.starts_with("--")) continue;
      ++count;
      EXPECT_TRUE(exists("kiln-" + verb + ".1")) << verb;
    }
  }
  EXPECT_EQ(pages, count);
  EXPECT_GE(count, 15U);
  // Every option of the help, whose table of options is another function.
  const std::string page = read("kiln-solve.1");
  for (const std::string& line : lines_of(run({"solve", "--help"}).out)) {
    const std::size_t at = line.find("--");
    if (!line.starts_with("      --") && !line.starts_with("  -")) continue;
    std::string name = line.substr(at, line.find_first_of(" ", at) - at), escaped;
    for (const char c : name) escaped += c == '-' ? "\\-" : std::string(1, c);
    EXPECT_NE(page.find("\\fB" + escaped + "\\fR"), std::string::npos) << name;
  }
  EXPECT_EQ(run({"help", "--man", "nowhere"}).exit_code, 6);
}

}  // namespace
}  // namespace kiln::test::completion_test
