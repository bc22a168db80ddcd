// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// A report on several runs compares runs of one problem, and no others.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "program.hpp"
#include "report/report_page.hpp"

namespace kiln::test::report_problems_test {
namespace {

using nlohmann::json;

class ReportOfProblems : public ProgramTest {
 protected:
  void solve_to(const std::string& folder, const std::string& problem,
                const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"solve", problem, "--device", "cpu", "-q", "-o", folder};
    if (std::ranges::find(more, "--sweeps") == more.end()) {
      words.insert(words.end(), {"--sweeps", "20"});
    }
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run(words);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  std::string report_on(std::vector<std::string> folders) const {
    folders.insert(folders.begin(), "report");
    folders.insert(folders.end(), {"-o", "all.html"});
    const Outcome outcome = run(folders);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return read("all.html");
  }
  static std::vector<std::string> headings_of(const std::string& html) {
    const std::regex heading("<h2>([^<]*)</h2>");
    std::vector<std::string> headings;
    for (std::sregex_iterator at(html.begin(), html.end(), heading), end; at != end; ++at)
      headings.push_back((*at)[1]);
    return headings;
  }
  static std::multiset<std::string> medians_of(const std::string& html) {
    std::multiset<std::string> medians;
    for (const auto& [field, value] : fields_of(html)) {
      if (field.starts_with("median.")) medians.insert(value);
    }
    return medians;
  }
  std::string fingerprint_of(const std::string& folder) const {
    return json::parse(read(folder + "/run.json"))["problem"]["fingerprint"];
  }
};

// Oscillators have no temperature: their round and pump take its place.
TEST_F(ReportOfProblems, ASchedulesNumbersTakeThePlaceOfTemperatures) {
  const std::string of_moves = "Inverse temperature";
  solve_to("moves", "torus:60x60,1", {"--sweeps", "3000"});
  EXPECT_NE(report_on({"moves"}).find(of_moves), std::string::npos);
  solve_to("oscillators", "torus:60x60,1", {"--sweeps", "3000", "--schedule", "sb"});
  std::filesystem::remove(folder_ / "all.html");
  const std::string page = report_on({"oscillators"});
  EXPECT_NE(page.find("Pump"), std::string::npos);
  EXPECT_EQ(page.find(of_moves), std::string::npos);
  EXPECT_EQ(page.find("Acceptance of moves"), std::string::npos);
}

// Both are g.rud, a path of four vertices. All of its edges can be cut: weights 1 + 1 + 1, and
// 1 + 1 + 7.
TEST_F(ReportOfProblems, FilesOfOneNameWithOtherContentsAreProblemsOfTheirOwn) {
  for (const auto& [place, last] : {std::pair{"A", "3 4 1"}, {"B", "3 4 7"}}) {
    write("g.rud", std::string("4 3\n1 2 1\n2 3 1\n") + last + "\n");
    solve_to(place, "g.rud");
  }
  const std::string html = report_on({"A", "B"});
  EXPECT_EQ(
      headings_of(html),
      (std::vector<std::string>{"g.rud (fingerprint " + fingerprint_of("A").substr(0, 8) + ")",
                                "g.rud (fingerprint " + fingerprint_of("B").substr(0, 8) + ")"}));
  EXPECT_EQ(medians_of(html), (std::multiset<std::string>{"3", "9"}));
  EXPECT_EQ(html.find("differ by their seeds"), std::string::npos);
  EXPECT_NE(html.find("One run only."), std::string::npos);
}

// Fingerprints of edges leave out how many colours there are; the digits grow until they differ.
TEST_F(ReportOfProblems, TitlesHaveWhatDistinguishesThem) {
  for (const auto& [folder, fingerprint, n] : {std::tuple{"A", "0123456789abcdef", "4"},
                                               {"B", "0123456789abxdef", "4"},
                                               {"C", "0123456789abcdef", "5"}}) {
    solve_to(folder, "torus:4x4,1");
    json document = json::parse(read(std::string(folder) + "/run.json"));
    document["problem"]["fingerprint"] = fingerprint;
    document["problem"]["sizes"]["n"] = n;
    write(std::string(folder) + "/run.json", document.dump());
  }
  EXPECT_EQ(headings_of(report_on({"A", "B", "C"})),
            (std::vector<std::string>{"torus:4x4,1 (fingerprint 0123456789abc, n 4)",
                                      "torus:4x4,1 (fingerprint 0123456789abx, n 4)",
                                      "torus:4x4,1 (fingerprint 0123456789abc, n 5)"}));
  EXPECT_EQ(headings_of(report_on({"A", "A"})), (std::vector<std::string>{"torus:4x4,1"}));
}

TEST_F(ReportOfProblems, DataOfAModelBelongToTheProblem) {
  for (const auto& [folder, y] : {std::pair{"A", "5"}, {"B", "9"}}) {
    write("d.csv", std::string("x,y\n1,2\n2,4\n3,3\n4,") + y + "\n");
    const Outcome outcome =
        run({"sample", "posterior:linear-regression,y", "--data", "d.csv", "--draws", "20",
             "--warmup", "20", "--chains", "4", "--device", "cpu", "-q", "-o", folder});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  const std::vector<std::string> headings = headings_of(report_on({"A", "B"}));
  ASSERT_EQ(headings.size(), 2u);
  EXPECT_NE(headings[0].find("(fingerprint " + fingerprint_of("A").substr(0, 8)), std::string::npos)
      << headings[0];
  EXPECT_NE(headings[1].find("(fingerprint " + fingerprint_of("B").substr(0, 8)), std::string::npos)
      << headings[1];
}

// The best of each sense is the target of the runs with this sense.
TEST_F(ReportOfProblems, SensesAreComparedApart) {
  solve_to("max", "torus:8x8,1", {"--maximize"});
  solve_to("min", "torus:8x8,1", {"--minimize"});
  solve_to("natural", "torus:8x8,1", {"--seed", "2"});
  const std::string html = report_on({"max", "min", "natural"});
  EXPECT_EQ(headings_of(html),
            (std::vector<std::string>{"torus:8x8,1 (maximised)", "torus:8x8,1 (minimised)"}));
  const auto best = [&](const std::string& folder) {
    return json::parse(read(folder + "/result.json"))["objective"]["best"].get<double>();
  };
  ASSERT_GT(best("max"), 0);
  ASSERT_LT(best("min"), 0);
  EXPECT_TRUE(medians_of(html).contains(fmt::format("{}", best("min"))));
  EXPECT_EQ(html.find("not reached"), std::string::npos) << "each run reaches its own best";
  EXPECT_NE(html.find("The runs have equal settings and differ by their seeds."), std::string::npos)
      << "the sense is natural to the problem, whether it was given or not";
}

// The weighed values of a scalarised run are at first greater than any hypervolume of zdt:1, and
// it minimises them. Its hypervolume is known at its end.
TEST_F(ReportOfProblems, WeighedValuesAreNoHypervolumes) {
  const Outcome front =
      run({"solve", "zdt:1", "--generations", "40", "--device", "cpu", "-q", "-o", "front"});
  ASSERT_EQ(front.exit_code, 0) << front.err;
  solve_to("weighed", "zdt:1", {"--schedule", "simulated-annealing"});
  const auto best = [&](const std::string& folder) {
    return json::parse(read(folder + "/result.json"))["objective"]["best"].get<double>();
  };
  ASSERT_LT(best("weighed"), best("front"));
  const json first = json::parse(lines_of(read("weighed/incumbents.ndjson")).front());
  ASSERT_GT(first["value"].get<double>(), best("front"));

  const std::string both = report_on({"front", "weighed"});
  EXPECT_EQ(headings_of(both), (std::vector<std::string>{"zdt:1"}));
  EXPECT_NE(both.find("1 of 1 runs by "), std::string::npos);
  EXPECT_EQ(both.find("1 of 1 runs by "), both.rfind("1 of 1 runs by ")) << "the front alone";
  EXPECT_NE(both.find(">not reached</td>"), std::string::npos);

  const std::string one = read("weighed/report.html");
  const std::size_t curves = one.find("<figcaption>Best and mean against work</figcaption>");
  ASSERT_NE(curves, std::string::npos);
  const std::string chart = one.substr(curves, one.find("</figure>", curves) - curves);
  EXPECT_NE(chart.find(">weighed value</text>"), std::string::npos);
  EXPECT_EQ(chart.find(">hypervolume</text>"), std::string::npos);
}

TEST_F(ReportOfProblems, SeedsThatAreTheSameAreSaidToBe) {
  const auto seed = [&](const std::string& folder, const std::string& number) {
    solve_to(folder, "torus:4x4,1", {"--seed", number});
  };
  seed("a", "1");
  seed("b", "1");
  seed("c", "2");
  const std::string differ = "The runs have equal settings and differ by their seeds.";
  EXPECT_NE(report_on({"a", "c"}).find(differ), std::string::npos);
  const std::string same = report_on({"a", "b"});
  EXPECT_EQ(same.find(differ), std::string::npos);
  EXPECT_NE(same.find("The runs have equal settings. Their seed is the same, too."),
            std::string::npos);
  EXPECT_NE(report_on({"a", "b", "c"}).find("Some of them have the same seed."), std::string::npos);
}

}  // namespace
}  // namespace kiln::test::report_problems_test
