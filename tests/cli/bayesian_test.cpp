// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Bayesian optimisation on the command line: files of evaluations, what is shown, errors.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace kiln::test::bayesian_test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

class Bayesian : public SearchTest {
 protected:
  /// The first line of the message about a file of past evaluations of the function branin.
  std::string refusal(const std::string& past, const std::string& problem = "function:branin",
                      const Words& more = {}) const {
    write("past.csv", past);
    Words words{"--past", "past.csv", "--sweeps", "1"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = search(problem, words);
    EXPECT_NE(outcome.exit_code, 0) << past;
    return outcome.err.substr(0, outcome.err.find('\n'));
  }
};

const Words command_words{"--var", "x=real:1e-3:10:log",           "--var", "n=int:0:4",
                          "--var", "how=cat:plain,with \"quotes\""};
const std::string command = "command:sh -c 'echo 0.{n}' {x} {n} {how}";

TEST_F(Bayesian, EndsByItselfAndWritesEvaluations) {
  const Outcome outcome = search("function:branin", {"-p", "evaluations=8", "--output", "out"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("\nstop         after 8 evaluations\n"), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("evaluations"), std::string::npos);
  EXPECT_NE(outcome.err.find("expected gain"), std::string::npos);
  EXPECT_NE(outcome.out.find("schedule finished"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("model  fit "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("length scales"), std::string::npos);
  const std::vector<std::string> lines = lines_of(read("out/evaluations.csv"));
  ASSERT_EQ(lines.size(), 9u);
  EXPECT_EQ(lines[0], "study,batch,x[1],x[2],value,best");
  EXPECT_EQ(lines[1].substr(0, 4), "0,1,");
  EXPECT_EQ(lines[8].substr(0, 4), "0,8,");
  const json result = json::parse(read("out/result.json"));
  EXPECT_TRUE(result["model"]["lengths"].contains("x[2]"));
  EXPECT_TRUE(result["model"]["fit"].is_number());
  const std::string best = lines[8].substr(lines[8].rfind(',') + 1);
  EXPECT_EQ(std::stod(best), result["objective"]["best"].get<double>());
  EXPECT_NE(read("out/events.ndjson").find("\"expected_gain\""), std::string::npos);
}

// The oracle is evaluations.csv: as many lines as there are points, though more were allowed.
TEST_F(Bayesian, TheBannerOfAFiniteSpaceCountsItsPoints) {
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const Outcome outcome =
      search("command:echo {a} {b} 1", {"--var", "a=int:2:4", "--var", "b=cat:u,v", "-o", "out"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(has(outcome.err, "\nstop         after 6 evaluations (every point)\n"));
  EXPECT_TRUE(has(outcome.err, "; all 6\n             calls,")) << outcome.err;
  EXPECT_EQ(lines_of(read("out/evaluations.csv")).size(), 1 + 6u);
  // A real number has no end of points, and fewer evaluations are as many as they are.
  const auto stop_of = [&](const std::string& a, const std::string& evaluations) {
    return search("command:echo {a}",
                  {"--var", "a=" + a, "-p", "evaluations=" + evaluations, "--dry-run"})
        .out;
  };
  EXPECT_TRUE(has(stop_of("real:2:4", "50"), "\nstop         after 50 evaluations\n"));
  EXPECT_TRUE(has(stop_of("int:1:50", "49"), "\nstop         after 49 evaluations\n"));
  EXPECT_TRUE(
      has(stop_of("int:1:50", "51"), "\nstop         after 50 evaluations (every point)\n"));
  EXPECT_TRUE(has(stop_of("int:0:1000000000", "50"), "\nstop         after 50 evaluations\n"));
}

// A dry run says what the run would, and starts nothing.
TEST_F(Bayesian, ADryRunLooksForTheProgram) {
  write("plain.sh", "#!/bin/sh\ntouch started\necho 1\n");
  std::filesystem::create_directory(folder_ / "folder");
  const Words more{"--var", "x=real:0:1", "-p", "evaluations=1"};
  const auto outcome_of = [&](const std::string& program, bool dry) {
    Words words = more;
    if (dry) words.emplace_back("--dry-run");
    return search("command:" + program + " {x}", words);
  };
  for (const char* program : {"/nonexist", "no-such-program-anywhere", "./plain.sh", "./folder"}) {
    const Outcome dry = outcome_of(program, true), run = outcome_of(program, false);
    EXPECT_EQ(dry.exit_code, run.exit_code) << program;
    const std::string error = dry.err.substr(std::min(dry.err.find("error["), dry.err.size()));
    EXPECT_TRUE(error.starts_with("error[command.start]: ")) << dry.err;
    EXPECT_TRUE(run.err.ends_with(error)) << dry.err << run.err;
  }
  std::filesystem::permissions(folder_ / "plain.sh", std::filesystem::perms::owner_all);
  EXPECT_EQ(outcome_of("./plain.sh", true).exit_code, 0);
  EXPECT_EQ(outcome_of("sh plain.sh", true).exit_code, 0);
  EXPECT_FALSE(exists("started"));
}

// The program counts its calls; two at once of the same point would be two.
TEST_F(Bayesian, AProgramIsCalledAsOftenAsItWasAskedFor) {
  write("call.sh", "echo x >> calls\necho $1\n");
  const auto expect = [&](const Words& more, std::int64_t calls, const std::string& stop,
                          const std::string& initial) {
    std::filesystem::remove(folder_ / "calls");
    Words words{"--var", "x=real:0:1", "--threads", "2", "-p", "batch=4"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = search("command:sh call.sh {x}", words);
    EXPECT_EQ(std::ranges::count(read("calls"), '\n'), calls) << outcome.err;
    EXPECT_NE(outcome.err.find("\nstop         after " + stop), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find(" initial=" + initial), std::string::npos) << outcome.err;
  };
  expect({"-p", "evaluations=17"}, 17, "17 evaluations (4 batches of 4 and one of 1)\n", "4");
  expect({"-p", "evaluations=3"}, 3, "3 evaluations (one batch of 3)\n", "3");
  expect({"--evaluations", "6", "--target", "-1"}, 6,
         "6 evaluations (1 batch of 4 and one of 2) or at target -1\n", "4");
  expect({"--evaluations", "6", "--sweeps", "2"}, 6, "6 evaluations (1 batch of 4 and one of 2)\n",
         "4");
  expect({"-p", "evaluations=7", "--sweeps", "4", "--time-limit", "60s"}, 7,
         "7 evaluations (1 batch of 4 and one of 3) or after 60 s\n", "4");
  expect({"-p", "evaluations=13", "--sweeps", "2"}, 8, "8 evaluations (2 batches of 4)\n", "4");
}

TEST_F(Bayesian, ARunGoesOnFromItsEvaluations) {
  ASSERT_EQ(search("function:branin", {"--sweeps", "6", "--output", "one"}).exit_code, 0);
  Outcome outcome = search("function:branin",
                           {"--sweeps", "3", "--output", "two", "--past", "one/evaluations.csv"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> before = lines_of(read("one/evaluations.csv"));
  const std::vector<std::string> all = lines_of(read("two/evaluations.csv"));
  ASSERT_EQ(all.size(), 10u);
  EXPECT_EQ(all[1].substr(0, 4), "0,0,") << "known before";
  EXPECT_EQ(all[7].substr(0, 4), "0,1,");
  const auto value = [](const std::string& line) {
    return line.substr(0, line.rfind(',')).substr(line.substr(0, line.rfind(',')).rfind(','));
  };
  for (std::size_t i = 1; i < before.size(); ++i) EXPECT_EQ(value(all[i]), value(before[i]));

  // The same from a configuration file.
  write("run.toml",
        "past = \"one/evaluations.csv\"\nsweeps = 3\ndevice = \"cpu\"\n[schedule]\n"
        "name = \"bayesian-optimization\"\ncandidates = 128\nstarts = 2\nrestarts = 2\n");
  outcome = run({"solve", "function:branin", "--config", "run.toml", "--output", "three"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(read("three/evaluations.csv"), read("two/evaluations.csv"));
}

TEST_F(Bayesian, VariablesOfAProgramAreNamedInTheirUnits) {
  Words more = command_words;
  more.insert(more.end(), {"--sweeps", "7", "--output", "one"});
  Outcome outcome = search(command, more);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("with   how = "), std::string::npos);
  EXPECT_EQ(lines_of(read("one/evaluations.csv"))[0], "study,batch,x,n,how,value,best");

  // By hand, in another order; a failed one, one with the word in quotes.
  write("past.csv",
        "# from last year\nhow, n, x, value, who\nplain,4,0.5,0.4,me\n"
        "\"with \"\"quotes\"\"\",1,10,,me\nplain,0,1e-3,nan,you\n");
  more.erase(more.end() - 2, more.end());
  more.insert(more.end(), {"--past", "past.csv", "--output", "two"});
  outcome = search(command, more);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> lines = lines_of(read("two/evaluations.csv"));
  // On a logarithmic scale a number goes through its logarithm.
  EXPECT_NEAR(std::stod(lines[1].substr(4)), 0.5, 1e-13);
  EXPECT_TRUE(lines[1].ends_with(",4,plain,0.4,0.4")) << lines[1];
  EXPECT_EQ(lines[2], "0,0,10,1,\"with \"\"quotes\"\"\",,0.4");
  EXPECT_NEAR(std::stod(lines[3].substr(4)), 0.001, 1e-15);
  EXPECT_TRUE(lines[3].ends_with(",0,plain,,0.4")) << lines[3];
}

TEST_F(Bayesian, ATableIsReadToItsEnd) {
  write("t.csv", "a,b,y\nx,1,5\nx,2,6\nz,1,9\nz,2,7\n");
  const Outcome outcome = search("table:t.csv", {"--objective", "y", "--output", "out"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("y 9 (maximised)"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.err.find("every point of the space was evaluated"), std::string::npos);
  const std::vector<std::string> lines = lines_of(read("out/evaluations.csv"));
  EXPECT_EQ(lines[0], "study,batch,a,b,value,best");
  EXPECT_EQ(lines.size(), 5u) << "each row once";
}

TEST_F(Bayesian, ConstraintsAreColumns) {
  const Outcome outcome = search("constrained:gramacy", {"--sweeps", "12", "--output", "out"});
  ASSERT_TRUE(outcome.exit_code == 0) << outcome.err;
  EXPECT_EQ(lines_of(read("out/evaluations.csv"))[0], "study,batch,x[1],x[2],value,g1,g2,best");
  EXPECT_EQ(refusal("x1,x2,value\n0.5,0.5,1\n", "constrained:gramacy"),
            "error[input.parse]: past.csv:1: there is no column 'g1'");
}

TEST_F(Bayesian, WrongFilesAreRefusedWithTheirPlace) {
  const std::string names = "x1,x[2],value\n";
  EXPECT_EQ(refusal(""), "error[input.parse]: past.csv: there is no line with column names");
  EXPECT_EQ(refusal(names), "error[input.parse]: past.csv:1: the file has no evaluations");
  EXPECT_EQ(refusal("x1,value\n1,2\n"),
            "error[input.parse]: past.csv:1: there is no column 'x[2]'");
  EXPECT_EQ(refusal("x1,x2\n1,2\n"), "error[input.parse]: past.csv:1: there is no column 'value'");
  EXPECT_EQ(refusal(names + "1,2,3\n1,2\n"),
            "error[input.parse]: past.csv:3: the line should have 3 values and has 2");
  EXPECT_EQ(refusal(names + "nan,2,3\n"),
            "error[input.parse]: past.csv:2: column 'x[1]': 'nan' is not a number");
  EXPECT_EQ(refusal(names + "1,,3\n"),
            "error[input.parse]: past.csv:2: column 'x[2]': '' is not a number");
  EXPECT_EQ(refusal(names + "1,16,3\n"),
            "error[input.parse]: past.csv:2: column 'x[2]': 16 is outside 0 .. 15");
  EXPECT_EQ(refusal(names + "11,2,3\n"),
            "error[input.parse]: past.csv:2: column 'x[1]': 11 is outside -5 .. 10");
  EXPECT_EQ(refusal(names + "1,2,good\n"),
            "error[input.parse]: past.csv:2: column 'value': 'good' is not a number");
  EXPECT_EQ(refusal("x,n,how,value\n1,2,fast,3\n", command, command_words),
            "error[input.parse]: past.csv:2: column 'how': 'fast' is not a value of this variable");
  EXPECT_EQ(refusal("x,n,how,value\n99,2,plain,3\n", command, command_words),
            "error[input.parse]: past.csv:2: 99 is outside the bounds of the variable 'x'");
  EXPECT_EQ(refusal("x,n,how,value\n1,2.5,plain,3\n", command, command_words),
            "error[input.parse]: past.csv:2: column 'n': 2.5 is not a whole number");
  const Outcome none = search("function:branin", {"--past", "none.csv"});
  EXPECT_NE(none.err.find("none.csv"), std::string::npos);
  EXPECT_NE(none.exit_code, 0);
}

// Three of four rows are known, so that one evaluation is left: that of the row which is not.
TEST_F(Bayesian, PastTakesTheColumnOfTheObjectivesOwnName) {
  write("t.csv", "a,b,yield\nx,1,5\nx,2,6\nz,1,9\nz,2,7\n");
  const auto all_of = [&](const std::string& past, const std::string& folder) {
    write("past.csv", past);
    const Outcome outcome = search("table:t.csv", {"--objective", "yield", "--sweeps", "9",
                                                   "--past", "past.csv", "-o", folder});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return read(folder + "/evaluations.csv");
  };
  const std::string rows = "x,1,5\nx,2,6\nz,2,7\n";
  const std::string own = all_of("a,b,yield\n" + rows, "own");
  EXPECT_EQ(own,
            "study,batch,a,b,value,best\n0,0,x,1,5,5\n0,0,x,2,6,6\n0,0,z,2,7,7\n0,1,z,1,9,9\n");
  EXPECT_EQ(all_of("a,b,value\n" + rows, "value"), own);
  // Of both the objective's own: the other one is what somebody paid.
  EXPECT_EQ(all_of("value,a,b,yield\n80,x,1,5\n90,x,2,6\n10,z,2,7\n", "both"), own);

  write("bad.csv", "a,b,yeld\nx,1,5\n");
  const Outcome bad = search("table:t.csv", {"--objective", "yield", "--past", "bad.csv"});
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_EQ(bad.err.rfind("error[input.parse]: bad.csv:1: there is no column 'yield'\n"
                          "  expected: a, b, yield or value; the file has a, b, yeld\n",
                          0),
            0u)
      << bad.err;
}

TEST_F(Bayesian, PastKnowsWordsThatAreOneNumber) {
  write("t.csv", "x,y\n1,2\n1.0,6\n2,3\n01,7\n");
  const auto past = [&](const std::string& rows, const std::string& folder) {
    write("past.csv", "x,y\n" + rows);
    const Outcome outcome =
        search("table:t.csv", {"--objective", "y", "--categorical", "x", "--sweeps", "4", "--past",
                               "past.csv", "-o", folder});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return read(folder + "/evaluations.csv");
  };
  const std::string text = past("01,7\n1.0,6\n", "own");
  EXPECT_EQ(text.rfind("study,batch,x,value,best\n0,0,01,7,7\n0,0,1.0,6,7\n", 0), 0u) << text;
  // Of one word alone 2.0 is 2.
  const std::string other = past("2.0,3\n", "other");
  EXPECT_EQ(other.rfind("study,batch,x,value,best\n0,0,2,3,3\n", 0), 0u) << other;
  write("past.csv", "x,y\n1.00,6\n");
  EXPECT_EQ(search("table:t.csv", {"--objective", "y", "--categorical", "x", "--past", "past.csv"})
                .exit_code,
            3);
}

// Rows of a file are no work of the run, and a failure among them is not its own.
TEST_F(Bayesian, PastIsCountedBesideTheEvaluationsOfTheRun) {
  write("past.csv", "x1,x2,value\n0.5,1,3\n-1.25,2,\n1,15,-4.5\n");
  const Outcome outcome =
      search("function:branin", {"--sweeps", "4", "--past", "past.csv", "-o", "out"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json diagnostics = json::parse(read("out/result.json"))["diagnostics"];
  EXPECT_EQ(diagnostics["evaluations"], 4);
  EXPECT_EQ(diagnostics["failed_evaluations"], 0);
  EXPECT_EQ(diagnostics["past_evaluations"], 3);
  EXPECT_EQ(outcome.err.find("gave no number"), std::string::npos) << outcome.err;
}

// The oracle is the spread of the values that the run wrote: nothing of them is cut off.
TEST_F(Bayesian, NoiseIsOneNumberInUnitsOfTheValue) {
  const Outcome outcome =
      search("function:branin", {"--sweeps", "12", "-p", "noise=fitted", "-o", "out"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json result = json::parse(read("out/result.json"));
  const double noise = result["diagnostics"]["model_noise"], share = result["model"]["noise"];
  EXPECT_DOUBLE_EQ(noise, share * result["model"]["spread"].get<double>());
  // The last of the 12 was made after the last model, and the first line has names.
  double sum = 0, squares = 0;
  const Words rows = lines_of(read("out/evaluations.csv"));
  for (std::size_t i = 1; i < 12; ++i) {
    const std::string row = rows.at(i).substr(0, rows[i].rfind(','));
    const double value = std::stod(row.substr(row.rfind(',') + 1));
    sum += value;
    squares += value * value;
  }
  const double spread = std::sqrt(squares / 11 - sum / 11 * sum / 11);
  EXPECT_NEAR(result["model"]["spread"], spread, 0.06 * spread) << "by n or by n - 1";
  const std::string shown = fmt::format("{:.6g}", noise);
  EXPECT_NE(outcome.out.find("   noise sd " + shown + ", "), std::string::npos) << outcome.out;
  const std::string told = run({"diagnose", "out"}).out;
  EXPECT_NE(told.find("standard deviation of the noise, in units of the value   " + shown + "\n"),
            std::string::npos)
      << told;
}

TEST_F(Bayesian, PastIsForThisScheduleOnly) {
  write("past.csv", "x1,x2,value\n1,2,3\n");
  const Outcome outcome = run({"solve", "function:branin", "--past", "past.csv", "--sweeps", "1"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err.substr(0, outcome.err.find('\n')),
            "error[cli.conflict]: --past is for schedule bayesian-optimization, but the "
            "schedule is simulated-annealing");
}

}  // namespace
}  // namespace kiln::test::bayesian_test
