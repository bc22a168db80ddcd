// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Names that people try: aliases of schedules, the limits of other programs, files of other kinds.
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "program.hpp"

namespace kiln::test::names_test {
namespace {

using nlohmann::json;
using Names = ProgramTest;

TEST_F(Names, AliasesOfSchedulesAreUnderstood) {
  Outcome outcome = run(short_run({"--schedule", "pt", "--json", "-o", "out"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["schedule"]["name"], "parallel-tempering");
  EXPECT_EQ(json::parse(read("out/run.json"))["options"]["schedule"]["value"], "parallel-tempering")
      << "a run is recorded by the name";
  outcome = run({"describe", "bo"});
  EXPECT_EQ(outcome.out.rfind("bayesian-optimization: a schedule", 0), 0u) << outcome.out;
  EXPECT_NE(outcome.out.find("also called:\n  bo, bayesian\n"), std::string::npos);
  EXPECT_EQ(json::parse(run({"describe", "schedule", "sa", "--json"}).out)["name"],
            "simulated-annealing");
  EXPECT_EQ(run({"describe", "re"}).out.rfind("re: a family", 0), 0u);
}

// The numbers of RE33's box are those that its authors publish.
TEST_F(Names, DescribeTellsObjectivesAndVariablesOfAProblem) {
  const std::string text = run({"describe", "re:33"}).out;
  for (const char* line :
       {"  mass [kg]           minimised   box -0.721525 .. 5.3067\n",
        "  stopping time [s]   minimised   box 1.13907 .. 3.12833\n",
        "  violation           minimised   box 0 .. 25\n",
        "  inner radius [mm]    real   55 .. 80\n", "  engaging force [N]   real   1000 .. 3000\n",
        "  friction surfaces    real   11 .. 20\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
  const json brake = json::parse(run({"describe", "problem", "re:33", "--json"}).out);
  EXPECT_EQ(brake["objectives"][1]["name"], "stopping time");
  EXPECT_EQ(brake["objectives"][1]["unit"], "s");
  EXPECT_EQ(brake["objectives"][2]["unit"], nullptr);
  EXPECT_EQ(brake["variables"].size(), 4u);
  EXPECT_EQ(brake["variables"][2], (json{{"name", "engaging force"},
                                         {"unit", "N"},
                                         {"kind", "real"},
                                         {"lower", 1000.0},
                                         {"upper", 3000.0},
                                         {"count", 1}}));
  EXPECT_NE(run({"describe", "zdt:4"}).out.find("  x[2] .. x[10]   real   -5 .. 5\n"),
            std::string::npos);
  EXPECT_EQ(run({"describe", "re:26"}).exit_code, 2);
  EXPECT_EQ(run({"describe", "schedule", "re:33"}).exit_code, 2);
}

TEST_F(Names, LimitsOfOtherSchedulesWorkOrNameTheirOwn) {
  Outcome outcome = run({"solve", "function:branin", "--schedule", "bo", "--evaluations", "7",
                         "--device", "cpu", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["schedule"]["parameters"]["evaluations"], "7");
  // Beside a target that is never reached, and beside a longer time.
  outcome = run({"solve", "zdt:1", "--generations", "3", "--target", "9", "--json", "-q"});
  EXPECT_EQ(outcome.exit_code, 10) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["work"]["sweeps"], 3);
  outcome = run({"solve", "zdt:1", "--generations", "3", "--time-limit", "1h", "--json", "-q"});
  EXPECT_EQ(json::parse(outcome.out)["work"]["sweeps"], 3);

  outcome = run({"solve", "zdt:1", "--generations", "3", "--schedule", "evolution", "--replicas",
                 "100", "--device", "cpu", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["work"]["sweeps"], 3);
  outcome = run({"solve", "torus:4x4,1", "--evaluations", "7", "--schedule", "sa"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(
      outcome.err.find("'evaluations' is a parameter of bayesian-front, bayesian-optimization"),
      std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("fix: --sweeps N"), std::string::npos) << outcome.err;
  outcome = run({"solve", "zdt:1", "--evaluations", "7", "--schedule", "evolutionary"});
  EXPECT_NE(outcome.err.find("fix: --generations N"), std::string::npos) << outcome.err;
}

// Only what is computed anew was recomputed.
TEST_F(Names, ValuesOfProgramsAndTablesAreNotCalledRecomputed) {
  write("count.sh", "echo x >> calls\necho $1\n");
  write("t.csv", "a,y\n1,5\n2,6\n3,9\n");
  const auto line_of = [&](const std::vector<std::string>& words) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out.substr(0, outcome.out.find('\n'));
  };
  const std::string program = line_of({"solve", "command:sh count.sh {n}", "--var", "n=int:0:7",
                                       "--device", "cpu", "-p", "evaluations=3"});
  EXPECT_EQ(read("calls"), "x\nx\nx\n") << "the best one was not called again";
  EXPECT_TRUE(program.ends_with("   printed by the program; not recomputed")) << program;
  const std::string table =
      line_of({"solve", "table:t.csv", "--objective", "y", "--device", "cpu"});
  EXPECT_TRUE(table.ends_with("   value from the row of the table")) << table;
  const std::string function = line_of(
      {"solve", "function:branin", "--device", "cpu", "--schedule", "bo", "--evaluations", "8"});
  EXPECT_TRUE(function.ends_with("   recomputed on the CPU in double precision: equal"))
      << function;
}

TEST_F(Names, VersionIsAVerbToo) {
  EXPECT_EQ(run({"version"}).out, run({"--version"}).out);
  EXPECT_EQ(json::parse(run({"version", "--json"}).out)["result"], "kiln.result/2");
}

TEST_F(Names, FilesOfOtherKindsSayWhatToDo) {
  write("t.csv", "lr,depth,loss\n0.1,2,3\n0.2,3,1\n");
  Outcome outcome = run({"solve", "t.csv"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.err.find("fix: if the file is a table of measurements: kiln solve table:t.csv "
                             "--objective loss (columns: lr, depth, loss)"),
            std::string::npos)
      << outcome.err;
  write("a.tsp", "NAME : a\n");
  EXPECT_NE(run({"solve", "a.tsp"}).err.find("fix: Kiln does not read tours (TSPLIB) yet"),
            std::string::npos);
  outcome = run({"solve", "tsp:berlin52"});
  EXPECT_EQ(outcome.err.find("nearest"), std::string::npos) << outcome.err;
}

TEST_F(Names, MatricesAreRead) {
  // Least of the 16 values of x'Qx: x = (0, 1, 1, 1) gives -3 -8 -6 + 2 (1 + 5) = -5; (0, 1, 1, 0)
  // gives -9, (1, 0, 0, 1) gives -11, (0, 0, 1, 0) -8.
  write("q.txt", "-5 2 4 0\n2 -3 1 0\n4 1 -8 5\n0 0 5 -6\n");
  Outcome outcome =
      run({"solve", "q.txt", "--sweeps", "50", "--replicas", "32", "--device", "cpu", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["objective"]["best"], -11);
  outcome = run({"check", "q.txt"});
  EXPECT_NE(outcome.out.find("dense"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("Q_ij + Q_ji"), std::string::npos) << outcome.out;
  write("j.csv", "0,1\n1,0\n");
  outcome = run({"solve", "j.csv", "--vartype", "spin", "--sweeps", "50", "--replicas", "32",
                 "--device", "cpu", "--json"});
  EXPECT_EQ(json::parse(outcome.out)["objective"]["best"], -2) << outcome.err;
}

TEST_F(Names, ColumnsAndCountsAreCalledWhatTheyAre) {
  Outcome outcome = run({"solve", "zdt:1", "--schedule", "sa", "--sweeps", "20"});
  EXPECT_NE(outcome.err.find(" min weighed "), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("min value"), std::string::npos) << outcome.err;

  outcome = run({"solve", "zdt:1", "--schedule", "bayesian-front", "-p", "batch=2", "--evaluations",
                 "8", "--time-limit", "1h"});
  EXPECT_NE(
      outcome.err.find("\nstop         after 8 evaluations (4 batches of 2) or after 3600 s\n"),
      std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("time evaluations max hypervolume"), std::string::npos) << outcome.err;
  EXPECT_TRUE(std::regex_search(outcome.err, std::regex("s {11}8 "))) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("done   evaluation limit ")) << outcome.out;

  outcome = run({"solve", "posterior:eight-schools", "-p", "draws=20"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("\n  fix: use kiln sample posterior:eight-schools "),
            std::string::npos)
      << outcome.err;

  outcome = run(
      {"solve", "function:branin", "--schedule", "bo", "--evaluations", "3", "-p", "initial=5"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("use -p initial=3, or --evaluations 5\n"), std::string::npos)
      << outcome.err;

  EXPECT_NE(run({"describe", "knapsack"}).out.find("generated from SEED"), std::string::npos);
}

}  // namespace
}  // namespace kiln::test::names_test
