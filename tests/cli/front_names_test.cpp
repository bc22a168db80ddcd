// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What fronts and their files call things, and where a front has no knee.
#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "program.hpp"

namespace kiln::test::front_names_test {
namespace {

using nlohmann::json;
using FrontNames = ProgramTest;

// A file may leave the units out; with others than the problem's it is about something else.
TEST_F(FrontNames, NamesAndUnitsStandInEveryFile) {
  const std::vector<std::string> models{"--schedule", "bayesian-front", "--evaluations"};
  const auto solved = [&](std::vector<std::string> more) {
    more.insert(more.begin(), models.begin(), models.end());
    return run(solve("re:21", std::move(more)));
  };
  const Outcome first = solved({"12", "-o", "units"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_NE(first.err.find("minimise volume [cm^3], displacement [cm]"), std::string::npos);
  EXPECT_NE(first.out.find("\n  variables "), std::string::npos) << first.out;
  EXPECT_NE(first.out.find(" cm^2   area 4 = "), std::string::npos) << first.out;
  const std::string areas = "area 1 [cm^2],area 2 [cm^2],area 3 [cm^2],area 4 [cm^2]";
  const std::string front = read("units/front.csv"), past = read("units/evaluations.csv");
  EXPECT_EQ(front.rfind("volume [cm^3],displacement [cm]," + areas + "\n", 0), 0u) << front;
  EXPECT_EQ(past.rfind("study,batch," + areas + ",volume [cm^3],displacement [cm]\n", 0), 0u);
  EXPECT_NE(read("units/solution.txt").find("  # area 4 [cm^2]\n"), std::string::npos);
  EXPECT_NE(read("units/front.svg").find(">displacement [cm]</text>"), std::string::npos);
  EXPECT_EQ(json::parse(read("units/result.json"))["named_solution"].size(), 4u);

  const auto with = [&](const std::string& text, const std::string& header) {
    write("other.csv", header + text.substr(text.find('\n')));
  };
  with(past, "study,batch,area 1,x[2],area 3,area 4,volume,displacement");
  EXPECT_EQ(solved({"2", "-q", "--past", "other.csv"}).exit_code, 0);
  with(past, "study,batch,area 1 [mm^2],x[2],area 3,area 4,volume,displacement");
  EXPECT_EQ(solved({"2", "-q", "--past", "other.csv"}).exit_code, 3);
  for (const auto& [header, accepted] : std::vector<std::pair<std::string, bool>>{
           {"volume,displacement,a,b,c,d", true}, {"volume [in^3],displacement,a,b,c,d", false}}) {
    with(front, header);
    const Outcome beside = solved({"2", "--json", "--reference-front", "other.csv"});
    EXPECT_EQ(beside.exit_code == 0, accepted) << header << beside.err;
  }
}

/// The objectives in the rows of front.csv.
std::vector<std::vector<long double>> rows_of(const std::string& csv, std::size_t objectives) {
  std::vector<std::vector<long double>> rows;
  std::istringstream lines(csv);
  std::string line, cell;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    rows.emplace_back();
    while (rows.back().size() < objectives && std::getline(cells, cell, ',')) {
      rows.back().push_back(std::stold(cell));
    }
  }
  return rows;
}

/// Of the rows of front.csv the one nearest to the least values, objectives scaled by their ranges:
/// by looking at each, in long double.
std::size_t nearest_row(const std::string& csv, std::size_t objectives) {
  const std::vector<std::vector<long double>> rows = rows_of(csv, objectives);
  std::vector<long double> low = rows.at(0), high = low, far(rows.size(), 0);
  for (const auto& row : rows) {
    for (std::size_t k = 0; k < objectives; ++k) {
      low[k] = std::min(low[k], row[k]);
      high[k] = std::max(high[k], row[k]);
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t k = 0; k < objectives; ++k) {
      far[i] = std::max(far[i], (rows[i][k] - low[k]) / (high[k] - low[k]));
    }
  }
  return static_cast<std::size_t>(std::ranges::min_element(far) - far.begin());
}

// A quarter of a circle around the ideal bulges away from it, and ends are not what users want.
TEST_F(FrontNames, AFrontWithoutAKneeHandsOutTheMemberNearestToTheIdeal) {
  const Outcome bulging = run(solve("dtlz:2,2", {"--sweeps", "150", "-o", "bulging"}));
  EXPECT_NE(bulging.out.find("\n  no knee        "), std::string::npos) << bulging.out;
  EXPECT_NE(bulging.out.find("\n  solution       "), std::string::npos) << bulging.out;
  EXPECT_EQ(bulging.out.find("\n  knee "), std::string::npos) << bulging.out;
  const json result = json::parse(read("bulging/result.json")), front = result["front"];
  EXPECT_EQ(front["knee"], nullptr);
  const auto chosen = front["chosen"].get<std::size_t>();
  EXPECT_EQ(chosen, nearest_row(read("bulging/front.csv"), 2));
  EXPECT_EQ(result["solution"], front["solutions"][chosen]);
  for (const json& end : front["extremes"]) EXPECT_NE(end, chosen);
  EXPECT_EQ(read("bulging/front.svg").find(">knee"), std::string::npos);
  const json hollow = result_of(run(solve("zdt:1", {"--sweeps", "150", "--json"})))["front"];
  EXPECT_EQ(hollow["knee"], hollow["chosen"]);
}

// A sphere around the ideal has no knee, however few members of a short run are still out on an
// axis. The nearest member is not at the end of an axis, whose squares are 1, 0 and 0.
TEST_F(FrontNames, ASphereHasNoKneeWhateverTheSeed) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> seeds{
      {"dtlz:2", {"2", "20", "34"}}, {"dtlz:2,4", {"1", "27", "36"}}};
  for (const auto& [problem, of_problem] : seeds) {
    for (const std::string& seed : of_problem) {
      const std::string folder = problem.substr(5) + "_" + seed;
      const Outcome outcome = run(solve(problem, {"--seed", seed, "-o", folder}));
      EXPECT_EQ(outcome.out.find("\n  knee "), std::string::npos) << outcome.out;
      EXPECT_NE(outcome.out.find("is close to an end of the front"), std::string::npos)
          << outcome.out;
      const json front = json::parse(read(folder + "/result.json"))["front"];
      EXPECT_EQ(front["knee"], nullptr);
      const std::size_t objectives = front["objectives"].size();
      const auto chosen = front["chosen"].get<std::size_t>();
      EXPECT_EQ(chosen, nearest_row(read(folder + "/front.csv"), objectives));
      for (const json& value : front["points"][chosen]) {
        EXPECT_LT(value.get<double>(), 0.9) << problem << ' ' << seed;
      }
    }
  }
  for (const char* convex : {"zdt:1", "zdt:3", "re:24"}) {
    const json front = result_of(run(solve(convex, {"--json"})))["front"];
    EXPECT_EQ(front["knee"], front["chosen"]) << convex;
  }
}

// No choice of two items is better in one profit and worse in the other.
TEST_F(FrontNames, AFrontOfOneMemberSaysSo) {
  const Outcome outcome = run(solve("knapsack:2,2,1", {"--sweeps", "5", "-o", "one"}));
  ASSERT_EQ(json::parse(read("one/result.json"))["front"]["points"].size(), 1U);
  EXPECT_NE(outcome.out.find("\nfront  1 member   hypervolume "), std::string::npos) << outcome.out;
  const std::string reason = "   a front of fewer than three members has no knee\n";
  EXPECT_NE(outcome.out.find(reason), std::string::npos) << outcome.out;
}

// What the advice says can be pasted: no member lies beyond that reference.
TEST_F(FrontNames, AdviceHasAReferenceThatAllMembersDominate) {
  const std::vector<std::array<std::string, 3>> cases{
      {"re:33", "reference=2,3,1", "brake"}, {"knapsack:30,2,1", "reference=1e6,1e6", "sack"}};
  for (const auto& [problem, tight, folder] : cases) {
    const Outcome outcome = run(solve(problem, {"--sweeps", "60", "-o", folder, "-p", tight}));
    const std::string begin = "-p reference=";
    const json result = json::parse(read(folder + "/result.json"));
    ASSERT_EQ(result["advice"].size(), 1U) << outcome.err;
    const std::string advice = result["advice"][0];
    const std::size_t at = advice.find(begin) + begin.size();
    const std::string reference = advice.substr(at, advice.find(' ', at) - at);
    std::vector<double> numbers;
    std::istringstream cells(reference);
    for (std::string cell; std::getline(cells, cell, ',');) numbers.push_back(std::stod(cell));
    ASSERT_EQ(numbers.size(), result["front"]["objectives"].size()) << advice;
    const auto rows = rows_of(read(folder + "/front.csv"), numbers.size());
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const bool most = result["front"]["senses"][k] == "maximize";
      const auto values = [&](const auto& row) { return most ? -row[k] : row[k]; };
      const long double worst = std::ranges::max(rows, {}, values)[k];
      const long double best = std::ranges::min(rows, {}, values)[k];
      // About a tenth of the range beyond, and not a range or nothing.
      const long double beyond = (numbers[k] - worst) / (worst - best);
      EXPECT_GT(beyond, 0.04) << problem << " " << k;
      EXPECT_LT(beyond, 0.16) << problem << " " << k;
    }
    // Another run has other members, but takes the numbers as they stand.
    const json again =
        result_of(run(solve(problem, {"--sweeps", "6", "--json", "-p", "reference=" + reference})));
    EXPECT_EQ(again["front"]["reference"].size(), numbers.size());
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      EXPECT_NEAR(again["front"]["reference"][k].get<double>(), numbers[k],
                  1e-9 * std::abs(numbers[k]));
    }
  }
}

}  // namespace
}  // namespace kiln::test::front_names_test
