// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The fronts of the continuous benchmarks, their boxes and the names that they are made by.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/fronts/indicators.hpp"
#include "kiln/problems/multi_objective.hpp"

#include "backends/cpu_queue.hpp"
#include "multi_objective/benchmarks.hpp"
#include "vector_function_values.hpp"

namespace kiln::multi_objective_fronts_test {
namespace {

using problems::cdtlz;
using problems::dtlz;
using problems::engineering_design;
using problems::wfg;
using problems::zdt;
using test::expect_near;
using test::squares_of;
using test::sum_of;
using test::Values;

std::vector<Problem> with_known_front() {
  std::vector<Problem> all;
  for (int number = 1; number <= 6; ++number) all.push_back(zdt(number));
  for (int number = 1; number <= 7; ++number) {
    all.push_back(dtlz(number));
    all.push_back(dtlz(number, 2));
  }
  for (const int number : {1, 2, 3, 4, 7}) all.push_back(dtlz(number, 5));
  for (const auto& name : problems::cdtlz_names()) {
    for (const int objectives : {2, 3, 5}) all.push_back(cdtlz(name.name, objectives));
  }
  for (int number = 1; number <= 9; ++number) all.push_back(wfg(number));
  for (int number = 4; number <= 9; ++number) all.push_back(wfg(number, 4));
  return all;
}

TEST(MultiObjectiveFronts, HaveAboutAsManyPointsAsWanted) {
  for (const Problem& problem : with_known_front()) {
    for (const std::int64_t count : {100, 1000}) {
      const auto points = static_cast<double>(problem.objectives->true_front(count).size());
      if (problem.identity.name == "zdt:5") {
        EXPECT_EQ(points, 31);
        continue;
      }
      EXPECT_LE(points, 1.3 * static_cast<double>(count)) << problem.identity.name;
      EXPECT_GE(points, 0.3 * static_cast<double>(count)) << problem.identity.name;
    }
    EXPECT_GE(problem.objectives->true_front(1).size(), 2U) << problem.identity.name;
  }
}

TEST(MultiObjectiveFronts, AreMutuallyNondominatedAndFillTheirBox) {
  for (const Problem& problem : with_known_front()) {
    const Objectives& objectives = *problem.objectives;
    const Points front = objectives.true_front(400);
    EXPECT_EQ(nondominated(front).size(), front.size()) << problem.identity.name;
    ASSERT_EQ(objectives.ideal.size(), objectives.count()) << problem.identity.name;
    for (std::size_t k = 0; k < objectives.count(); ++k) {
      double least = front[0][k], greatest = front[0][k];
      for (const Values& point : front) {
        least = std::min(least, point[k]);
        greatest = std::max(greatest, point[k]);
      }
      EXPECT_NEAR(least, objectives.ideal[k], 1e-12)
          << problem.identity.name << ", objective " << k + 1;
      EXPECT_NEAR(greatest, objectives.nadir[k], 1e-12)
          << problem.identity.name << ", objective " << k + 1;
    }
  }
}

void expect_front(const Problem& problem, const std::function<double(const Values&)>& rest) {
  for (const Values& point : problem.objectives->true_front(200)) {
    EXPECT_NEAR(rest(point), 0, 1e-12) << problem.identity.name;
  }
}

TEST(MultiObjectiveFronts, FollowTheFormulas) {
  using std::numbers::pi;
  expect_front(zdt(1), [](const Values& f) { return 1 - std::sqrt(f[0]) - f[1]; });
  expect_front(zdt(2), [](const Values& f) { return 1 - f[0] * f[0] - f[1]; });
  expect_front(zdt(3), [](const Values& f) {
    return 1 - std::sqrt(f[0]) - f[0] * std::sin(10 * pi * f[0]) - f[1];
  });
  expect_front(zdt(4), [](const Values& f) { return 1 - std::sqrt(f[0]) - f[1]; });
  expect_front(zdt(5, 60), [](const Values& f) { return f[0] * f[1] - 6; });
  expect_front(zdt(6), [](const Values& f) { return 1 - f[0] * f[0] - f[1]; });
  expect_front(dtlz(1, 4), [](const Values& f) { return sum_of(f) - 0.5; });
  for (const int number : {2, 3, 4, 5, 6}) {
    expect_front(dtlz(number), [](const Values& f) { return squares_of(f) - 1; });
  }
  expect_front(dtlz(5), [](const Values& f) { return f[0] - f[1]; });
  expect_front(dtlz(7, 4), [](const Values& f) {
    double rest = 8 - f[3];
    for (std::size_t i = 0; i < 3; ++i) rest -= f[i] * (1 + std::sin(3 * pi * f[i]));
    return rest;
  });
  expect_front(wfg(3), [](const Values& f) { return f[0] / 2 + f[1] / 4 - 1; });
  for (const int number : {4, 5, 6, 7, 8, 9}) {
    expect_front(wfg(number), [](const Values& f) { return std::hypot(f[0] / 2, f[1] / 4) - 1; });
  }
  const auto place = [](const Values& f) { return std::acos(1 - f[0] / 2) * 2 / pi; };
  for (const Values& f : wfg(1).objectives->true_front(50)) {
    const double x = place(f);
    EXPECT_NEAR(f[1] / 4, 1 - x - std::cos(10 * pi * x + pi / 2) / (10 * pi), 1e-7);
  }
  for (const Values& f : wfg(2).objectives->true_front(50)) {
    const double x = place(f);
    EXPECT_NEAR(f[1] / 4, 1 - x * std::pow(std::cos(5 * pi * x), 2), 1e-6);
  }
}

// Where the surfaces of constraints make the front, each point lies on one of them and misses none.
TEST(MultiObjectiveFronts, OfConstraintsMeetThem) {
  const auto worst = [](const Values& g) { return *std::max_element(g.begin(), g.end()); };
  expect_front(cdtlz("c3-dtlz1", 4), [&](const Values& f) {
    Values g;
    for (const double value : f) g.push_back(1 - sum_of(f) - value);
    return worst(g);
  });
  expect_front(cdtlz("c3-dtlz4", 4), [&](const Values& f) {
    Values g;
    for (const double v : f) g.push_back(1 - v * v / 4 - (squares_of(f) - v * v));
    return worst(g);
  });
  for (const Values& f : cdtlz("c2-dtlz2").objectives->true_front(300)) {
    EXPECT_NEAR(squares_of(f), 1, 1e-12);
    double nearest = 9;
    for (std::size_t corner = 0; corner < 4; ++corner) {
      double squares = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        const double centre = corner == 3 ? std::sqrt(1.0 / 3) : k == corner ? 1.0 : 0.0;
        squares += (f[k] - centre) * (f[k] - centre);
      }
      nearest = std::min(nearest, squares);
    }
    EXPECT_LE(nearest, 0.16 + 1e-12);
  }
}

TEST(MultiObjectiveFronts, AreSpreadEvenlyAlongCurves) {
  for (const Problem& problem : {zdt(1), zdt(2), zdt(6), dtlz(5), wfg(5)}) {
    const Points front = problem.objectives->true_front(100);
    double least = 1e9, greatest = 0;
    for (std::size_t i = 1; i < front.size(); ++i) {
      double squares = 0;
      for (std::size_t k = 0; k < front[i].size(); ++k) {
        squares += std::pow(front[i][k] - front[i - 1][k], 2);
      }
      least = std::min(least, std::sqrt(squares));
      greatest = std::max(greatest, std::sqrt(squares));
    }
    EXPECT_LT(greatest, 1.02 * least) << problem.identity.name;
  }
}

// Published to so many digits.
TEST(MultiObjectiveFronts, HaveTheirPublishedEnds) {
  expect_near(zdt(3).objectives->ideal, {0, -0.773369012}, 1e-8, "ZDT3");
  expect_near(zdt(3).objectives->nadir, {0.8518328654, 1}, 1e-9, "ZDT3");
  expect_near(zdt(6).objectives->ideal, {0.2807753191, 0}, 1e-9, "ZDT6");
  expect_near(zdt(5).objectives->ideal, {1, 10.0 / 31}, 1e-15, "ZDT5");
  expect_near(dtlz(7).objectives->nadir, {0.8594008566, 0.8594008566, 6}, 1e-9, "DTLZ7");
  expect_near(dtlz(7).objectives->ideal, {0, 0, 2.614008}, 1e-6, "DTLZ7");
  // The five pieces of ZDT3, in f1.
  const Values pieces{0,
                      0.0830015349,
                      0.1822287280,
                      0.2577623634,
                      0.4093136748,
                      0.4538821041,
                      0.6183967944,
                      0.6525117038,
                      0.8233317983,
                      0.8518328654};
  const Points front = zdt(3).objectives->true_front(500);
  for (const double end : pieces) {
    EXPECT_TRUE(std::any_of(front.begin(), front.end(), [&](const Values& f) {
      return std::abs(f[0] - end) < 1e-9;
    })) << end;
  }
  for (const Values& f : front) {
    bool inside = false;
    for (std::size_t p = 0; p < pieces.size(); p += 2) {
      inside = inside || (f[0] > pieces[p] - 1e-9 && f[0] < pieces[p + 1] + 1e-9);
    }
    EXPECT_TRUE(inside) << f[0];
  }
}

TEST(MultiObjectiveFronts, AreLeftOutWhereTheyAreNotKnown) {
  for (const Problem& problem : {dtlz(5, 4), dtlz(6, 5), wfg(3, 3)}) {
    EXPECT_TRUE(problem.objectives->ideal.empty() && problem.objectives->nadir.empty());
    EXPECT_FALSE(problem.objectives->true_front) << problem.identity.name;
  }
  for (const Problem& problem : {wfg(1, 3), wfg(2, 3), dtlz(7, 11)}) {
    EXPECT_EQ(problem.objectives->ideal.size(), problem.objectives->count())
        << problem.identity.name;
    EXPECT_FALSE(problem.objectives->true_front) << problem.identity.name;
  }
  for (const auto& name : problems::engineering_design_names()) {
    const Problem problem = problems::engineering_design_by_name(name.name);
    EXPECT_EQ(problem.objectives->ideal.size(), problem.objectives->count());
    EXPECT_FALSE(problem.objectives->true_front);
    for (std::size_t k = 0; k < problem.objectives->count(); ++k) {
      EXPECT_LT(problem.objectives->ideal[k], problem.objectives->nadir[k])
          << problem.identity.name;
    }
  }
}

// The ends of RE21's front, worked out from the formula, against the published numbers.
TEST(MultiObjectiveFronts, OfTheFourBarTrussEndsWhereItsFormulaSays) {
  const Problem problem = engineering_design(21);
  const double root = std::numbers::sqrt2;
  const auto at = [&](double x1, double x2, double x4) {
    const State state{Values{x1}, Values{x2, root}, Values{x4}};
    return problem.objectives->evaluate(spans_of(state)).values;
  };
  const Objectives& box = *problem.objectives;
  expect_near(at(1, root, 1), {box.ideal[0], box.nadir[1]}, 1e-14, "lightest");
  expect_near(at(3, 3, 3), {box.nadir[0], box.ideal[1]}, 1e-14, "stiffest");
  expect_near(box.ideal, {1237.8414230005742, 0.002761423749158419}, 1e-12, "ideal");
  expect_near(box.nadir, {2886.3695604236013, 0.04}, 1e-12, "nadir");
}

std::string refusal(Problem (*make)(const std::string&), const std::string& text) {
  return test::code_of([&] { make(text); });
}

std::string message(Problem (*make)(const std::string&), const std::string& text) {
  try {
    make(text);
  } catch (const InvalidArgument& error) {
    return error.message() + " / " + error.expected();
  }
  return "accepted";
}

void expect_space(const Problem& problem, const std::vector<Block>& blocks, int objectives) {
  EXPECT_EQ(problem.objective->space().blocks(), blocks) << problem.identity.name;
  EXPECT_EQ(problem.objective->space().outputs(), objectives) << problem.identity.name;
  EXPECT_EQ(problem.objectives->names.size(), static_cast<std::size_t>(objectives));
  const std::vector<bool> minimised(static_cast<std::size_t>(objectives), false);
  EXPECT_EQ(problem.objectives->maximized, minimised) << problem.identity.name;
}

TEST(MultiObjectiveNames, SayWhatIsMade) {
  using namespace problems;
  expect_space(zdt_by_name("1"), {{BlockKind::real, 30, 0, 1}}, 2);
  expect_space(zdt_by_name("4,7"), {{BlockKind::real, 1, 0, 1}, {BlockKind::real, 6, -5, 5}}, 2);
  expect_space(zdt_by_name("5"), {{BlockKind::binary, 80, 0, 1}}, 2);
  expect_space(dtlz_by_name("7,4"), {{BlockKind::real, 23, 0, 1}}, 4);
  expect_space(dtlz_by_name("2,3,4"), {{BlockKind::real, 6, 0, 1}}, 3);
  expect_space(cdtlz_by_name("c1-dtlz1,5"), {{BlockKind::real, 9, 0, 1}}, 5);
  EXPECT_TRUE(cdtlz_by_name("c2-dtlz2").objectives->constrained);
  EXPECT_FALSE(dtlz_by_name("2").objectives->constrained);
  expect_space(wfg_by_name("4"), {{BlockKind::real, 6, 0, 1}}, 2);
  expect_space(wfg_by_name("9,3,6,20"), {{BlockKind::real, 26, 0, 1}}, 3);
  EXPECT_EQ(engineering_design_by_name("35").objective->space().variables(), 7);
  expect_space(engineering_design_by_name("36"), {{BlockKind::integer, 4, 12, 60}}, 3);
  EXPECT_EQ(zdt_by_name("1,30").identity.name, "zdt:1");
  EXPECT_EQ(zdt_by_name("1,31").identity.name, "zdt:1,31");
  EXPECT_EQ(dtlz_by_name("1,3,7").identity.name, "dtlz:1,3,7");
  EXPECT_EQ(wfg_by_name("2,3,4,10").identity.name, "wfg:2,3,4,10");
  EXPECT_EQ(wfg_by_name("2,3").identity.name, "wfg:2,3");
  EXPECT_EQ(cdtlz_by_name("c3-dtlz4,2").identity.name, "cdtlz:c3-dtlz4,2");
  EXPECT_EQ(zdt_by_name("3").identity.family, "zdt");
  EXPECT_EQ(engineering_design_by_name("21").objectives->names,
            (std::vector<std::string>{"volume [cm^3]", "displacement [cm]"}));
}

TEST(MultiObjectiveNames, AreExplainedWhereTheyAreRefused) {
  using namespace problems;
  EXPECT_EQ(message(zdt_by_name, "1;30"),
            "'zdt:1;30' does not have the form zdt:NUMBER,D / "
            "NUMBER is 1 to 6; the number of variables D is optional");
  EXPECT_EQ(message(cdtlz_by_name, "c1-dtlz2"),
            "unknown cdtlz 'c1-dtlz2' / "
            "available: c1-dtlz1, c1-dtlz3, c2-dtlz2, c3-dtlz1, c3-dtlz4");
  EXPECT_EQ(message(wfg_by_name, "2,2,2,3"),
            "wfg:2,2,2,3: the number of distance variables is 3 / an even number");
  EXPECT_EQ(message(dtlz_by_name, "2,1"), "dtlz:2,1: there is 1 objective / 2 .. 16");
  EXPECT_EQ(message(dtlz_by_name, "2,17"), "dtlz:2,17: there are 17 objectives / 2 .. 16");
  EXPECT_EQ(message(zdt_by_name, "5,36"),
            "zdt:5,36: there are 36 variables / "
            "30 bits for the first variable and 5 bits for each other variable: 35, 40, 45, ...");
  EXPECT_EQ(message(engineering_design_by_name, "26"),
            "unknown re '26' / available: 21 .. 25, 31 .. 37");
}

TEST(MultiObjectiveNames, OfWhatThereIsNotAreRefused) {
  using namespace problems;
  for (const char* text : {"", "x", "1,", "1;30", "1,30,", "1,30,2", "1.5", "1,x", " 1"}) {
    EXPECT_EQ(refusal(zdt_by_name, text), "problem.parameters") << text;
  }
  EXPECT_EQ(refusal(dtlz_by_name, "2,3,10,1"), "problem.parameters");
  EXPECT_EQ(refusal(wfg_by_name, "4,2,2,4,1"), "problem.parameters");
  EXPECT_EQ(refusal(engineering_design_by_name, "21,3"), "problem.parameters");
  for (const char* text : {"c1-dtlz1,", "c1-dtlz1,x", "c1-dtlz1,3,3"}) {
    EXPECT_EQ(refusal(cdtlz_by_name, text), "problem.parameters") << text;
  }
  for (const char* text : {"0", "7", "-1"}) {
    EXPECT_EQ(refusal(zdt_by_name, text), "problem.unknown") << text;
  }
  EXPECT_EQ(refusal(dtlz_by_name, "8"), "problem.unknown");
  EXPECT_EQ(refusal(wfg_by_name, "10"), "problem.unknown");
  for (const char* text : {"20", "26", "30", "38", "41"}) {
    EXPECT_EQ(refusal(engineering_design_by_name, text), "problem.unknown") << text;
  }
  for (const char* text : {"", "c1-dtlz2", "c1-dtlz11", "dtlz1", "c2-dtlz2 "}) {
    EXPECT_EQ(refusal(cdtlz_by_name, text), "problem.unknown") << text;
  }
  for (const char* text : {"1,0", "1,1", "5,30", "5,36", "1,-3", "1,2000000", "1,99999999999"}) {
    EXPECT_EQ(refusal(zdt_by_name, text), "problem.size") << text;
  }
  for (const char* text : {"1,1", "1,17", "1,0", "1,3,0", "1,3,2000000"}) {
    EXPECT_EQ(refusal(dtlz_by_name, text), "problem.size") << text;
  }
  for (const char* text : {"1,1", "1,17", "1,3,3", "2,2,2,3", "1,2,30,35", "4,2,2147483647,4"}) {
    EXPECT_EQ(refusal(wfg_by_name, text), "problem.size") << text;
  }
  EXPECT_EQ(refusal(cdtlz_by_name, "c1-dtlz1,17"), "problem.size");
}

}  // namespace
}  // namespace kiln::multi_objective_fronts_test
