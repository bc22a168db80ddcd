// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Portfolios and assignments from a table to an answer.
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace kiln::test::choices_test {
namespace {

using nlohmann::json;
using Choices = ProgramTest;

// Of two assets that hedge each other, and one that earns as much alone with more risk.
const std::string returns =
    "month,up,down,wild\n2020-01,3,1,8\n2020-02,1,3,-4\n2020-03,3,1,8\n2020-04,1,3,-4\n";

// The cheapest cells of the rows are in different columns but for one: 2 + 1 + 3 = 6 is the least
// cost.
const std::string costs = ",paint,sweep,wash\nann,2,9,9\nbob,9,9,1\neve,9,3,2\n";

TEST_F(Choices, AssetsAreChosenByName) {
  write("r.csv", returns);
  Outcome outcome =
      run(solve("portfolio:r.csv", {"--pick", "2", "--risk", "5", "--sweeps", "300"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("value -2 (minimised)   feasible   recomputed on the CPU in double"),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("with   assets = up, down\nwith   chosen = 2 of 3\n"
                             "with   mean return = 2\nwith   variance = 0\n"
                             "with   standard deviation = 0\n"),
            std::string::npos)
      << outcome.out;

  outcome = run(solve("portfolio:r.csv", {"--pick", "2", "--risk", "5", "--sweeps", "300", "--json",
                                          "--ignore", "wild", "-o", "out"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["problem"]["family"], "portfolio");
  EXPECT_EQ(result["named_solution"]["chosen"], "2 of 2");
  EXPECT_EQ(result["constraints"]["feasible"], true);
  EXPECT_EQ(read("out/solution.txt"), "1  # up\n1  # down\n");

  outcome = run({"solve", "--repeat", "out", "--initial", "out/solution.txt", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["objective"]["best"], result["objective"]["best"]);
  outcome = run({"solve", "--repeat", "out", "--pick", "1", "--risk", "5"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err,
            "error[repeat.changed]: portfolio:r.csv: these options make another problem than that "
            "of the recorded run: --pick=1, which was 2\n"
            "  fix: remove them, or name the problem on the command line to repeat only the "
            "options\n");
  outcome = run({"solve", "--repeat", "out", "--ignore", "up"});
  EXPECT_NE(outcome.err.find(": --ignore=up, which was wild\n"), std::string::npos) << outcome.err;
  outcome = run({"solve", "portfolio:r.csv", "--repeat", "out", "--pick", "1", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  write("r.csv", returns + "2020-05,1,1,1\n");
  EXPECT_EQ(first_line(run({"solve", "--repeat", "out"})).substr(0, 21), "error[repeat.changed]");
}

TEST_F(Choices, TasksAreAssignedByName) {
  write("c.csv", costs);
  Outcome outcome = run(solve("assignment:c.csv", {"--sweeps", "2000"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("cost 6 (minimised)   feasible   recomputed on the CPU in integers"),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("with   ann = paint\nwith   bob = wash\nwith   eve = sweep\n"),
            std::string::npos)
      << outcome.out;

  outcome = run(solve("assignment:c.csv", {"--sweeps", "2000", "--maximize", "-o", "out"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("cost 27 (maximised)   feasible"), std::string::npos) << outcome.out;
  EXPECT_NE(read("out/solution.txt").find("1  # ann = "), std::string::npos);
}

// The table of distances is that of a line of three places; 0 - 1 and 1 - 2 have the flows.
TEST_F(Choices, FacilitiesArePlaced) {
  write("d.csv", ",a,b,c\na,0,1,2\nb,1,0,1\nc,2,1,0\n");
  write("f.csv", "0 0 5\n0 0 5\n5 5 0\n");
  const Outcome outcome =
      run(solve("assignment:d.csv", {"--flows", "f.csv", "--sweeps", "2000", "--json"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["objective"]["best"], 20);
  EXPECT_EQ(result["named_solution"]["facility 3"], "b");
}

TEST_F(Choices, AStateThatViolatesAConstraintIsNoAnswer) {
  std::string rows;
  for (int i = 0; i < 12; ++i) {
    for (int j = 0; j < 12; ++j) rows += std::to_string((i * j) % 7) + (j < 11 ? "," : "\n");
  }
  write("c.csv", rows);
  const Outcome outcome = run(solve(
      "assignment:c.csv", {"--schedule", "random-search", "--sweeps", "1", "--replicas", "1"}));
  EXPECT_EQ(outcome.exit_code, 9) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(
      outcome.err.find("error[result.infeasible]: assignment:c.csv: the run found no feasible "
                       "state; the best state exceeds the constraints by "),
      std::string::npos)
      << outcome.err;
}

TEST_F(Choices, AnUnknownColumnIsToldWithTheOptionThatNamesIt) {
  write("r.csv", returns);
  const Outcome outcome =
      run({"solve", "portfolio:r.csv", "--pick", "1", "--ignore", "Wild", "--device", "cpu"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err,
            "error[table.column]: r.csv has no column 'Wild'; the nearest is 'wild'\n"
            "  available: month, up, down, wild, or a number from 1 to 4\n"
            "  fix: --ignore wild\n");
}

TEST_F(Choices, BadInputIsToldWithItsPlace) {
  write("r.csv", returns);
  write("text.csv", "a,b\n1,2\n3,x\n");
  write("nan.csv", "a,b\n1,nan\n3,4\n");
  write("one.csv", "a\n1\n2\n");
  write("gaps.csv", "month,A01,A02\nm1,0.01,0.02\nm2,NA,0.03\n");
  write("empty.csv", "");
  write("twice.csv", "a,a\n1,2\n3,4\n");
  write("wide.csv", "1,2\n3,4\n5,6\n");
  const auto error_of = [&](std::vector<std::string> words, int code) {
    words.insert(words.begin(), "solve");
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, code) << outcome.err;
    return first_line(outcome);
  };
  EXPECT_EQ(error_of({"portfolio:text.csv", "--pick", "1"}, 3),
            "error[input.parse]: text.csv:3:3: row 2, column 'b': 'x' is not a number");
  EXPECT_EQ(error_of({"portfolio:nan.csv", "--pick", "1"}, 3),
            "error[input.parse]: nan.csv:2:3: row 1, column 'b': 'nan' stands for a value that is "
            "missing");
  EXPECT_EQ(error_of({"portfolio:gaps.csv", "--pick", "1"}, 3),
            "error[input.parse]: gaps.csv:3:4: row 'm2', column 'A01': 'NA' stands for a value "
            "that is missing");
  EXPECT_EQ(error_of({"portfolio:empty.csv", "--pick", "1"}, 3),
            "error[input.parse]: empty.csv: the table has no rows");
  EXPECT_EQ(error_of({"portfolio:twice.csv", "--pick", "1"}, 3),
            "error[input.parse]: twice.csv:1:3: two columns are named 'a'");
  EXPECT_EQ(error_of({"portfolio:one.csv", "--pick", "1"}, 2),
            "error[problem.size]: the table has 1 asset");
  EXPECT_EQ(error_of({"portfolio:r.csv", "--pick", "4"}, 2),
            "error[problem.size]: the number of assets to pick is 4, and the table has 3 assets");
  EXPECT_EQ(error_of({"portfolio:r.csv", "--pick", "2", "--risk", "-1"}, 2),
            "error[problem.value]: the risk aversion is -1");
  EXPECT_EQ(error_of({"portfolio:r.csv"}, 2),
            "error[problem.parameters]: 'portfolio:r.csv' does not say how many assets are picked");
  EXPECT_EQ(error_of({"portfolio:r.csv", "--pick", "2", "--maximize"}, 2).substr(0, 21),
            "error[problem.sense]:");
  EXPECT_EQ(error_of({"portfolio:none.csv", "--pick", "1"}, 3).substr(0, 18), "error[input.open]:");
  EXPECT_EQ(error_of({"assignment:wide.csv"}, 2),
            "error[problem.size]: 3 rows (workers) and 2 columns (tasks)");
  EXPECT_EQ(error_of({"assignment:wide.csv", "--flows", "wide.csv"}, 3),
            "error[input.parse]: wide.csv: the table has 3 rows and 2 columns of numbers");
  EXPECT_EQ(error_of({"assignment:r.csv", "--pick", "2"}, 2),
            "error[cli.conflict]: --pick is an option of portfolio:, and not of assignment:r.csv");
}

TEST_F(Choices, AreListedAndDescribed) {
  const std::string list = run({"list", "problems"}).out;
  EXPECT_NE(list.find("assignment:FILE"), std::string::npos);
  EXPECT_NE(list.find("portfolio:FILE"), std::string::npos);
  EXPECT_NE(run({"describe", "portfolio"}).out.find("--pick"), std::string::npos);
  EXPECT_NE(run({"describe", "assignment"}).out.find("--flows"), std::string::npos);
}

}  // namespace
}  // namespace kiln::test::choices_test
