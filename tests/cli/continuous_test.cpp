// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Functions, densities and posteriors by name, and the data of models.
#include <cmath>
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace kiln::test::continuous_test {
namespace {

using nlohmann::json;
using Continuous = ProgramTest;

std::vector<std::string> short_solve(const std::string& problem,
                                     std::vector<std::string> more = {}) {
  std::vector<std::string> words{"solve", problem,      "--device", "cpu",     "--sweeps",
                                 "20",    "--replicas", "32",       "--quiet", "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const std::string table = "a,b,y\n1,2,1\n2,1,3\n4,8,2\n5,3,7\n6,12,1\n7,1,4\n";

TEST_F(Continuous, FunctionsHaveAnOptimumAndAreVerified) {
  const Outcome outcome = run(short_solve("function:rastrigin-5"));

  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["verified"], true);
  EXPECT_EQ(result["objective"]["best_known"], 0);
  EXPECT_EQ(result["solution"].size(), 5u);
}

TEST_F(Continuous, DensitiesAndPosteriorsAreVerified) {
  write("t.csv", table);
  for (const std::string name : {"density:funnel", "density:two-modes-5", "posterior:kilpisjarvi",
                                 "posterior:lotka-volterra", "posterior:gp-pois-regr"}) {
    const Outcome outcome = run(short_solve(name));
    ASSERT_EQ(outcome.exit_code, 0) << name << outcome.err;
    EXPECT_EQ(json::parse(outcome.out)["verified"], true) << name;
  }
  const Outcome outcome = run(short_solve("posterior:linear-regression", {"--data", "t.csv"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["solution"].size(), 4u);
}

// The 2 x 2 factorial design, each cell twice: price = 10 + 2 size - 4 age, and 3 with the sign of
// the interaction, which is orthogonal to the columns. Least squares find these coefficients and
// leave R = 8 * 9. Over log sigma, with its Jacobian, U = 7 log sigma + R / (2 sigma^2) is least at
// sigma^2 = R / 7.
TEST_F(Continuous, ThePosteriorOfRawDataIsSolvedByGradients) {
  std::string houses = "size,age,price\n50,5,93\n50,25,7\n150,5,287\n150,25,213\n";
  houses += houses.substr(houses.find('\n') + 1);
  write("houses.csv", houses);
  const std::vector<std::string> words{"solve",      "posterior:linear-regression,price",
                                       "--data",     "houses.csv",
                                       "--device",   "cpu",
                                       "--sweeps",   "300",
                                       "--replicas", "64",
                                       "--json",     "-q"};

  const Outcome outcome = run(words);

  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["schedule"]["name"], "hmc");
  EXPECT_EQ(result["schedule"]["parameters"]["mode"], "anneal");
  EXPECT_NEAR(result["objective"]["best"].get<double>(), 3.5 * (std::log(72.0 / 7) + 1), 1e-6);
}

// Units of the columns are no matter: y = 1e6 (2 + 3e6 a - 4e-5 b) with errors that are orthogonal
// to the columns, as above. Of R = 8 * (9e6)^2 the least U is 7/2 (log(R / 7) + 1).
TEST_F(Continuous, UnitsOfRawDataDoNotMatter) {
  std::string rows = "a,b,y\n";
  for (int copy = 0; copy < 2; ++copy) {
    for (const int a : {-1, 1}) {
      for (const int b : {-1, 1}) {
        const double y = 1e6 * (2 + 3 * a - 4 * b + 9 * a * b);
        rows += std::to_string(a) + "e-6," + std::to_string(b) + "e5," + std::to_string(y) + "\n";
      }
    }
  }
  write("units.csv", rows);
  for (const std::string sweeps : {"20", "300"}) {
    const Outcome outcome = run({"solve", "posterior:linear-regression", "--data", "units.csv",
                                 "--device", "cpu", "--sweeps", sweeps, "-o", "run" + sweeps});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const json result = json::parse(read("run" + sweeps + "/result.json"));
    EXPECT_NEAR(result["objective"]["best"].get<double>(), 3.5 * (std::log(8 * 81e12 / 7) + 1),
                1e-6);
    // Coefficients as users know them, from which another run may begin.
    std::istringstream solution(read("run" + sweeps + "/solution.txt"));
    double alpha = 0, beta_a = 0, beta_b = 0, log_sigma = 0;
    solution >> alpha >> beta_a >> beta_b >> log_sigma;
    EXPECT_NEAR(alpha, 2e6, 10);
    EXPECT_NEAR(beta_a, 3e12, 1e7);
    EXPECT_NEAR(beta_b, -40, 1e-4);
    EXPECT_NEAR(log_sigma, 0.5 * std::log(8 * 81e12 / 7), 1e-5);
  }
  const Outcome again = run({"solve", "posterior:linear-regression", "--data", "units.csv",
                             "--initial", "run300/solution.txt", "--sweeps", "1", "--schedule",
                             "simulated-annealing", "-p", "polish_sweeps=0", "--json", "-q"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NEAR(json::parse(again.out)["objective"]["best"].get<double>(),
              3.5 * (std::log(8 * 81e12 / 7) + 1), 1e-6);
}

TEST_F(Continuous, DataMayComeFromStandardInput) {
  const Outcome outcome =
      run(Call{short_solve("posterior:linear-regression,a", {"--data", "-"}), table});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(Continuous, DataThatDoNotFitAreCodeThree) {
  write("d.json", "{\"N\": 2,\n \"kid_scores\": [1, 2]}");
  const Outcome misfit = run(short_solve("posterior:kidscore-momhs", {"--data", "d.json"}));
  EXPECT_EQ(misfit.exit_code, 3);
  EXPECT_EQ(misfit.err.rfind("error[input.parse]: d.json: there is no variable 'kid_score'; the "
                             "nearest is 'kid_scores'\n",
                             0),
            0u)
      << misfit.err;
  const Outcome missing = run(short_solve("posterior:nes", {"--data", "none.json"}));
  EXPECT_EQ(missing.exit_code, 3);
}

TEST_F(Continuous, DataAreAskedForOrRefused) {
  const Outcome missing = run(std::vector<std::string>{"solve", "posterior:nes"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_EQ(
      missing.err,
      "error[data.missing]: posterior:nes needs data\n"
      "  expected: a file with N, partyid7, real_ideo, race_adj, age_discrete, educ1, gender, "
      "income\n"
      "  fix: --data data.json\n");
  write("t.csv", table);
  const Outcome extra = run(short_solve("function:branin", {"--data", "t.csv"}));
  EXPECT_EQ(extra.exit_code, 2);
  EXPECT_EQ(extra.err.rfind("error[cli.conflict]: --data is for models with data, and "
                            "function:branin takes no data\n",
                            0),
            0u)
      << extra.err;
}

TEST_F(Continuous, ChangedDataAreNotRepeated) {
  write("t.csv", table);
  std::vector<std::string> words =
      short_solve("posterior:linear-regression", {"--data", "t.csv", "--save", "run.json"});
  const Outcome first = run(words);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const std::vector<std::string> again{"solve", "--repeat", "run.json", "--device",
                                       "cpu",   "--json",   "--quiet"};
  const Outcome same = run(again);
  ASSERT_EQ(same.exit_code, 0) << same.err;
  EXPECT_EQ(json::parse(same.out)["solution"], json::parse(first.out)["solution"]);
  write("t.csv", table + "8,9,1\n");
  EXPECT_EQ(run(again).exit_code, 3);
}

TEST_F(Continuous, CheckHoldsGradientsAgainstTheirEnergies) {
  write("t.csv", table);
  for (const std::string name : {"function:rosenbrock-5", "density:funnel",
                                 "posterior:eight-schools", "posterior:kilpisjarvi"}) {
    const Outcome outcome = run(std::vector<std::string>{"check", name});
    ASSERT_EQ(outcome.exit_code, 0) << name << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.out.rfind(name + ": ok\n  kind ", 0), 0u) << outcome.out;
    EXPECT_NE(outcome.out.find("  gradient      agrees with finite differences of the energy at 3"),
              std::string::npos)
        << outcome.out;
  }
  const Outcome outcome = run(std::vector<std::string>{
      "check", "posterior:linear-regression", "--data", "t.csv", "--starts", "5", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  EXPECT_EQ(document["ok"], true);
  EXPECT_EQ(document["sizes"]["n"], "4");
  EXPECT_EQ(document["gradient"]["starts"], 5);
  EXPECT_LT(document["gradient"]["difference"], 1e-6);
}

TEST_F(Continuous, CheckSaysWhatAProblemWithoutAGradientIs) {
  const Outcome outcome = run(std::vector<std::string>{"check", "torus:5x4,7"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out,
            "torus:5x4,7: ok\n  kind          maxcut\n  aim           maximise cut\n"
            "  n             20\n"
            "  m             40\n");
}

TEST_F(Continuous, CheckRefusesOptionsThatDoNotFit) {
  write("g.txt", "3 1\n1 2 1\n");
  const Outcome file = run(std::vector<std::string>{"check", "g.txt", "--starts", "5"});
  EXPECT_EQ(file.exit_code, 2);
  EXPECT_EQ(
      file.err,
      "error[cli.conflict]: --starts is for problems given by name, and Kiln reads g.txt as a "
      "file\n"
      "  for example posterior:eight-schools\n"
      "  fix: remove --starts\n");
  const Outcome none = run(std::vector<std::string>{"check", "density:funnel", "--starts", "0"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_EQ(none.err,
            "error[cli.range]: --starts=0 is outside 1 .. 1000\n"
            "  fix: for example --starts 3\n");
}

TEST_F(Continuous, DescribeListsTheNames) {
  const Outcome outcome = run(std::vector<std::string>{"describe", "posterior"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.out.find("eight-schools-centered"), std::string::npos) << outcome.out;
  const json document =
      json::parse(run(std::vector<std::string>{"describe", "function", "--json"}).out);
  EXPECT_EQ(document["names"].size(), 16u);
}

}  // namespace
}  // namespace kiln::test::continuous_test
