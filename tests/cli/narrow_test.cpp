// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Tables of progress on narrow terminals, and what stands above and below them.
#include <algorithm>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "terminal_program.hpp"

namespace kiln::test::narrow_test {
namespace {

using Narrow = Terminal;
using Lines = std::vector<std::string>;

std::vector<std::string> words_in(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// The first line that begins with one of some words.
Lines::const_iterator line_of(const Lines& lines, const Lines& begins) {
  return std::ranges::find_if(lines, [&](const std::string& line) {
    return std::ranges::any_of(begins, [&](const auto& begin) { return line.starts_with(begin); });
  });
}

// A row that breaks in two would be longer than the screen: terminals break it, not the program.
TEST_F(Narrow, RowsLeaveColumnsOutRatherThanBreak) {
  const std::vector<Lines> runs{
      {"solve", "gset:G14", "--sweeps", "300"},
      {"solve", "zdt:1", "--sweeps", "50"},
      {"sample", "posterior:eight-schools", "-p", "draws=50"},
      {"solve", "function:branin", "--schedule", "bayesian-optimization", "-p", "evaluations=12"},
      {"solve", "coloring:90,50,min,1", "--schedule", "tabu-coloring", "--sweeps", "200"}};
  for (const std::size_t width : {40UL, 60UL, 80UL}) {
    for (const Lines& run : runs) {
      const Lines lines = screen_lines(run_on_screen(run, width).out);
      const auto head = line_of(lines, {"    time", "     time"});
      ASSERT_NE(head, lines.end()) << run[1];
      EXPECT_EQ(words_in(*head).back(), "left") << *head;
      const std::regex is_row("[* ] +[0-9.]+s .*");
      std::size_t rows = 0;
      for (auto line = head; line != lines.end(); ++line) {
        EXPECT_LT(line->size(), width) << *line;
        if (!std::regex_match(*line, is_row)) continue;
        ++rows;
        EXPECT_EQ(line->size(), head->size()) << *head << "\n" << *line;
      }
      EXPECT_GT(rows, 0U) << run[1];
    }
  }
}

// What a run is for is the last to go: of 40 columns its value takes 15, of 20 all.
TEST_F(Narrow, RowsKeepTheBestValueLongest) {
  const std::vector<std::pair<Lines, std::string>> runs{
      {{"solve", "gset:G14", "--sweeps", "300"}, "max cut"},
      {{"solve", "zdt:1", "--sweeps", "50"}, "max hypervolume"},
      {{"solve", "function:branin", "--schedule", "bayesian-optimization", "-p", "evaluations=12"},
       "min value"},
      {{"solve", "coloring:90,50,min,1", "--schedule", "tabu-coloring", "--sweeps", "200"},
       "min colours"}};
  for (const std::size_t width : {20UL, 28UL, 40UL}) {
    for (const auto& [run, heading] : runs) {
      const Lines lines = screen_lines(run_on_screen(run, width).out);
      const auto head = std::ranges::find_if(
          lines, [&](const std::string& line) { return line.find(heading) != std::string::npos; });
      ASSERT_NE(head, lines.end()) << run[1] << ' ' << width;
      EXPECT_LT(head->size(), width) << *head;
      // Values end where their heading does.
      const std::size_t end = head->find(heading) + heading.size();
      ASSERT_NE(head + 1, lines.end());
      ASSERT_LE(end, (head + 1)->size()) << *(head + 1);
      EXPECT_NE((head + 1)->substr(0, end).find_last_of("0123456789"), std::string::npos);
      EXPECT_EQ((head + 1)->find_last_of("0123456789", end - 1), end - 1) << *(head + 1);
    }
  }
}

// A best known value of 0, and a value that the host computes to another last digit.
TEST_F(Narrow, TheLastRowHasTheValueOfTheResult) {
  const Lines lines = screen_lines(
      run_on_screen({"solve", "function:ackley-5", "--sweeps", "3000", "--threads", "2"}, 100).out);
  const auto done = line_of(lines, {"done"});
  ASSERT_NE(done, lines.end());
  ASSERT_NE(done, lines.begin());
  const Lines row = words_in(*(done - 1));
  const std::size_t first = row.front() == "*" ? 3 : 2;
  const std::size_t at = done->find("   value ") + 9;
  const double value = std::stod(done->substr(at));
  EXPECT_NEAR(std::stod(row.at(first)), value, 1e-7 * value) << *(done - 1) << "\n" << *done;
  EXPECT_NEAR(std::stod(row.at(first + 1)), value, 0.06 * value) << *(done - 1) << "\n" << *done;
}

TEST_F(Narrow, ANoteStandsAboveTheHeading) {
  write("call.sh", "sleep 1.6\necho 1\n");
  const Lines lines = screen_lines(run_on_screen({"solve", "command:sh call.sh {x}", "--var",
                                                  "x=real:0:1", "-p", "evaluations=2"})
                                       .out);
  const auto begins = [&](const std::string& word) {
    return std::ranges::find_if(lines, [&](const auto& line) {
      return words_in(line).size() > 1 && words_in(line)[0] == word;
    });
  };
  ASSERT_NE(begins("note"), lines.end());
  EXPECT_LT(begins("note"), begins("time"));
}

// Advice goes as far as the screen does.
TEST_F(Narrow, AdviceUsesTheWholeScreen) {
  const Lines lines = screen_lines(
      run_on_screen({"solve", "zdt:1", "--sweeps", "20", "-p", "reference=0.5,0.5"}, 200).out);
  const auto advice = line_of(lines, {"advice "});
  ASSERT_NE(advice, lines.end());
  EXPECT_GT(advice->size(), 100U) << *advice;
  EXPECT_LT(advice->size(), 200U);
}

// And so does the note on a first call: its one line of 120 characters would be two of 79.
TEST_F(Narrow, TheNoteOnAFirstCallUsesTheWholeScreen) {
  const auto note_on = [&](std::size_t columns) {
    const Lines lines = screen_lines(
        run_on_screen({"solve", "command:echo {x}", "--var", "x=real:0:1", "-p", "evaluations=2"},
                      columns)
            .out);
    return *std::ranges::find_if(lines, [](const auto& l) { return l.starts_with("note "); });
  };
  EXPECT_GT(note_on(160).size(), 90U) << note_on(160);
  EXPECT_LT(note_on(80).size(), 80U);
  EXPECT_LT(note_on(60).size(), 60U);
}

TEST_F(Narrow, ABannerNamesAFamilyOnce) {
  EXPECT_NE(run({"solve", "re:33", "--sweeps", "5"}).err.find("   re:33   "), std::string::npos);
  EXPECT_EQ(run({"solve", "re:33", "--sweeps", "5"}).err.find("re re:33"), std::string::npos);
  EXPECT_NE(run({"solve", "gset:G14", "--sweeps", "5"}).err.find("maxcut gset:G14   "),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::test::narrow_test
