// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln analyze --landscape
#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <sstream>

#include "program.hpp"

namespace kiln::test::landscape_test {
namespace {

using nlohmann::json;

class Landscape : public ProgramTest {
 protected:
  Outcome analyze(const std::string& problem, const std::vector<std::string>& more) const {
    std::vector<std::string> words{"analyze", problem, "--landscape", "--device", "cpu"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  json landscape(const std::string& problem, std::vector<std::string> more = {}) const {
    more.emplace_back("--json");
    const Outcome outcome = analyze(problem, more);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.exit_code == 0 ? json::parse(outcome.out) : json();
  }
};

const std::string himmelblau = "expr:(x^2+y-11)^2+(x+y^2-7)^2";
const std::vector<std::string> himmelblau_box{"--var", "x=real:-5:5", "--var", "y=real:-5:5"};

double himmelblau_at(double x, double y) {
  return std::pow(x * x + y - 11, 2) + std::pow(x + y * y - 7, 2);
}

// The value at the stationary point near a place, by Newton's method.
double stationary_value(double x, double y) {
  for (int i = 0; i < 20; ++i) {
    const double a = x * x + y - 11, b = x + y * y - 7;
    const double fx = 4 * x * a + 2 * b, fy = 2 * a + 4 * y * b;
    const double fxx = 4 * a + 8 * x * x + 2, fxy = 4 * x + 4 * y, fyy = 2 + 4 * b + 8 * y * y;
    const double det = fxx * fyy - fxy * fxy;
    x -= (fx * fyy - fy * fxy) / det;
    y -= (fy * fxx - fx * fxy) / det;
  }
  return himmelblau_at(x, y);
}

// Between points 10/255 apart, the nearest one is within 0.028 of a minimum or saddle. Curvatures
// there are below 140, so that its value differs by 0.055 at most.
TEST_F(Landscape, FindsTheBasinsAndBarriersOfHimmelblau) {
  const json found = landscape(himmelblau, himmelblau_box);
  ASSERT_EQ(found["basins"].size(), 4u);
  EXPECT_EQ(found["shallow_minima"], 0);
  std::vector<double> barriers;
  double share = 0;
  for (const json& basin : found["basins"]) {
    EXPECT_GE(basin["minimum"]["value"], 0);
    EXPECT_LE(basin["minimum"]["value"], 0.055);
    const double x = basin["minimum"]["x"], y = basin["minimum"]["y"];
    EXPECT_DOUBLE_EQ(basin["minimum"]["value"], himmelblau_at(x, y));
    EXPECT_LT(stationary_value(x, y), 1e-20);
    share += basin["share"].get<double>();
    if (!basin["barrier"].is_null()) barriers.push_back(basin["barrier"]);
  }
  EXPECT_NEAR(share, 1, 1e-12);
  ASSERT_EQ(barriers.size(), 3u);
  std::ranges::sort(barriers);
  EXPECT_NEAR(barriers[0], stationary_value(3.4, 0.1), 0.11);
  EXPECT_NEAR(barriers[1], stationary_value(0.1, 2.9), 0.11);
  EXPECT_NEAR(barriers[2], stationary_value(-3.1, -0.1), 0.11);
  EXPECT_DOUBLE_EQ(found["highest_barrier"], barriers[2]);
  EXPECT_DOUBLE_EQ(found["beta_min"], 1 / barriers[2]);
}

// The function is a sum of the same function of each coordinate, so that its minima are pairs of
// minima, and the barrier of a pair is the lower one of the two. All lie inside of the box.
TEST_F(Landscape, FindsAllBasinsOfRastrigin) {
  const auto along = [](double x) { return x * x - 10 * std::cos(2 * std::numbers::pi * x) + 10; };
  const int steps = 100000;
  const auto x_of = [&](int i) { return 5.12 * (2.0 * i / steps - 1); };
  int minima = 0;
  double highest = 0, maximum = along(0);  // of the barriers towards 0
  for (int i = 1; i < steps; ++i) {
    const double before = along(x_of(i - 1)), here = along(x_of(i)), after = along(x_of(i + 1));
    minima += here < before && here <= after;
    if (x_of(i) > 0 && here > before && here >= after) maximum = here;
    if (x_of(i) > 0.1 && here < before && here <= after) {
      highest = std::max(highest, maximum - here);
    }
  }
  const json found = landscape("function:rastrigin-2");
  EXPECT_EQ(found["basins"].size(), static_cast<std::size_t>(minima * minima));
  EXPECT_EQ(minima, 11);
  // Second derivatives are below 400, and points within 0.0201 of a minimum or saddle.
  EXPECT_LE(found["highest_barrier"], highest + 1e-9);
  EXPECT_GE(found["highest_barrier"], highest - 2 * 200 * 0.0201 * 0.0201);
  EXPECT_TRUE(found["basins"][0]["barrier"].is_null());
}

// At 0 the four other coordinates add nothing; at the ends of solution.txt they add what the
// function is there.
TEST_F(Landscape, GoesThroughThePointThatItIsGiven) {
  const auto along = [](double x) { return (x * x * x * x - 16 * x * x + 5 * x) / 2; };
  const double least = along(-2.903534);
  const std::vector<std::string> small{"--resolution", "64", "--axes", "x[2],x[4]"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), small.begin(), small.end());
    return landscape("function:styblinski-tang-6", more);
  };
  // Points are 10/63 apart, and second derivatives at the minimum are 34.6.
  const double tolerance = 2 * 17.5 * 0.0794 * 0.0794;
  const json center = with({"--at", "center"});
  EXPECT_NEAR(center["range"]["low"], 2 * least, tolerance);
  EXPECT_EQ(center["point"], json(std::vector<double>(6)));
  EXPECT_EQ(center["x"]["name"], "x[2]");

  write("point.txt", "1 0 1 0 -1 2\n");
  const json given = with({"--at", "point.txt"});
  EXPECT_NEAR(given["range"]["low"], 2 * least + 2 * along(1) + along(-1) + along(2), tolerance);

  ASSERT_EQ(run({"solve", "function:styblinski-tang-6", "--sweeps", "500", "-o", "out", "--quiet"})
                .exit_code,
            0);
  EXPECT_NEAR(with({"--at", "out"})["range"]["low"], 6 * least, tolerance);
  EXPECT_NEAR(with({})["range"]["low"], 6 * least, tolerance);
}

// Points x = -1 + 2 i / 63 with i < 32 are negative, where the logarithm has no value.
TEST_F(Landscape, LeavesPointsWithoutAValueOut) {
  const std::vector<std::string> small{"--resolution", "64",    "--var",
                                       "x=real:-1:1",  "--var", "y=real:-1:1"};
  const json undefined = landscape("expr:log(x)^2+y^2", small);
  EXPECT_EQ(undefined["left_out"]["not_finite"], 32 * 64);
  EXPECT_EQ(undefined["left_out"]["infeasible"], 0);
  EXPECT_EQ(undefined["basins"].size(), 1u);
  EXPECT_NEAR(undefined["basins"][0]["share"], 1, 1e-12);
  EXPECT_NE(analyze("expr:log(x)^2+y^2", small).out.find("left out: 2048 not finite"),
            std::string::npos);
}

// A wall between two wells: neither is behind a barrier.
TEST_F(Landscape, TakesPointsThatAreNotFeasibleForWalls) {
  std::vector<std::string> words{"--resolution", "64",    "--var",
                                 "x=real:-1:1",  "--var", "y=real:-1:1"};
  const json open = landscape("expr:(x^2-0.25)^2+y^2", words);
  words.insert(words.end(), {"--subject-to", "x^2 >= 0.01"});
  const json walled = landscape("expr:(x^2-0.25)^2+y^2", words);
  EXPECT_EQ(walled["basins"].size(), 2u);
  EXPECT_TRUE(walled["basins"][1]["barrier"].is_null());
  EXPECT_FALSE(open["basins"][1]["barrier"].is_null());
  EXPECT_EQ(walled["left_out"]["infeasible"], 6 * 64);  // |2 i - 63| < 6.3
}

TEST_F(Landscape, FindsMaximaOfWhatIsMaximized) {
  const json found = landscape("expr:3-(x^2-0.25)^2-y^2+0.01*x",
                               {"--maximize", "--var", "x=real:-1:1", "--var", "y=real:-1:1"});
  ASSERT_EQ(found["basins"].size(), 2u);
  EXPECT_GT(found["basins"][0]["minimum"]["x"], 0.4);
  EXPECT_NEAR(found["basins"][0]["minimum"]["value"], 3.005, 1e-4);
  EXPECT_NEAR(found["basins"][1]["barrier"], 0.0625 - 0.005, 2e-4);
}

TEST_F(Landscape, CountsLowBarriersAsNoBasins) {
  const std::string wells = "expr:(x^2-0.25)^2+y^2";
  const std::vector<std::string> box{"--var", "x=real:-1:1", "--var", "y=real:-1:1"};
  for (const auto& [threshold, basins] : {std::pair{"0", 2u}, {"0.03", 2u}, {"0.05", 1u}}) {
    // The range is 1.5625, the barrier 0.0625: 4 %.
    std::vector<std::string> words = box;
    words.insert(words.end(), {"--threshold", threshold});
    const json found = landscape(wells, words);
    EXPECT_EQ(found["basins"].size(), basins) << threshold;
    EXPECT_EQ(found["shallow_minima"], 2u - basins);
    EXPECT_NEAR(found["basins"][0]["share"], 1.0 / basins, 0.01);
  }
}

TEST_F(Landscape, PrintsTableAndAdvice) {
  const Outcome outcome = analyze(himmelblau, himmelblau_box);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  for (const char* const part :
       {"slice        x -5 .. 5, y -5 .. 5; 256 x 256 points\n",
        "    4   0.0075046    -2.804, 3.118   26.9 %     67.71     0.09804, 2.882    3\n",
        "             begin at T = 104 or above, which is beta_min = 0.009615 or below.\n"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << outcome.out;
  }
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LT(line.size(), 80u) << line;
  EXPECT_EQ(outcome.out, analyze(himmelblau, himmelblau_box).out);
}

TEST_F(Landscape, DrawsAPicture) {
  std::vector<std::string> words = himmelblau_box;
  words.insert(words.end(), {"--picture", "h.svg"});
  ASSERT_EQ(analyze(himmelblau, words).exit_code, 0);
  const std::string svg = read("h.svg");
  EXPECT_TRUE(svg.starts_with("<svg ")) << svg.substr(0, 80);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  for (const char* const part : {">4 minima, the deepest is 1<", ">2-4<", ">3-1<", ">4-3<"}) {
    EXPECT_NE(svg.find(part), std::string::npos) << part;
  }
  EXPECT_LT(svg.size(), 200000u);
  EXPECT_EQ(analyze(himmelblau, words).exit_code, 6);  // the file is there
}

TEST_F(Landscape, RefusesWhatHasNone) {
  const std::string branin = "function:branin";
  write("p.sh", "#!/bin/sh\necho 1\n");
  const std::vector<std::tuple<std::string, std::vector<std::string>, std::string>> cases{
      {"gset:G1", {}, "gset:G1 has no real variables"},
      {"expr:x^2", {"--var", "x=real:0:1"}, "has 1 real variable;"},
      {"zdt:1", {}, "has several objectives"},
      {"command:sh p.sh {x} {y}",
       {"--var", "x=real:0:1", "--var", "y=real:0:1"},
       "65536 evaluations"},
      {branin, {"--axes", "x[1],x[9]"}, "no real variable is named 'x[9]'"},
      {branin, {"--axes", "x[1],x[1]"}, "two different variables"},
      {branin, {"--axes", "x[1]"}, "does not name two variables"},
      {branin, {"--resolution", "8"}, "outside 16 .. 2048"},
      {branin, {"--box", "x[1]=-9:5"}, "outside of the bounds"},
      {branin, {"--box", "x[1]=5:1"}, "is no interval"},
      {branin, {"--box", "z=1:5"}, "no axis of the landscape"},
      {branin, {"--threshold", "2"}, "outside 0 .. 1"},
      {"expr:log(x)+y",
       {"--var", "x=real:-2:-1", "--var", "y=real:0:1", "--at", "center"},
       "no point of the slice"}};
  for (const auto& [problem, more, complaint] : cases) {
    const Outcome outcome = analyze(problem, more);
    EXPECT_EQ(outcome.exit_code, complaint.starts_with("no point") ? 9 : 2) << problem;
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find(complaint), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace kiln::test::landscape_test
