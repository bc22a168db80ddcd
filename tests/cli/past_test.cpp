// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Tables of evaluations: what other programs write is read, what Kiln writes Kiln reads, and a
// space of which every point is known has an answer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <tuple>

#include "program.hpp"

namespace kiln::test::past_test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

class Past : public SearchTest {
 protected:
  /// The evaluations of a search of the function branin after past ones, as written.
  std::string after(const std::string& past) const {
    write("past.csv", past);
    std::filesystem::remove_all(folder_ / "out");
    const Outcome outcome =
        search("function:branin", {"--sweeps", "2", "--past", "past.csv", "-o", "out"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return read("out/evaluations.csv");
  }
  std::string refusal(const std::string& past) const {
    write("past.csv", past);
    const Outcome outcome = search("function:branin", {"--sweeps", "1", "--past", "past.csv"});
    EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
    return outcome.err.substr(0, outcome.err.find('\n'));
  }
};

TEST_F(Past, IsReadAsOtherProgramsWriteIt) {
  const std::string plain = after("x1,x2,value\n0.5,1,3\n-1.25,2,\n1,15,-4.5\n");
  const std::string utf8_mark = "\xef\xbb\xbf";
  EXPECT_EQ(after(utf8_mark + "x1,x2,value\n0.5,1,3\n-1.25,2,\n1,15,-4.5\n"), plain);
  EXPECT_EQ(after("x1;x2;value\r\n0,5;1;3\r\n-1,25;2;\r\n1;15;-4,5\r\n"), plain);
  EXPECT_EQ(
      after(utf8_mark + "x1\tvalue\tx2\twho\n0.5\t3\t1\tme, 2,5\n-1.25\t\t2\t\n1\t-4.5\t15\tyou\n"),
      plain);
  EXPECT_EQ(
      after("\"x1\" ,\"x2\", \"value\"\n\n# by hand\n \"0.5\",1,\"3\"\n-1.25,2,\"\"\n1,15,-4.5"),
      plain);
  EXPECT_NE(after("x1;x2;value\n0,6;1;3\n-1,25;2;\n1;15;-4,5\n"), plain);
  // What was done to the numbers is told.
  write("past.csv", "x1;x2;value\n0,5;1;3\n");
  const Outcome outcome = search("function:branin", {"--sweeps", "1", "--past", "past.csv"});
  EXPECT_NE(outcome.err.find("numbers of past.csv have decimal commas: Kiln reads 0,5 as 0.5"),
            std::string::npos)
      << outcome.err;
}

TEST_F(Past, RefusesWhatMayMeanAnything) {
  EXPECT_EQ(refusal("x1,x2,x1,value\n1,2,3,4\n"),
            "error[input.parse]: past.csv:1: the column 'x1' appears twice");
  EXPECT_EQ(refusal("x1,x2,value,value\n1,2,3,4\n"),
            "error[input.parse]: past.csv:1: the column 'value' appears twice");
  EXPECT_EQ(refusal("x1,x2,value\n1,\"2,3\n"),
            "error[input.parse]: past.csv:2: a quoted cell is not closed correctly");
  EXPECT_EQ(refusal("x1,x2,\"value\"s\n1,2,3\n"),
            "error[input.parse]: past.csv:1: a quoted cell is not closed correctly");
  EXPECT_EQ(refusal("x1,x2,value,a\033[2Jb\n1,2,3,4\n"),
            "error[input.parse]: past.csv:1: the name of column 'a?[2Jb' has a control character");
  EXPECT_EQ(
      refusal("x1;x2;value\n0,5;1;3.5\n"),
      "error[input.parse]: past.csv:2: '0,5' of column 'x1' has a decimal comma, but '3.5' of "
      "column 'value' has a decimal point");
  EXPECT_EQ(refusal("x1,x2,value\n\"0,5\",1,3\n"),
            "error[input.parse]: past.csv:2: '0,5' of column 'x1' has a comma");
}

// What begins like a file of Kiln's is one only if nothing else is in it.
TEST_F(Past, OfKilnsLayoutHasNoColumnTwice) {
  const std::string own = after("study,batch,x[1],x[2],value,best\n1,1,0.5,1,3,3\n");
  EXPECT_EQ(own, after("x1,x2,value\n0.5,1,3\n"));
  for (const std::string name : {"value", "x[1]", "best", "batch"}) {
    EXPECT_EQ(refusal("study,batch,x[1],x[2],value,best," + name + "\n1,1,0.5,1,3,3,9\n"),
              "error[input.parse]: past.csv:1: the column '" + name + "' appears twice");
  }
  EXPECT_EQ(refusal("study,batch,x[1],x[2],value,value\n1,1,0.5,1,3,9\n"),
            "error[input.parse]: past.csv:1: the column 'value' appears twice");
  // A column of the user's, and another order, are as good as in any table.
  EXPECT_EQ(after("study,batch,x[1],x[2],value,best,note\n1,1,0.5,1,3,3,me\n"), own);
  EXPECT_EQ(after("study,batch,value,x[2],x[1]\n1,1,3,1,0.5\n"), own);
}

// The oracle is the table: the row of a = 1 has 5, and the best so far is 9 there.
TEST_F(Past, OfAnObjectiveCalledBestIsNotTheRunningBest) {
  write("t.csv", "a,best\n1,5\n2,6\n3,9\n4,1\n");
  write("past.csv", "study,batch,a,value,best\n0,1,3,9,9\n0,2,1,5,9\n");
  const Outcome outcome = search(
      "table:t.csv", {"--objective", "best", "--sweeps", "1", "--past", "past.csv", "-o", "out"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(read("out/evaluations.csv").find(",1,5,9\n"), std::string::npos)
      << read("out/evaluations.csv");
}

TEST_F(Past, HasNumbersWithAPlus) {
  EXPECT_EQ(after("x1,x2,value\n+0.5,+1,+3.5\n"), after("x1,x2,value\n0.5,1,3.5\n"));
  EXPECT_EQ(refusal("x1,x2,value\n1,2,+-3\n"),
            "error[input.parse]: past.csv:2: column 'value': '+-3' is not a number");
}

// Names that are also those of other columns, and words of any bytes.
struct RandomCommand {
  explicit RandomCommand(unsigned seed) : draws(seed) {
    const std::vector<std::string> names{"x1", "x2",   "x3",    "study", "batch",
                                         "g1", "best", "value", "a-b",   "long_name"};
    std::vector<std::string> own;
    std::ranges::sample(names, std::back_inserter(own), 3, draws);
    std::ranges::shuffle(own, draws);
    command = "command:sh -c 'echo 0.5'";
    for (const std::string& name : own) {
      Words distinct;
      while (distinct.size() < 3) {
        const std::string text = word();
        if (std::ranges::find(distinct, text) == distinct.end()) distinct.push_back(text);
      }
      command += " {" + name + "}";
      variables.insert(variables.end(), {"--var", name + "=cat:" + distinct[0] + "," + distinct[1] +
                                                      "," + distinct[2]});
    }
  }
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(draws);
  }
  std::string word() {
    const std::vector<std::string> pieces{"\n",    "\033[2J",      "\"",   "#",   " ",    "\\",
                                          "\\x1b", "\t",           "x",    "0.5", "\r",   "é",
                                          "'",     "\xe2\x80\xae", "\xff", "nan", "\xf6", "$(a)"};
    std::string text = "w";
    for (std::size_t i = below(4) + 1; i > 0; --i) text += pieces[below(pieces.size())];
    return text + "w";
  }
  std::mt19937 draws;
  std::string command;
  Words variables;
};

TEST_F(Past, WhatKilnWritesKilnReads) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCommand random(seed);
    const auto calls = [&](const std::string& folder, Words more) {
      more.insert(more.end(), random.variables.begin(), random.variables.end());
      more.insert(more.end(), {"-q", "-o", folder + std::to_string(seed)});
      const Outcome outcome = search(random.command, more);
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err << random.command;
      return lines_of(read(folder + std::to_string(seed) + "/evaluations.csv"));
    };
    const auto first = calls("a", {"--sweeps", "6"});
    ASSERT_EQ(first.size(), 7u);
    const auto second =
        calls("b", {"--sweeps", "1", "--past", "a" + std::to_string(seed) + "/evaluations.csv"});
    ASSERT_EQ(second.size(), 8u);
    EXPECT_EQ(second.front(), first.front());
    for (std::size_t i = 1; i < first.size(); ++i) {
      const auto cells = [](const std::string& line) { return line.substr(line.find(',', 2)); };
      EXPECT_EQ(cells(second[i]), cells(first[i]));
      EXPECT_TRUE(std::ranges::none_of(first[i], [](char c) { return c >= 0 && c < ' '; }));
    }
    // The best state, too, which has the words in comments.
    Words again{"solve",
                random.command,
                "--device",
                "cpu",
                "--schedule",
                "simulated-annealing",
                "--replicas",
                "1",
                "--sweeps",
                "1",
                "-q",
                "--initial",
                "a" + std::to_string(seed) + "/solution.txt"};
    again.insert(again.end(), random.variables.begin(), random.variables.end());
    const Outcome outcome = run(again);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
}

// The oracle is the table: its best row.
TEST_F(Past, OfEveryPointHasTheBestOfThemForAnAnswer) {
  const std::string table = "a,b,y\nx,1,5\nx,2,6\nz,1,9\nz,2,7\n";
  write("t.csv", table);
  for (const auto& [sense, best] : {std::pair{"maximize", 9.0}, {"minimize", 5.0}}) {
    const Outcome outcome =
        search("table:t.csv", {"--objective", "y", "--sense", sense, "--past", "t.csv", "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(json::parse(outcome.out)["objective"]["best"], best);
    EXPECT_EQ(json::parse(outcome.out)["verified"], true);
    EXPECT_NE(outcome.err.find("every point of the space was known before"), std::string::npos)
        << outcome.err;
  }
  // What a file claims is no answer: the table says what it is.
  write("claims.csv", "a,b,y\nx,1,5\nx,2,60\nz,1,9\nz,2,7\n");
  const Outcome claimed =
      search("table:t.csv", {"--objective", "y", "--past", "claims.csv", "--json"});
  EXPECT_EQ(claimed.exit_code, 0) << claimed.err;
  EXPECT_EQ(json::parse(claimed.out)["objective"]["best"], 6.0);
  // Nothing but failures is still none.
  write("failed.csv", "a,b,y\nx,1,\nx,2,\nz,1,\nz,2,\n");
  EXPECT_EQ(search("table:t.csv", {"--objective", "y", "--past", "failed.csv"}).exit_code, 9);
}

// The oracle is the table: its best row, whichever rows are known and whichever are new.
TEST_F(Past, OfAllPointsButAFewHasTheBestOfAllForAnAnswer) {
  const Words rows{"0,u,5", "0,v,2.5", "0,w,9", "1,u,-0.5", "1,v,7", "1,w,8"};
  const std::string head = "a,c,y\n";
  std::string table = head;
  for (const std::string& row : rows) table += row + "\n";
  write("t.csv", table);
  write("t.sh", "grep \"^$1,$2,\" t.csv | cut -d, -f3\n");
  const Words called{"--var", "a=int:0:1", "--var", "c=cat:u,v,w"};
  for (const auto& [sense, best, best_at] :
       {std::tuple{"maximize", 9.0, 2u}, {"minimize", -0.5, 3u}}) {
    for (std::size_t left_out = 0; left_out < rows.size(); ++left_out) {
      SCOPED_TRACE(std::string(sense) + " without " + rows[left_out]);
      std::string past = "a,c,value\n";
      for (std::size_t i = 0; i < rows.size(); ++i) {
        // Two are left out of some.
        if (i != left_out && (i != 4 || left_out % 2 == 0)) past += rows[i] + "\n";
      }
      write("past.csv", past);
      for (const std::string problem : {"table:t.csv", "command:sh t.sh {a} {c}"}) {
        Words more{"--sense", sense, "--past", "past.csv", "-p", "evaluations=8", "--json"};
        if (problem != "table:t.csv") more.insert(more.end(), called.begin(), called.end());
        if (problem == "table:t.csv") more.insert(more.end(), {"--objective", "y"});
        const Outcome outcome = search(problem, more);
        ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
        EXPECT_EQ(json::parse(outcome.out)["objective"]["best"], best) << outcome.err;
        const std::string advice = json::parse(outcome.out)["advice"].dump();
        const bool again = advice.find(" once more") != std::string::npos;
        EXPECT_EQ(again, left_out != best_at) << advice;
        EXPECT_EQ(advice.find("better than all evaluations of this run"), std::string::npos)
            << advice;
      }
    }
  }
}

// A full disk or a kill ends a file anywhere. The oracle is the file with its last line whole, or
// without it.
TEST_F(Past, LeavesOutTheRestOfATornLine) {
  const std::string head = "study,batch,x[1],x[2],value,best\n";
  const std::string whole = head + "0,1,0.5,1,3.25,3.25\n0,2,-1.25,2,-0.7364915235152831,";
  const std::string without = after(head + "0,1,0.5,1,3.25,3.25\n");
  ASSERT_NE(after(whole + "-0.7364915235152831\n"), without);
  EXPECT_EQ(after(whole + "-0.73649"), without);
  EXPECT_EQ(after(head + "0,1,0.5,1,3.25,3.25\n0,2,-1."), without);
  EXPECT_EQ(after(head + "0,1,0.5,1,3.25,3.25\n0"), without);
  const Outcome outcome = search("function:branin", {"--sweeps", "1", "--past", "past.csv"});
  EXPECT_NE(outcome.err.find("past.csv ends in an incomplete line, whose last number"),
            std::string::npos)
      << outcome.err;
  // Other programs need not end the last line.
  EXPECT_EQ(after("x1,x2,value\n0.5,1,3\n1,15,-4.5"), after("x1,x2,value\n0.5,1,3\n1,15,-4.5\n"));
}

// The oracle are the texts: what was read is written as it was, run after run.
TEST_F(Past, KeepsTheTextsOfItsNumbers) {
  const Words texts{"0.01,0.1", "0.001,-4.9", "0.3,0.7", "0.00025,9.99", "0.0123456,3.3"};
  std::string past = "lr,p,value\n";
  for (const std::string& text : texts) past += text + ",1\n";
  write("past.csv", past);
  std::string from = "past.csv";
  for (const std::string to : {"a", "b", "c"}) {
    const Outcome outcome =
        search("command:echo {lr} {p}", {"--var", "lr=real:1e-4:1:log", "--var", "p=real:-5:10",
                                         "--sweeps", "1", "--past", from, "-q", "-o", to});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    from = to + "/evaluations.csv";
    const std::vector<std::string> lines = lines_of(read(from));
    ASSERT_GT(lines.size(), texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(lines[i + 1].substr(0, 5 + texts[i].size()), "0,0," + texts[i] + ",");
    }
  }
}

// The oracle is evaluations.csv: rows of batches above 0 are the run's own.
TEST_F(Past, IsNotCountedInTheProgressOfARun) {
  ASSERT_FALSE(after("x1,x2,value\n0.5,1,90\n-1.25,2,95\n1,15,99\n3,3,98\n").empty());
  const auto rows = lines_of(read("out/evaluations.csv"));
  const auto own = std::ranges::count_if(
      rows, [](const std::string& row) { return row.starts_with("0,") && row[2] != '0'; });
  EXPECT_EQ(own, 2);
  std::vector<std::int64_t> counts;
  for (const std::string& line : lines_of(read("out/events.ndjson"))) {
    const json event = json::parse(line);
    if (event.contains("evaluations")) counts.push_back(event["evaluations"]);
  }
  ASSERT_FALSE(counts.empty());
  EXPECT_TRUE(std::ranges::is_sorted(counts));
  EXPECT_GE(counts.front(), 1);
  EXPECT_LE(counts.back(), own);
}

TEST_F(Past, NeedsNamesUpToItsLastColumn) {
  EXPECT_EQ(refusal("x1,x2,value,\n1,2,3,\n"),
            "error[input.parse]: past.csv:1: the last column has no name");
  // pandas writes the numbers of rows into a first column without one.
  EXPECT_EQ(after(",x1,x2,value\n0,0.5,1,3\n"), after("x1,x2,value\n0.5,1,3\n"));
}

TEST_F(Past, OfAFolderOrADeviceIsRefusedAtOnce) {
  std::filesystem::create_directory(folder_ / "tables");
  const Outcome folder = run({"solve", "table:tables", "--objective", "y"});
  EXPECT_EQ(folder.exit_code, 3);
  EXPECT_EQ(folder.err.substr(0, folder.err.find('\n')),
            "error[input.open]: tables is a folder, not a table");
  for (const Words& words :
       {Words{"table:/dev/zero", "--objective", "y"},
        Words{"zdt:1", "--reference-front", "/dev/zero"},
        Words{"function:branin", "--schedule", "bayesian-optimization", "--past", "/dev/zero"}}) {
    Words call{"solve"};
    call.insert(call.end(), words.begin(), words.end());
    const Outcome outcome = run(call);
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_EQ(outcome.err.substr(0, outcome.err.find('\n')),
              "error[input.parse]: /dev/zero:1: the line has a NUL byte; this is not a text file");
  }
}

// The oracle is the definition of zdt:1, f2 = g (1 - sqrt(f1 / g)) with g = 1 + 9 x2 of two
// variables: whatever the models are shown, the front has the past points of x2 = 0.
TEST_F(Past, OfAFrontIsThinnedForItsModels) {
  std::string past = "x[1],x[2],f1,f2\n";
  std::mt19937 draws(3);
  std::uniform_real_distribution<double> uniform;
  const auto add = [&](double x, double y) {
    const double g = 1 + 9 * y;
    past += fmt::format("{},{},{},{}\n", x, y, x, g * (1 - std::sqrt(x / g)));
  };
  for (int i = 0; i < 290; ++i) add(uniform(draws), 0.2 + 0.8 * uniform(draws));
  for (int i = 0; i < 10; ++i) add(0.05 + 0.1 * i, 0);
  write("past.csv", past);
  const Outcome outcome =
      run({"solve", "zdt:1,2", "--device", "cpu", "--schedule", "bayesian-front", "--past",
           "past.csv", "--replicas", "1", "--sweeps", "1", "--time-limit", "1s", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_NE(result["advice"].dump().find("the models used 202 of 300 past evaluations"),
            std::string::npos)
      << result["advice"];
  for (int i = 0; i < 10; ++i) {
    const double x = 0.05 + 0.1 * i;
    EXPECT_TRUE(std::ranges::any_of(result["front"]["points"], [&](const json& point) {
      return std::abs(point[0].get<double>() - x) < 1e-9;
    })) << x;
  }
}

}  // namespace
}  // namespace kiln::test::past_test
