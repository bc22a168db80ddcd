// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What fronts and their files call things, and where a front has no knee.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
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
  const std::vector<std::string> models{"-p", "strategy=surrogate", "--sweeps"};
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

// Of a quarter of a circle around the ideal no point is nearer to it than the ends.
TEST_F(FrontNames, AFrontWithoutAKneeSaysSo) {
  const Outcome bulging = run(solve("dtlz:2,2", {"--sweeps", "150", "-o", "bulging"}));
  EXPECT_NE(bulging.out.find("\n  no knee        "), std::string::npos) << bulging.out;
  EXPECT_EQ(bulging.out.find("\n  knee "), std::string::npos) << bulging.out;
  const json front = json::parse(read("bulging/result.json"))["front"];
  EXPECT_EQ(front["knee"], nullptr);
  // By the first objective the members go from end to end.
  const auto low = [&](const json& point) {
    const json& first = front["points"].front();
    const json& last = front["points"].back();
    double sum = 0;
    for (std::size_t k = 0; k < 2; ++k) {
      const double a = first[k].get<double>(), b = last[k].get<double>();
      sum += (point[k].get<double>() - std::min(a, b)) / std::abs(a - b);
    }
    return sum;
  };
  const auto chosen = front["chosen"].get<std::size_t>();
  for (const json& point : front["points"])
    EXPECT_GE(low(point), low(front["points"][chosen]) - 1e-9);
  EXPECT_EQ(read("bulging/front.svg").find(">knee"), std::string::npos);
  const json hollow = result_of(run(solve("zdt:1", {"--sweeps", "150", "--json"})))["front"];
  EXPECT_EQ(hollow["knee"], hollow["chosen"]);
}

}  // namespace
}  // namespace kiln::test::front_names_test
