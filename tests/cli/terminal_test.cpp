// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a screen of 80 columns shows: no line is wider unless a single word is.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "kiln/registry.hpp"

#include "terminal_program.hpp"

namespace kiln::test::terminal_test {
namespace {

using nlohmann::json;

TEST_F(Terminal, RunsOfTheReadmeFit) {
  write("model.qubo", "p qubo 0 3 3 2\n0 0 3\n1 1 5\n2 2 4\n0 1 -7\n1 2 -7\n");
  expect_narrow({"solve", "gset:G22", "--sweeps", "20"});
  expect_narrow({"solve", "gset:G1", "--target", "11624", "--time-limit", "60", "-q"});
  expect_narrow({"solve", "model.qubo", "--maximize", "--sweeps", "200", "-q"});
  expect_narrow({"solve", "gset:G22", "-o", "out/g22", "--sweeps", "20"});
  expect_narrow({"solve", "gset:G11", "--schedule", "parallel-tempering", "--sweeps", "20"});
  expect_narrow({"solve", "zdt:1", "-o", "out/zdt1", "--sweeps", "20"});
  expect_narrow({"diagnose", "out/g22"});
  expect_narrow({"doctor"});
  expect_narrow({"solve", "coloring:90,50,min,1", "--sweeps", "40"});
  expect_narrow({"solve", "gset:G81", "--replicas", "64k", "--dry-run"});
  write("bad.txt", "3 2\n1 2\n1 9 1\n2 3 1e400\n");
  expect_narrow({"check", "bad.txt"}, 3);
}

TEST_F(Terminal, RunsOfAllKindsFit) {
  write("brewing.csv", "run,leaf,score\n1,green,41\n2,black,55\n3,oolong,48\n4,white,44\n");
  expect_narrow(
      {"solve", "table:brewing.csv", "--objective", "score", "-p", "evaluations=4", "-v"});
  expect_narrow({"solve", "function:rastrigin-30", "--sweeps", "20"});
  expect_narrow({"solve", "re:33", "--sweeps", "20"});
  expect_narrow({"solve", "command:echo {x}", "--var", "x=real:0:1", "-p", "evaluations=3"});
  expect_narrow({"sample", "posterior:eight-schools", "--draws", "20", "--warmup", "20"});
  expect_narrow(short_run({"--top", "3", "-v"}));
  expect_narrow({"check", "posterior:eight-schools"});
}

// A list of files has no blank; a line of it ends with a comma, and no name is cut.
TEST_F(Terminal, ListsOfFilesBreakAfterACommaAndHang) {
  const Outcome outcome = run_on_screen({"solve", "zdt:1", "-o", "out/zdt1", "--sweeps", "5"});
  const std::vector<std::string> lines = screen_lines(outcome.out);
  const auto first = std::ranges::find_if(
      lines, [](const std::string& line) { return line.starts_with("files  out/zdt1/{"); });
  ASSERT_NE(first, lines.end()) << outcome.out;
  ASSERT_EQ(lines.end() - first, 2) << outcome.out;
  const std::string &head = *first, &tail = *(first + 1), hang(7, ' ');
  EXPECT_LT(head.size(), columns);
  EXPECT_EQ(head.back(), ',');
  EXPECT_TRUE(tail.starts_with(hang) && tail[hang.size()] != ' ') << tail;
  EXPECT_EQ(head + tail.substr(hang.size()),
            "files  out/zdt1/{run.json,result.json,solution.txt,front.csv,front.svg,trace.csv,"
            "events.ndjson,checkpoint.kiln,report.html}");
  // A name that is wider than the screen stays whole.
  const std::string wide(90, 'n');
  const Outcome other = run_on_screen({"solve", "zdt:1", "-o", wide, "--sweeps", "5"});
  EXPECT_NE(other.out.find("files  " + wide + "/{run.json,\n       result.json,"),
            std::string::npos)
      << other.out;
}

// The first call is under way; the row tells how much time is left.
TEST_F(Terminal, AnErrorBeginsALineOfItsOwn) {
  write("call.sh", "sleep 1\nkill -INT $PPID\nsleep 25\n");
  const Outcome outcome = run_on_screen({"solve", "command:sh call.sh {x}", "--var", "x=real:0:1",
                                         "-p", "evaluations=10", "--threads", "1"});
  EXPECT_EQ(outcome.exit_code, 130) << outcome.out;
  const std::vector<std::string> lines = screen_lines(outcome.out);
  const auto has_line = [&](const std::string& begin) {
    return std::ranges::any_of(lines,
                               [&](const std::string& line) { return line.starts_with(begin); });
  };
  EXPECT_TRUE(has_line("     time evaluations")) << outcome.out;
  EXPECT_TRUE(has_line("error[run.interrupted]: interrupted before the first ")) << outcome.out;
  // There is no result to be written.
  EXPECT_TRUE(has_line("stopping. Press Ctrl-C again to stop now.")) << outcome.out;
}

TEST_F(Terminal, AResultThatIsThereWillBeWritten) {
  write("call.sh",
        "if mkdir first 2>/dev/null; then echo 1; exit; fi\n"
        "sleep 1\nkill -INT $PPID\nsleep 25\n");
  const Outcome outcome = run_on_screen({"solve", "command:sh call.sh {x}", "--var", "x=real:0:1",
                                         "-p", "evaluations=10", "--threads", "1"});
  EXPECT_EQ(outcome.exit_code, 130) << outcome.out;
  EXPECT_NE(
      outcome.out.find("stopping; the result will be written. Press Ctrl-C again to stop now."),
      std::string::npos)
      << outcome.out;
}

TEST_F(Terminal, DiagnosesFit) {
  const std::vector<std::vector<std::string>> runs{{"torus:8x8,1", "parallel-tempering"},
                                                   {"torus:8x8,1", "population-annealing"},
                                                   {"zdt:1", "evolutionary"},
                                                   {"function:branin", "bayesian-optimization"},
                                                   {"posterior:eight-schools", "hmc"}};
  for (const std::vector<std::string>& one : runs) {
    ASSERT_EQ(run({"solve", one[0], "--schedule", one[1], "-q", "-o", one[1], "--sweeps", "40"})
                  .exit_code,
              0);
    expect_narrow({"diagnose", one[1]});
  }
}

TEST_F(Terminal, WhatIsThereIsListedAndDescribedInColumnsThatFit) {
  for (const char* topic : {"schedules", "problems", "formats", "devices", "kernels", "suites"}) {
    expect_narrow({"list", topic});
  }
  const Registry registry = builtin_registry();
  for (const ScheduleEntry* entry : registry.schedules()) expect_narrow({"describe", entry->name});
  for (const char* name : {"table", "command", "posterior", "function", "re", "rudy", "qubo", "coo",
                           "col", "pottsmodel", "metropolis_sweep"}) {
    expect_narrow({"describe", name});
  }
  for (const char* verb : {"solve", "sample", "list", "describe", "check", "generate", "bench",
                           "diagnose", "doctor", "help"}) {
    expect_narrow({"help", verb});
  }
}

TEST_F(Terminal, ErrorsAndAdviceFit) {
  expect_narrow({"solve", "gset:G1", "--time"}, 2);
  expect_narrow({"solve", "graph-that-is-not-there.txt"}, 3);
  expect_narrow({"sample", "torus:8x8,1"}, 2);
  expect_narrow({"solve", "torus:8x8,1", "--schedule", "anealing"}, 2);
  expect_narrow({"solve", "posterior:eight-schools", "--maximize"}, 2);
  write("t.csv", "\"temperature, C\";pressure;yield\n0,25;1;3,5\n0,5;2;4,25\n");
  expect_narrow({"solve", "t.csv", "--objective", "yield"}, 2);
  expect_narrow({"check", "t.csv"}, 3);
  expect_narrow({"check", "table:t.csv", "--objective", "yield"});
  expect_narrow({"solve", "coloring:40,50,130,1", "--schedule", "sa", "-p", "moves=heat-bath"}, 2);
}

// Calls of minutes: the live row follows the clock from the first one on, and counts them.
TEST_F(Terminal, TheFirstEvaluationIsShownWhileItRuns) {
  write("call.sh", "sleep 2.6\necho 1\n");
  const auto times_of = [&](const std::vector<std::string>& more, const std::string& row) {
    std::vector<std::string> words{"solve", "command:sh call.sh {x}", "--var", "x=real:0:1"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_on_screen(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
    std::set<std::string> times;
    const std::regex pattern("\\s+([0-9.]+)s\\s+" + row);
    std::smatch match;
    for (const std::string& line : screen_lines(outcome.out)) {
      EXPECT_TRUE(fits(line)) << line;
      if (std::regex_match(line, match, pattern)) times.insert(match[1]);
    }
    EXPECT_GE(times.size(), 2u) << row << "\n" << outcome.out;
    return times;
  };
  times_of({"-p", "evaluations=2"}, "0   the first evaluation is running");
  times_of({"-p", "evaluations=2"}, "1\\s+1 .*");
  times_of({"-p", "evaluations=2", "-p", "batch=2", "--threads", "2"},
           "0   the first 2 evaluations are running");
}

// The names of all columns are on the screen, and each row has the cells of the table in a file.
TEST_F(Terminal, TablesOfAllSuitesFit) {
  const json suites = json::parse(run({"list", "suites", "--json"}).out)["suites"];
  ASSERT_GE(suites.size(), 6u);
  for (const json& suite : suites) {
    const std::string name = suite["name"];
    std::vector<std::string> words{"bench", name, "--device", "cpu", "--quick", "-q"};
    if (name == "kernels") words.insert(words.end(), {"--only", "ma"});
    const Outcome outcome = run_on_screen(words), file = run(words);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.out;
    std::string all;
    for (const std::string& line : screen_lines(outcome.out)) {
      EXPECT_LT(line.size(), columns) << name << ": " << line;
      all += line + "   ";
    }
    std::istringstream table(file.out);
    std::string header;
    for (int line = 0; line < 3; ++line) std::getline(table, header);
    EXPECT_GT(header.size(), 40u) << name;
    std::size_t at = 0;
    for (const std::string& column : cells_of(header)) {
      at = all.find(" " + column + " ", at == 0 ? 0 : at - 1);
      if (at == std::string::npos) at = all.find(column + " ");
      ASSERT_NE(at, std::string::npos) << name << ": " << column << "\n" << outcome.out;
    }
  }
}

// No line of prose ends before the next word would not have fitted, however wide the screen is.
TEST_F(Terminal, ProseIsBrokenOnce) {
  const auto first_word = [](const std::string& text) {
    return std::min(text.find(' '), text.size());
  };
  for (const std::size_t width : {60u, 80u, 120u}) {
    for (const char* verb : {"solve", "sample", "list", "describe", "check", "generate", "bench",
                             "diagnose", "doctor", "version"}) {
      std::string before;
      for (const std::string& line : screen_lines(run_on_screen({"help", verb}, width).out)) {
        const bool goes_on = !before.empty() && before.front() != ' ' && before.back() != ':' &&
                             !before.starts_with("usage:");
        if (goes_on && !line.empty()) {
          EXPECT_NE(line.front(), ' ') << verb << ", " << width << ": " << line;
          EXPECT_GE(before.size() + 1 + first_word(line), width) << verb << ", " << width << ":\n"
                                                                 << before << "\n"
                                                                 << line;
        }
        // So do sentences about options, which stand in a column of their own.
        if (line.find_first_not_of(' ') == 31) {
          EXPECT_GE(before.size() + 1 + first_word(line.substr(31)), width)
              << verb << ", " << width << ":\n"
              << before << "\n"
              << line;
        }
        before = line;
      }
    }
  }
}

// solution.txt has the same numbers, one per line.
TEST_F(Terminal, TheBestPointIsShownInTwoLines) {
  const auto shown = [&](const std::vector<std::string>& words) {
    const Outcome outcome = run_on_screen(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
    const std::vector<std::string> lines = screen_lines(outcome.out);
    auto line = std::ranges::find_if(
        lines, [](const std::string& one) { return one.starts_with("with   "); });
    EXPECT_NE(line, lines.end()) << outcome.out;
    if (line == lines.end()) return std::string();
    std::string text = line->substr(7);
    EXPECT_LT(line->size(), columns);
    if (++line != lines.end() && line->starts_with("       ")) {
      EXPECT_LT(line->size(), columns);
      text += " " + line->substr(7);
    }
    return text;
  };
  std::string text = shown({"solve", "function:rastrigin-30", "--sweeps", "20", "-o", "thirty"});
  std::istringstream solution(read("thirty/solution.txt"));
  std::size_t count = 0;
  for (double x = 0; text.starts_with("x[") && solution >> x; ++count) {
    const std::string expected = fmt::format("x[{}] = {:.6g}, ", count + 1, x);
    ASSERT_TRUE(text.starts_with(expected)) << text << "\n" << expected;
    text.erase(0, expected.size());
  }
  EXPECT_GT(count, 4u);
  EXPECT_EQ(text, fmt::format("... and {} more in solution.txt", 30 - count));

  text = shown({"solve", "constrained:gramacy", "--sweeps", "50"});
  EXPECT_TRUE(std::regex_match(text, std::regex("x\\[1\\] = [-0-9.e]+, x\\[2\\] = [-0-9.e]+")))
      << text;
  // The quantities of the literature, from variables that are not centred.
  text = shown({"solve", "posterior:eight-schools", "--sweeps", "50", "-o", "schools"});
  std::istringstream lines(read("schools/solution.txt"));
  const std::vector<double> x(std::istream_iterator<double>(lines), {});
  ASSERT_EQ(x.size(), 10u);
  std::string expected;
  for (std::size_t k = 0; k < 4; ++k) {
    expected += fmt::format("theta[{}] = {:.6g}, ", k + 1, x[8] + std::exp(x[9]) * x[k]);
  }
  EXPECT_TRUE(text.starts_with(expected)) << text << "\n" << expected;
}

// What was not chosen is a page of its own; a pipe gets all.
TEST_F(Terminal, APlanFitsOnAScreen) {
  const std::vector<std::string> words{"solve", "gset:G1", "-p", "beta_max=2.5", "--dry-run"};
  const std::vector<std::string> lines = screen_lines(run_on_screen(words).out);
  EXPECT_LT(lines.size(), 24u);
  const auto has = [&](const std::string& text) {
    return std::ranges::any_of(lines, [&](const auto& line) { return line.starts_with(text); });
  };
  EXPECT_TRUE(has("beta_max "));
  EXPECT_FALSE(has("beta_min "));
  EXPECT_NE(run(words).out.find("\nbeta_min "), std::string::npos);
}

TEST_F(Terminal, ALongCheckSaysThatItGoesOn) {
  const Outcome outcome = run_on_screen({"check", "density:gaussian-200,1", "--starts", "1000"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_TRUE(std::regex_search(
      outcome.out, std::regex("checking the gradient at 1000 random starts, [0-9.]+s")))
      << outcome.out;
}

// A document is for programs, whoever looks at it.
TEST_F(Terminal, DocumentsKeepTheirLine) {
  const auto lines = screen_lines(run_on_screen(short_run({"--json", "-q"})).out);
  EXPECT_TRUE(std::ranges::any_of(lines, [](const std::string& line) {
    return line.size() > 1000 && line.front() == '{' && line.back() == '}';
  }));
}

// Where nobody says how wide a screen is, lines are whole: a script looks for one.
TEST_F(Terminal, LinesOfPipesAreWhole) {
  const Outcome outcome = run(short_run({}));
  EXPECT_NE(outcome.out.find("(maximised)   recomputed on the CPU in integers: equal\n"),
            std::string::npos)
      << outcome.out;
}

// The line to act on is the last one, also behind timings and the memory map of --verbose.
TEST_F(Terminal, TheAnswerStaysTheLastThing) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"-v"}, {"-v", "-o", "run"}, {"-v", "--top", "2"}}) {
    std::vector<std::string> words = short_run(more);
    const std::string screen = run_on_screen(words).out;
    const std::size_t map = screen.rfind("\nmemory of "), done = screen.find("\ndone ");
    ASSERT_NE(map, std::string::npos) << screen;
    ASSERT_NE(done, std::string::npos) << screen;
    EXPECT_LT(map, done) << screen;
    EXPECT_LT(screen.rfind("\narena "), done) << screen;
  }
}

}  // namespace
}  // namespace kiln::test::terminal_test
