// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Graph colouring and Potts models, from a file to an answer.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "program.hpp"

namespace kiln::test::coloring_test {
namespace {

using nlohmann::json;
using ColoringProgram = ProgramTest;

// The Petersen graph: 3 colours are enough, 2 are not.
const std::string petersen =
    "c Petersen\np edge 10 30\n"
    "e 1 2\ne 2 3\ne 3 4\ne 4 5\ne 5 1\ne 1 6\ne 2 7\ne 3 8\ne 4 9\ne 5 10\n"
    "e 6 8\ne 8 10\ne 10 7\ne 7 9\ne 9 6\n"
    "e 2 1\ne 3 2\ne 4 3\ne 5 4\ne 1 5\ne 6 1\ne 7 2\ne 8 3\ne 9 4\ne 10 5\n"
    "e 8 6\ne 10 8\ne 7 10\ne 9 7\ne 6 9\n";

std::vector<std::string> solve(std::vector<std::string> more) {
  std::vector<std::string> words{"solve", "--device", "cpu", "--sweeps", "2000", "--target", "0"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Reads a solution and counts every edge of the graph again.
std::vector<int> coloring_of_petersen(const std::string& solution) {
  std::istringstream lines(solution);
  std::vector<int> colors{std::istream_iterator<int>(lines), {}};
  if (colors.size() != 10) return colors;
  std::istringstream edges(petersen.substr(petersen.find("e 1 2")));
  std::string e;
  std::size_t u = 0, v = 0;
  while (edges >> e >> u >> v) EXPECT_NE(colors[u - 1], colors[v - 1]) << u << " " << v;
  return colors;
}

TEST_F(ColoringProgram, FindsAProperColoringAndWritesIt) {
  write("petersen.col", petersen);

  const Outcome outcome = run(solve({"petersen.col", "--colors", "3", "--json", "-o", "run"}));

  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["problem"]["family"], "coloring");
  EXPECT_EQ(result["stop"], "target_reached");
  EXPECT_EQ(result["objective"]["best"], 0);
  EXPECT_EQ(result["objective"]["sense"], "minimize");
  EXPECT_EQ(result["verified"], true);
  const std::vector<int> colors = coloring_of_petersen(read("run/solution.txt"));
  ASSERT_EQ(colors.size(), 10u);
}

// Fewer conflicts than none are impossible: nobody has to say so by a target.
TEST_F(ColoringProgram, EndsAtAProperColoringOfItself) {
  write("petersen.col", petersen);
  for (const char* colors : {"3", "127", "300"}) {
    for (const char* schedule : {"sa", "pt", "population-annealing", "tabu-coloring"}) {
      SCOPED_TRACE(std::string(colors) + " colours, " + schedule);
      Call call{{"solve", "petersen.col", "--colors", colors, "--schedule", schedule, "--device",
                 "cpu", "--sweeps", "5000000", "--json"}};

      const Outcome outcome = run(call);

      ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
      const json result = json::parse(outcome.out);
      EXPECT_EQ(result["stop"], "converged");
      EXPECT_EQ(result["objective"]["best"], 0);
      EXPECT_TRUE(result["objective"]["target"].is_null());
      EXPECT_EQ(result["diagnostics"]["lower_bound"], 0);
      EXPECT_LT(result["work"]["sweeps"], 5000000);
      EXPECT_EQ(outcome.err.find("advice"), std::string::npos) << outcome.err;
    }
  }
  const Outcome said = run({"solve", "petersen.col", "--colors", "3", "--time-limit", "100s"});
  EXPECT_EQ(said.out.find("done   proper colouring found after "), 0u) << said.out;
  const Outcome fewest = run({"solve", "coloring:queen5,min", "--time-limit", "100s"});
  EXPECT_EQ(fewest.out.find("done   optimum found after "), 0u) << fewest.out;
}

TEST_F(ColoringProgram, GoesOnWhereNoColoringIsProper) {
  write("petersen.col", petersen);
  const Outcome outcome = run({"solve", "petersen.col", "--colors", "2", "--sweeps", "300"});
  EXPECT_EQ(outcome.out.find("done   sweep limit after "), 0u) << outcome.out;
  const Outcome turned =
      run({"solve", "petersen.col", "--colors", "2", "--maximize", "--sweeps", "300", "--json"});
  const json result = json::parse(turned.out);
  EXPECT_EQ(result["objective"]["best"], 15) << "all edges join equal colours";
  EXPECT_EQ(result["stop"], "sweep_limit") << "the bound is one of the other sense";
}

TEST_F(ColoringProgram, CountsEachConflictOnce) {
  write("petersen.col", petersen);

  const Outcome outcome = run(solve({"petersen.col", "--colors", "2", "--json"}));

  // The largest cut of the Petersen graph has 12 of its 15 edges.
  EXPECT_EQ(json::parse(outcome.out)["objective"]["best"], 3);
}

TEST_F(ColoringProgram, SameSeedGivesTheSameAnswerForAnyNumberOfThreads) {
  const auto answer = [&](const char* threads) {
    const Outcome outcome = run(Call{{"solve", "coloring:queen6,6", "--device", "cpu", "--sweeps",
                                      "50", "--threads", threads, "--json"}});
    const json result = json::parse(outcome.out);
    return std::pair(result["solution"], result["work"]["accepted"]);
  };

  EXPECT_EQ(answer("1"), answer("2"));
}

TEST_F(ColoringProgram, NeedsANumberOfColors) {
  write("g.col", petersen);

  const Outcome outcome = run(solve({"g.col"}));

  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("error[problem.colors]: g.col: the number of colours is missing"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("\n  2 .. 65535 colours, or min\n"), std::string::npos);
  EXPECT_NE(outcome.err.find("--colors min"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("the number of colours of a greedy colouring is 3: --colors 3"),
            std::string::npos)
      << outcome.err;
}

TEST_F(ColoringProgram, SaysWhichNumbersOfColorsThereAre) {
  write("g.col", petersen);
  for (const char* bad : {"1", "65536", "-2"}) {
    const Outcome outcome = run(solve({"g.col", std::string("--colors=") + bad}));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find("is outside 2 .. 65535"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("--colors min"), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(run(solve({"g.col", "--colors", "most"})).exit_code, 2);
}

std::vector<std::string> fewest(std::vector<std::string> more) {
  std::vector<std::string> words{"solve", "--device", "cpu", "--colors", "min"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// The Petersen graph has no triangle, so that no clique shows that 2 colours are too few.
TEST_F(ColoringProgram, EndsAtABoundThatIsAboveTheTarget) {
  write("k3.col", "p edge 3 3\ne 1 2\ne 2 3\ne 1 3\n");
  for (const char* target : {"", "2", "3"}) {
    Call call{fewest({"k3.col", "--json", "-q"})};
    if (*target != 0) call.words.insert(call.words.end(), {"--target", target});
    const Outcome outcome = run(call);
    EXPECT_EQ(outcome.exit_code, *target == '2' ? 10 : 0) << target << outcome.err;
    const json result = json::parse(outcome.out);
    EXPECT_EQ(result["objective"]["best"], 3);
    EXPECT_EQ(result["stop"], *target == '3' ? "target_reached" : "converged") << target;
  }
}

TEST_F(ColoringProgram, NoScheduleEndsAboveTheGreedyColoring) {
  const json greedy =
      json::parse(run({"solve", "coloring:60,50,min,1", "--json", "-q", "--sweeps", "1"}).out);
  const Outcome outcome =
      run({"solve", "coloring:60,50,min,1", "--schedule", "sa", "--sweeps", "4", "--json", "-q"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_LE(json::parse(outcome.out)["objective"]["best"], greedy["diagnostics"]["greedy"]);
}

TEST_F(ColoringProgram, HasNoMostColors) {
  write("petersen.col", petersen);
  for (const std::string problem : {"petersen.col", "coloring:myciel3,min"}) {
    Call call{{"solve", problem, "--maximize", "--sweeps", "5"}};
    if (problem.ends_with(".col")) call.words.insert(call.words.end(), {"--colors", "min"});
    const Outcome outcome = run(call);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find("error[problem.sense]"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("cannot maximise the number of colours"), std::string::npos)
        << outcome.err;
  }
  const Outcome many = run(
      {"solve", "petersen.col", "--colors", "300", "--maximize", "--sweeps", "5", "--json", "-q"});
  EXPECT_EQ(many.exit_code, 0) << many.err;
  EXPECT_EQ(json::parse(many.out)["schedule"]["name"], "simulated-annealing");
}

TEST_F(ColoringProgram, FindsTheFewestColorsAndSaysWhatItDoesNotKnow) {
  write("petersen.col", petersen);

  const Outcome outcome =
      run(Call{fewest({"petersen.col", "--sweeps", "200", "--json", "-o", "run"})});

  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["schedule"]["name"], "tabu-coloring");
  EXPECT_EQ(result["objective"]["best"], 3);
  EXPECT_EQ(result["verified"], true);
  EXPECT_EQ(result["diagnostics"]["lower_bound"], 2);
  EXPECT_TRUE(result["objective"]["target"].is_null()) << "a bound is nobody's target";
  EXPECT_EQ(result["diagnostics"]["colors_tried"], 2);
  EXPECT_NE(outcome.err.find("the run found no colouring with fewer colours, but"),
            std::string::npos)
      << outcome.err;
  const std::vector<int> colors = coloring_of_petersen(read("run/solution.txt"));
  ASSERT_EQ(colors.size(), 10u);
  EXPECT_EQ(*std::ranges::max_element(colors), 2);
}

// Nobody looked for fewer colours than the target.
TEST_F(ColoringProgram, SaysNothingOfFewerColorsThanTheTarget) {
  write("petersen.col", petersen);
  for (const auto& [target, not_found] : {std::pair{"3", false}, std::pair{"2", true}}) {
    const Outcome outcome =
        run(Call{fewest({"petersen.col", "--sweeps", "200", "--target", target, "--json"})});
    const json result = json::parse(outcome.out);
    EXPECT_EQ(result["stop"], not_found ? "sweep_limit" : "target_reached");
    EXPECT_EQ(result["objective"]["best"], 3);
    const std::string advice = result["advice"].dump();
    EXPECT_EQ(advice.find("found no colouring with fewer colours") != std::string::npos, not_found)
        << advice;
    EXPECT_NE(advice.find("fewer than 2 colours are impossible"), std::string::npos) << advice;
  }
}

TEST_F(ColoringProgram, EndsWhereACliqueProvesThatThereAreNoFewer) {
  write("g.col", "p edge 4 4\ne 1 2\ne 2 3\ne 1 3\ne 3 4\n");

  const Outcome outcome = run(Call{fewest({"g.col", "--json"})});  // in no way ten seconds

  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["stop"], "converged");
  EXPECT_EQ(result["objective"]["best"], 3);
  EXPECT_NE(outcome.err.find("fewer colours are impossible: 3 vertices"), std::string::npos)
      << outcome.err;
}

TEST_F(ColoringProgram, KeepsItsLimitForTheFewestColors) {
  const Outcome outcome =
      run(Call{{"solve", "coloring:queen9,min", "--device", "cpu", "--dry-run", "--json"}});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["options"]["time-limit"]["value"], "10s");
}

TEST_F(ColoringProgram, TheFewestColorsDoNotDependOnThreads) {
  const auto answer = [&](const char* threads) {
    const Outcome outcome = run(Call{{"solve", "coloring:90,50,min,1", "--device", "cpu",
                                      "--sweeps", "40", "--threads", threads, "--json"}});
    const json result = json::parse(outcome.out);
    return std::pair(result["solution"], result["work"]["accepted"]);
  };

  EXPECT_EQ(answer("1"), answer("2"));
}

TEST_F(ColoringProgram, RefusesColorsWhereNothingIsColored) {
  EXPECT_EQ(run(solve({"gset:G1", "--colors", "3"})).exit_code, 2);
  EXPECT_EQ(run(solve({"coloring:queen6,6", "--colors", "3"})).exit_code, 2);
  write("g.txt", "2 1\n1 2\n");
  const Outcome outcome = run(solve({"g.txt", "--colors", "3"}));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("error[cli.conflict]: --colors is for col files, and "),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(run(solve({"g.txt", "--colors", "min"})).exit_code, 2);
}

TEST_F(ColoringProgram, CheckSaysWhatIsInAFile) {
  write("g.col", "p edge 3 9\ne 1 2\ne 2 1\ne 3 3\n");

  const Outcome outcome = run(std::vector<std::string>{"check", "g.col"});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("coloring"), std::string::npos);
  EXPECT_NE(outcome.out.find("number of repeated edges that Kiln left out: 1"), std::string::npos);
  EXPECT_NE(outcome.out.find("number of edges from a vertex to itself that Kiln left out: 1"),
            std::string::npos);
  EXPECT_NE(outcome.out.find("the header counts 9 edges, but the file has 3 edge lines"),
            std::string::npos)
      << outcome.out;
}

TEST_F(ColoringProgram, BadFileIsCodeThreeWithItsPlace) {
  write("g.col", "p edge 3 1\ne 1 4\n");

  const Outcome outcome = run(solve({"g.col", "--colors", "3"}));

  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err,
            "error[input.parse]: g.col:2:5: vertex '4' is outside 1 .. 3\n"
            "  expected: e <vertex> <vertex>, vertices counted from 1\n"
            "  fix: correct line 2\n");
}

// Three different values pay nothing for couplings, and variable 0 gains 1.5 from value 2.
TEST_F(ColoringProgram, SolvesAPottsModelWithRealFields) {
  write("m.potts", "p potts 3 3 1 3\nh 0 2 -1.5\n0 1 1\n0 2 1\n1 2 1\n");

  const json result = json::parse(
      run(Call{{"solve", "m.potts", "--device", "cpu", "--sweeps", "200", "--json"}}).out);

  EXPECT_EQ(result["objective"]["best"], -1.5);
  EXPECT_EQ(result["verified"], true);
  EXPECT_EQ(result["solution"][0], 2);
}

TEST_F(ColoringProgram, GeneratedFilesReadBack) {
  ASSERT_EQ(run(std::vector<std::string>{"generate", "coloring:queen5,5", "-o", "q.col"}).exit_code,
            0);
  ASSERT_EQ(run(std::vector<std::string>{"generate", "potts:4x4,3,1", "-o", "t.potts"}).exit_code,
            0);

  const Outcome outcome = run(solve({"q.col", "--colors", "5", "--json"}));

  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["objective"]["best"], 0);
  EXPECT_EQ(run(std::vector<std::string>{"check", "t.potts"}).exit_code, 0);
}

// The first line of the table of progress.
std::string heading_of(const Outcome& outcome) {
  std::istringstream lines(outcome.err);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("sweeps ") != std::string::npos && line.find("time") != std::string::npos)
      return line;
  }
  return {};
}

// A search without temperatures has none to show.
TEST_F(ColoringProgram, ShowsColorsAndConflictsInsteadOfTemperatures) {
  const Outcome outcome =
      run({"solve", "coloring:90,50,min,1", "--device", "cpu", "--sweeps", "40"});
  EXPECT_EQ(heading_of(outcome),
            "    time  sweeps   min colours     tried conflicts moves/s   left");
  const Outcome annealed =
      run({"solve", "coloring:queen5,5", "--schedule", "sa", "--device", "cpu", "--sweeps", "40"});
  EXPECT_EQ(heading_of(annealed),
            "    time  sweeps min conflicts      mean accept%    beta moves/s   left");
}

// Of 127 colours there are tables of Boltzmann factors, of more there are none.
TEST_F(ColoringProgram, RefusesAHeatBathOfManyColorsBeforeItBegins) {
  for (const char* schedule : {"simulated-annealing", "replica-exchange"}) {
    const Call call{{"solve", "coloring:40,50,128,1", "--schedule", schedule, "-p",
                     "moves=heat-bath", "--device", "cpu", "--sweeps", "5", "-o", "run"}};
    const Outcome outcome = run(call);
    EXPECT_EQ(outcome.exit_code, 2) << schedule;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err.find("error[run.heat_bath]"), 0u) << outcome.err;
    EXPECT_NE(outcome.err.find("at most 127 values"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("fix: run with moves=metropolis"), std::string::npos);
    EXPECT_FALSE(exists("run/run.json"));
  }
  Call planned{{"solve", "coloring:40,50,128,1", "--schedule", "sa", "-p", "moves=heat-bath",
                "--device", "cpu", "--sweeps", "5", "--dry-run"}};
  EXPECT_EQ(run(planned).exit_code, 2);
  planned.words[1] = "coloring:40,50,127,1";
  EXPECT_EQ(run(planned).exit_code, 0);
}

}  // namespace
}  // namespace kiln::test::coloring_test
