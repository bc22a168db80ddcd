// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Problems of several objectives on the command line: fronts, their files, and what is refused.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "program.hpp"

namespace kiln::test::front_test {
namespace {

using nlohmann::json;
using Front = ProgramTest;

TEST_F(Front, SeveralObjectivesChooseTheirScheduleAndEndByThemselves) {
  const json result = result_of(run(solve("zdt:1", {"--json", "--quiet"})));

  EXPECT_EQ(result["schedule"]["name"], "evolutionary");
  EXPECT_EQ(result["stop"], "converged");
  EXPECT_EQ(result["work"]["sweeps"], 250);
  EXPECT_EQ(result["verified"], true);
  EXPECT_EQ(result["objective"]["sense"], "maximize");
  const json& front = result["front"];
  EXPECT_EQ(front["objectives"], (json{"f1", "f2"}));
  EXPECT_EQ(front["points"].size(), front["solutions"].size());
  EXPECT_GT(front["points"].size(), 90u);
  EXPECT_EQ(front["solutions"][0].size(), 30u);
  EXPECT_EQ(front["hypervolume"], result["objective"]["best"]);
  EXPECT_GT(front["hypervolume"].get<double>(), 0.865);
  EXPECT_LT(front["hypervolume"].get<double>(), 0.8767);  // of the whole true front
  EXPECT_LT(result["diagnostics"]["igd"].get<double>(), 0.01);
  EXPECT_EQ(result["diagnostics"]["evaluations"], 25100);
}

TEST_F(Front, AFolderHasTheFrontAsATableAndAsAPicture) {
  const Outcome outcome = run(solve("re:24", {"--sweeps", "20", "-o", "run"}));

  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("hypervolume"), std::string::npos);
  EXPECT_NE(outcome.out.find("\n  knee "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\n  least weight "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.err.find("generations"), std::string::npos) << outcome.err;
  std::istringstream table(read("run/front.csv"));
  std::string line;
  std::getline(table, line);
  EXPECT_EQ(line, "weight,violation,flange thickness,beam height");
  const json front = json::parse(read("run/result.json"))["front"];
  std::size_t rows = 0;
  for (; std::getline(table, line); ++rows) EXPECT_EQ(std::ranges::count(line, ','), 3) << line;
  EXPECT_EQ(rows, front["points"].size());
  EXPECT_EQ(read("run/front.svg").rfind("<svg", 0), 0u);
  EXPECT_TRUE(exists("run/solution.txt"));
}

std::vector<std::string> lines_from(const std::string& text, const std::string& begin) {
  std::vector<std::string> lines;
  std::istringstream in(text.substr(text.find("\n" + begin) + 1));
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Names have digits and blanks of their own.
TEST_F(Front, ValuesStandApartFromNamesInColumns) {
  const Outcome cars = run(solve("re:33", {"--sweeps", "20"}));
  const Outcome loads = run(solve("knapsack:30,2,1", {"--sweeps", "20"}));
  for (const auto& [out, names, labels] :
       {std::tuple{cars.out, std::vector<std::string>{"mass", "stopping time", "violation"},
                   std::vector<std::string>{"knee", "least mass", "least stopping time",
                                            "least violation", "reference"}},
        {loads.out,
         {"profit 1", "profit 2"},
         {"knee", "greatest profit 1", "greatest profit 2", "reference"}}}) {
    const std::vector<std::string> lines = lines_from(out, "front  ");
    ASSERT_GT(lines.size(), labels.size()) << out;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const std::string& line = lines[i + 1];
      EXPECT_TRUE(line.starts_with("  " + labels[i] + "   ")) << line;
      for (const std::string& name : names) {
        const std::size_t at = line.find("   " + name + " = ");
        ASSERT_NE(at, std::string::npos) << line;
        EXPECT_EQ(at, lines[1].find("   " + name + " = ")) << line;
        EXPECT_NO_THROW(std::stod(line.substr(at + name.size() + 6))) << line;
      }
    }
  }
}

TEST_F(Front, MaximisedObjectivesAreShownAsUsersReadThem) {
  const json result =
      result_of(run(solve("knapsack:30,2,1", {"--sweeps", "50", "--json", "--quiet"})));

  EXPECT_EQ(result["front"]["senses"], (json{"maximize", "maximize"}));
  for (const json& point : result["front"]["points"]) EXPECT_GT(point[0].get<double>(), 0);
}

TEST_F(Front, TheTargetIsAVolume) {
  const json result =
      result_of(run(solve("zdt:1", {"--target", "0.8", "--json", "--quiet", "--sweeps", "500"})));

  EXPECT_EQ(result["stop"], "target_reached");
  EXPECT_GE(result["front"]["hypervolume"].get<double>(), 0.8);
}

TEST_F(Front, OfOtherSchedulesIsAVolume) {
  const Outcome outcome = run(solve(
      "zdt:1", {"--schedule", "simulated-annealing", "--sweeps", "4", "--replicas", "8", "-q"}));
  EXPECT_NE(outcome.out.find("   hypervolume "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find(" (maximised)"), std::string::npos) << outcome.out;
}

TEST_F(Front, OtherSchedulesWeighTheObjectives) {
  const Outcome outcome =
      run(solve("zdt:1", {"--schedule", "simulated-annealing", "-p", "groups=20", "--replicas",
                          "20", "--sweeps", "50", "--json", "--scalarize", "chebyshev"}));

  const json result = result_of(outcome);
  EXPECT_EQ(result["verified"], true);
  EXPECT_GT(result["front"]["points"].size(), 5u);
  EXPECT_NE(outcome.err.find("weights the objectives"), std::string::npos) << outcome.err;
}

TEST_F(Front, FrontsToCompareWithComeFromFiles) {
  write("same.csv", "f1,f2\n0,1\n0.25,0.5\n1,0\n");
  const json result = result_of(
      run(solve("zdt:1", {"--sweeps", "5", "--json", "--quiet", "--reference-front", "same.csv"})));
  EXPECT_GT(result["diagnostics"]["igd"].get<double>(), 0);

  write("other.csv", "1,2,3\n");
  const Outcome other = run(solve("zdt:1", {"--reference-front", "other.csv"}));
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_EQ(
      other.err.rfind(
          "error[front.dimension]: the points of other.csv have 3 objectives, but zdt:1 has 2 "
          "objectives\n",
          0),
      0u)
      << other.err;
  const Outcome missing = run(solve("zdt:1", {"--reference-front", "none.csv"}));
  EXPECT_EQ(missing.exit_code, 3) << missing.err;
  const Outcome single = run(solve("function:branin", {"--reference-front", "same.csv"}));
  EXPECT_EQ(single.exit_code, 2);
  EXPECT_EQ(single.err.rfind("error[cli.conflict]: --reference-front is for problems of several "
                             "objectives, and function:branin has one objective\n",
                             0),
            0u)
      << single.err;
}

// Distances to a front of a run's own are those to the same points without its other columns, and
// of a front to itself they are 0.
TEST_F(Front, AFrontToCompareWithMayBeThatOfARun) {
  const auto beside = [&](const std::string& problem, const std::string& file) {
    return result_of(run(solve(problem, {"--sweeps", "5", "--json", "--quiet", "--reference-front",
                                         file})))["diagnostics"];
  };
  write("plain.csv", "0.3,0.9\n0.25,0.5\n1,0\n");
  write("turned.csv",
        "# of another program\nf2,\"note, long\",f1,x[1]\n"
        "0.9,first,0.3,7\n0.5,,0.25,8\n0,last,1,9\n");
  const json plain = beside("zdt:1", "plain.csv");
  for (const char* name : {"igd", "igd_plus", "epsilon", "spread"}) {
    EXPECT_EQ(beside("zdt:1", "turned.csv")[name], plain[name]) << name;
  }
  write("commas.csv",
        "\xef\xbb\xbf"
        "f2;note;f1\r\n0,9;first;0,3\r\n0,5;1,5;0,25\r\n0;\"a;b\";1\r\n");
  EXPECT_EQ(beside("zdt:1", "commas.csv")["igd"], plain["igd"]);
  write("mixed.csv", "f1,f2\n0.3 0.9\n0.25\t0.5\n1,0\n");
  EXPECT_EQ(beside("zdt:1", "mixed.csv")["igd"], plain["igd"]);
  write("by_place.csv", "0.9,0.3\n0.5,0.25\n0,1\n");
  EXPECT_NE(beside("zdt:1", "by_place.csv")["igd"], plain["igd"]);

  for (const char* problem : {"re:24", "knapsack:30,2,1"}) {  // minimised, and maximised
    const std::string folder = std::string(problem).substr(0, 2);
    ASSERT_EQ(run(solve(problem, {"--sweeps", "5", "-q", "-o", folder})).exit_code, 0);
    for (const std::string& file : {folder + "/front.csv", folder, folder + "/"}) {
      const json itself = beside(problem, file);
      for (const char* name : {"igd", "igd_plus", "epsilon"}) EXPECT_EQ(itself[name], 0.0) << file;
    }
  }
  const Outcome none = run(solve("zdt:1", {"--reference-front", "."}));
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_NE(none.err.find("front.csv"), std::string::npos) << none.err;
}

TEST_F(Front, PointsThatViolateConstraintsAreNoFrontToCompareWith) {
  const auto with = [&](const std::string& text) {
    write("f.csv", text);
    return run(solve("zdt:1", {"--sweeps", "5", "--json", "--reference-front", "f.csv"}));
  };
  const json plain = result_of(with("0.3,0.9\n1,0\n"));
  const Outcome outcome = with("f1,f2,violation\n0.3,0.9,0\n0,0,0.5\n1,0,0\n");
  EXPECT_EQ(result_of(outcome)["diagnostics"]["igd"], plain["diagnostics"]["igd"]);
  EXPECT_NE(outcome.err.find("1 points of f.csv do not meet the constraints and are left out"),
            std::string::npos)
      << outcome.err;
  const Outcome none = with("f1,f2,violation\n0,0,0.5\n");
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_EQ(none.err.rfind("error[front.infeasible]: f.csv: none of the 1 points meets the "
                           "constraints\n",
                           0),
            0u)
      << none.err;
  EXPECT_EQ(
      with("f1,f2,x\n0,one,2\n")
          .err.rfind("error[input.parse]: f.csv:2: column 'f2': 'one' is not a finite number\n", 0),
      0u);
  EXPECT_EQ(
      with("f1,f2,x\n0,1\n")
          .err.rfind("error[input.parse]: f.csv:2: the line should have 3 values and has 2\n", 0),
      0u);
  EXPECT_EQ(with("x,f1,f2,f2\n0,1,2,3\n")
                .err.rfind("error[input.parse]: f.csv:1: the column 'f2' appears twice\n", 0),
            0u);
}

// Where the true front is not known, seeds and strategies have one box.
TEST_F(Front, VolumesOfOtherSeedsAreInTheSameBox) {
  const auto front_of = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--json", "--quiet"});
    return result_of(run(solve("knapsack:30,2,1", std::move(more))))["front"];
  };
  const json first = front_of({"--sweeps", "20"});
  for (const char* seed : {"2", "3"}) {
    for (const char* strategy : {"nsga2", "moead"}) {
      const json other =
          front_of({"--sweeps", "20", "--seed", seed, "-p", std::string("strategy=") + strategy});
      for (const char* end : {"ideal", "nadir", "reference"}) EXPECT_EQ(other[end], first[end]);
      EXPECT_NE(other["points"], first["points"]);
    }
  }
  // The front to compare with may give another one, to models too.
  write("f.csv", "profit 2,profit 1\n1000,900\n1150,800\n900,700\n");
  for (const char* schedule : {"evolutionary", "bayesian-front"}) {
    const json front =
        front_of({"--sweeps", "10", "--reference-front", "f.csv", "--schedule", schedule});
    EXPECT_EQ(front["ideal"], (json{900.0, 1150.0}));
    EXPECT_EQ(front["nadir"], (json{800.0, 1000.0})) << "700 and 900 are dominated";
  }
}

std::vector<std::vector<std::string>> rows_of(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

TEST_F(Front, ModelsWriteEveryEvaluationAndGoOnFromThem) {
  const std::vector<std::string> by_models{"--schedule", "bayesian-front"};
  const auto solved = [&](std::vector<std::string> more) {
    more.insert(more.end(), by_models.begin(), by_models.end());
    return run(solve("re:24", std::move(more)));
  };
  ASSERT_EQ(solved({"--sweeps", "11", "-o", "one"}).exit_code, 0);
  const auto one = rows_of(read("one/evaluations.csv"));
  ASSERT_EQ(one.size(), 12u);
  EXPECT_EQ(one[0], (std::vector<std::string>{"study", "batch", "flange thickness", "beam height",
                                              "weight", "violation"}));
  // Every member of the front is one of them, in other columns.
  const auto front = rows_of(read("one/front.csv"));
  ASSERT_GT(front.size(), 2u);
  for (std::size_t i = 1; i < front.size(); ++i) {
    EXPECT_TRUE(std::ranges::any_of(one, [&](const std::vector<std::string>& row) {
      return row[2] == front[i][2] && row[3] == front[i][3] && row[4] == front[i][0] &&
             row[5] == front[i][1];
    })) << i;
  }

  const Outcome outcome = solved({"--sweeps", "4", "-o", "two", "--past", "one/evaluations.csv"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto two = rows_of(read("two/evaluations.csv"));
  ASSERT_EQ(two.size(), 16u);
  for (std::size_t i = 1; i < 12; ++i) {
    EXPECT_EQ(two[i][1], "0");
    for (std::size_t k = 2; k < 6; ++k) EXPECT_EQ(two[i][k], one[i][k]) << i;
  }
  EXPECT_EQ(two[12][1], "1");
  const json before = json::parse(read("one/result.json"))["front"];
  const json after = json::parse(read("two/result.json"))["front"];
  EXPECT_EQ(after["ideal"], before["ideal"]);
  EXPECT_EQ(after["nadir"], before["nadir"]);
  EXPECT_GE(after["hypervolume"].get<double>(), before["hypervolume"].get<double>());

  ASSERT_EQ(run(solve("cdtlz:c2-dtlz2",
                      {"--schedule", "bayesian-front", "--evaluations", "6", "-o", "three"}))
                    .exit_code %
                9,
            0);
  EXPECT_TRUE(rows_of(read("three/evaluations.csv"))[0].back() == "g1");
  write("past.csv", "x[1],x[2],weight\n1,2,3\n");
  EXPECT_EQ(solved({"--past", "past.csv"})
                .err.rfind("error[input.parse]: past.csv:1: there is no column 'violation'\n", 0),
            0u);
  const Outcome other = run(solve("re:24", {"--past", "one/evaluations.csv"}));
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_EQ(other.err.rfind("error[cli.conflict]: --past is for schedule bayesian-front, but the "
                            "schedule is evolutionary\n",
                            0),
            0u)
      << other.err;
}

// A generation of eight finds nothing feasible; 250 of a hundred do.
TEST_F(Front, WithoutAFeasibleMemberIsNoResult) {
  const std::vector<std::string> short_run{"-p", "population=8", "--sweeps", "1", "-o", "none"};
  const Outcome outcome = run(solve("cdtlz:c1-dtlz1", short_run));

  EXPECT_EQ(outcome.exit_code, 9);
  EXPECT_NE(outcome.err.find("error[result.infeasible]: cdtlz:c1-dtlz1: the run found no feasible "
                             "state; the best state exceeds the constraints by "),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.out.find("\nfront  no member: the run found no feasible state\n"),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("\n  nearest "), std::string::npos) << outcome.out;
  EXPECT_FALSE(exists("none/solution.txt"));
  // The nearest are there, and are no front to compare with.
  const auto rows = rows_of(read("none/infeasible.csv"));
  ASSERT_GE(rows.size(), 2u);
  EXPECT_EQ(rows[0][3], "violation");
  const json front = json::parse(read("none/result.json"))["front"];
  EXPECT_EQ(front["points"].size(), 0u);
  ASSERT_EQ(front["nearest"].size(), rows.size() - 1);
  double before = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const double violation = std::stod(rows[i][3]);
    EXPECT_GT(violation, 0);
    EXPECT_GE(violation, before);
    EXPECT_EQ(front["nearest"][i - 1]["violation"], violation);
    before = violation;
  }
  const Outcome beside = run(solve("cdtlz:c1-dtlz1", {"--reference-front", "none/infeasible.csv"}));
  EXPECT_EQ(beside.exit_code, 3);
  EXPECT_EQ(beside.err.rfind("error[front.infeasible]: ", 0), 0u) << beside.err;
  const Outcome json_too =
      run(solve("cdtlz:c1-dtlz1", {"-p", "population=8", "--sweeps", "1", "--json", "--quiet"}));
  EXPECT_EQ(json_too.exit_code, 9);
  EXPECT_EQ(json::parse(json_too.out)["front"]["nearest"].size(), rows.size() - 1);

  EXPECT_EQ(run(solve("cdtlz:c1-dtlz1", {"-q"})).exit_code, 0);
}

TEST_F(Front, WhatDoesNotFitIsRefused) {
  const auto error_of = [&](const std::string& problem, std::vector<std::string> more) {
    const Outcome outcome = run(solve(problem, std::move(more)));
    EXPECT_EQ(outcome.exit_code, 2) << outcome.out << outcome.err;
    return outcome.err.substr(0, outcome.err.find('\n'));
  };
  EXPECT_EQ(error_of("zdt:1", {"-p", "population=2"}),
            "error[config.option]: population: 2 is out of range: 0, or 4 .. 1048576");
  EXPECT_EQ(error_of("zdt:1", {"-p", "reference=1"}),
            "error[config.option]: reference has 1 values for 2 objectives");
  EXPECT_EQ(error_of("zdt:1", {"-p", "epsilon=0.1,0"}),
            "error[config.option]: epsilon: 0 is out of range: > 0");
  EXPECT_EQ(error_of("dtlz:2,4", {"-p", "strategy=sms-emoa"}),
            "error[config.option]: strategy=sms-emoa supports two or three objectives, not 4; "
            "strategy=nsga3 supports more");
  EXPECT_EQ(error_of("gset:G1", {"--schedule", "evolutionary"}),
            "error[objective.outputs]: objective 'gset:G1' gives one value");
  EXPECT_EQ(
      error_of("zdt:1", {"--scalarize", "sum"}),
      "error[cli.range]: --scalarize=sum is not one of chebyshev, augmented and weighted-sum");
  EXPECT_EQ(error_of("zdt:7", {}), "error[problem.unknown]: unknown zdt '7'");
}

TEST_F(Front, AReferencePointInsideTheFrontIsSaid) {
  const Outcome outcome = run(solve("zdt:1", {"-p", "reference=0.5,0.5"}));

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("lie beyond the reference"), std::string::npos) << outcome.err;
}

TEST_F(Front, ARunIsRepeatedFromItsFolder) {
  ASSERT_EQ(run(solve("zdt:2", {"--sweeps", "10", "-o", "a", "-p", "islands=2"})).exit_code, 0);
  const Outcome again = run(std::vector<std::string>{"solve", "--repeat", "a", "-o", "b"});

  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read("a/front.csv"), read("b/front.csv"));
}

}  // namespace
}  // namespace kiln::test::front_test
