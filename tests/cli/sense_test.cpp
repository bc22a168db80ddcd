// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Which end of its values a problem is searched for, against both ends by enumeration.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <utility>

#include "program.hpp"

namespace kiln::test::sense_test {
namespace {

using Json = nlohmann::json;

constexpr int n = 9;

struct Term {
  int i, j;
  double value;
};

// Weights of both signs, so that neither end is trivial.
std::vector<Term> pairs() {
  std::vector<Term> terms;
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) {
      if ((i + 2 * j) % 3 == 0) continue;
      terms.push_back({i, j, static_cast<double>((7 * i + 5 * j) % 11 - 5)});
    }
  }
  return terms;
}

// The least and the greatest value over all states of n digits below q.
std::pair<double, double> ends_of(int q,
                                  const std::function<double(const std::array<int, n>&)>& value) {
  std::pair ends{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  std::array<int, n> state{};
  for (;;) {
    const double v = value(state);
    ends = {std::min(ends.first, v), std::max(ends.second, v)};
    std::size_t digit = 0;
    while (digit < n && ++state[digit] == q) state[digit++] = 0;
    if (digit == n) return ends;
  }
}

template <class Share>
std::pair<double, double> ends_of_pairs(int q, Share share) {
  return ends_of(q, [&](const std::array<int, n>& x) {
    double sum = 0;
    for (const Term& t : pairs()) {
      sum += t.value * share(x[static_cast<std::size_t>(t.i)], x[static_cast<std::size_t>(t.j)]);
    }
    return sum;
  });
}

std::string lines_of(const std::string& head, int first) {
  std::string text = head;
  for (const Term& t : pairs()) {
    text += std::to_string(t.i + first) + " " + std::to_string(t.j + first) + " " +
            std::to_string(static_cast<int>(t.value)) + "\n";
  }
  return text;
}

class SenseOf : public ProgramTest {
 public:
  Json objective(std::vector<std::string> words, const std::string& sense) const {
    std::vector<std::string> all{"solve"};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"--device", "cpu", "--sweeps", "200", "--json", "-q"});
    if (!sense.empty()) all.push_back(sense);
    const Outcome outcome = run(all);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const Json json = Json::parse(outcome.out, nullptr, false);
    EXPECT_TRUE(json.is_object() && json.at("verified")) << outcome.out;
    return json.is_object() ? json.at("objective") : Json{};
  }

  void expect_ends(const std::string& problem, const std::string& name,
                   std::pair<double, double> ends, bool maximized_by_nature) const {
    const Json least = objective({problem}, "--minimize");
    EXPECT_EQ(least.at("best"), ends.first) << problem;
    EXPECT_EQ(least.at("sense"), "minimize") << problem;
    EXPECT_EQ(least.at("name"), name) << problem;
    const Json greatest = objective({problem}, "--maximise");
    EXPECT_EQ(greatest.at("best"), ends.second) << problem;
    EXPECT_EQ(greatest.at("sense"), "maximize") << problem;
    EXPECT_EQ(objective({problem}, ""), maximized_by_nature ? greatest : least) << problem;
  }
};

TEST_F(SenseOf, FilesIsTurnedAndNeverByItself) {
  const std::string m = std::to_string(pairs().size());
  write("cut.rud", lines_of(std::to_string(n) + " " + m + "\n", 1));
  expect_ends("cut.rud", "cut", ends_of_pairs(2, [](int a, int b) { return a != b ? 1 : 0; }),
              true);
  write("model.qubo", lines_of("p qubo 0 " + std::to_string(n) + " 0 " + m + "\n", 0));
  expect_ends("model.qubo", "value", ends_of_pairs(2, [](int a, int b) { return a * b; }), false);
  write("model.coo", lines_of("# vartype=SPIN\n", 0));
  expect_ends("model.coo", "energy",
              ends_of_pairs(2, [](int a, int b) { return (2 * a - 1) * (2 * b - 1); }), false);
}

TEST_F(SenseOf, ColouringsAndFunctionsIsTurned) {
  // All vertices of one colour: every edge of a Mycielski graph of 11 vertices conflicts.
  expect_ends("coloring:myciel3,4", "conflicts", {0, 20}, false);
  // The greatest value of branin on its box is at the corner (-5, 0).
  using std::numbers::pi;
  const double corner = std::pow(-5.1 / (4 * pi * pi) * 25 - 25 / pi - 6, 2) +
                        10 * (1 - 1 / (8 * pi)) * std::cos(-5.0) + 10;
  const Json greatest = objective({"function:branin"}, "--maximize");
  EXPECT_NEAR(greatest.at("best").get<double>(), corner, 0.01 * corner);
  EXPECT_EQ(greatest.at("sense"), "maximize");
}

TEST_F(SenseOf, FamiliesIsTurned) {
  const double greatest = objective({"torus:3x3,1"}, "").at("best");
  const double least = objective({"torus:3x3,1"}, "--minimize").at("best");
  EXPECT_LT(least, greatest);
  // A cut and its complement are the same, and an empty cut is 0.
  EXPECT_LE(least, 0);
}

TEST_F(SenseOf, EveryProblemIsSaid) {
  for (const auto& [problem, aim] : std::vector<std::pair<std::string, std::string>>{
           {"torus:8x8,1", "maximise cut"},
           {"sk:9,1", "minimise energy"},
           {"coloring:myciel3,4", "minimise conflicts"},
           {"function:branin", "minimise value"},
           {"zdt:1", "minimise f1, f2"},
           {"cutpair:20,50,1", "maximise "},
           {"re:33", "minimise mass [kg], stopping time [s], violation"}}) {
    const Outcome outcome = run({"solve", problem, "--device", "cpu", "--sweeps", "4"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("   " + aim), std::string::npos) << problem << outcome.err;
    const Outcome checked = run({"check", problem});
    EXPECT_NE(checked.out.find(" " + aim), std::string::npos) << problem << checked.out;
  }
}

TEST_F(SenseOf, ATableWithoutOneSaysWhichItTook) {
  write("t.csv", "a,b,loss\n1,2,3.5\n2,1,0.25\n3,3,9\n1,1,4\n");
  const std::vector<std::string> words{"solve", "table:t.csv", "--objective",
                                       "loss",  "-p",          "evaluations=4"};
  const std::string note = "'loss' is maximised by default; --minimize minimises it";
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const Outcome plain = run(with({"-o", "r"}));
  EXPECT_NE(plain.err.find("note         " + note), std::string::npos) << plain.err;
  EXPECT_NE(plain.out.find("loss 9 (maximised)"), std::string::npos) << plain.out;
  EXPECT_EQ(Json::parse(read("r/run.json")).at("notes").at(0), note);
  EXPECT_EQ(Json::parse(read("r/result.json")).at("problem").at("notes").at(0), note);
  for (const char* option : {"--minimize", "--minimise", "--sense=minimise"}) {
    const Outcome turned = run(with({option}));
    EXPECT_EQ(turned.err.find("by default"), std::string::npos) << turned.err;
    EXPECT_NE(turned.out.find("loss 0.25 (minimised)"), std::string::npos) << turned.out;
  }
}

TEST_F(SenseOf, NothingIsRefusedWithAFix) {
  for (const char* problem : {"zdt:1", "posterior:eight-schools"}) {
    const Outcome outcome = run({"solve", problem, "--maximize"});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find("error[problem.sense]"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("fix: remove"), std::string::npos) << outcome.err;
  }
  EXPECT_NE(run(short_run({"--minimize", "--maximize"})).err.find("error[cli.conflict]"),
            std::string::npos);
  EXPECT_NE(run(short_run({"--sense", "up"})).err.find("neither minimize nor maximize"),
            std::string::npos);
}

TEST_F(SenseOf, ACommandLineGoesBeforeARecordedRun) {
  EXPECT_EQ(run(short_run({"--minimize", "-o", "r"})).exit_code, 0);
  const Json first = Json::parse(read("r/result.json")).at("objective");
  EXPECT_EQ(first.at("sense"), "minimize");
  EXPECT_EQ(run({"solve", "--repeat", "r", "-o", "same"}).exit_code, 0);
  EXPECT_EQ(Json::parse(read("same/result.json")).at("objective"), first);
  EXPECT_EQ(run({"solve", "--repeat", "r", "--maximize", "-o", "other"}).exit_code, 0);
  EXPECT_EQ(Json::parse(read("other/result.json")).at("objective").at("sense"), "maximize");
}

// A missed target is an answer, not an error; what scripts ask for is in the exit code.
TEST_F(SenseOf, TargetsAreReachedOrSaidToBeMissed) {
  const Outcome missed = run(short_run({"--target", "1000", "-o", "r"}));
  EXPECT_EQ(missed.exit_code, 10);
  EXPECT_EQ(missed.err.find("error"), std::string::npos) << missed.err;
  EXPECT_NE(missed.err.find("stop         after 50 sweeps or at target 1000\n"), std::string::npos)
      << missed.err;
  EXPECT_NE(missed.out.find("the target 1000 was not reached\n"), std::string::npos) << missed.out;
  EXPECT_EQ(Json::parse(read("r/run.json")).at("target"), 1000);
  const Json objective = Json::parse(read("r/result.json")).at("objective");
  EXPECT_EQ(objective.at("target"), 1000);
  EXPECT_EQ(objective.at("target_reached"), false);

  const Outcome reached = run(short_run({"--target", "1", "--json", "-q"}));
  EXPECT_EQ(reached.exit_code, 0);
  EXPECT_EQ(Json::parse(reached.out).at("objective").at("target_reached"), true);
  EXPECT_EQ(Json::parse(run(short_run({"--json", "-q"})).out).at("objective").at("target_reached"),
            nullptr);
}

// 0.1 + 0.7 is less than 0.8 in binary, and such a run would go on for ever.
TEST_F(SenseOf, SumsOfDecimalWeightsReachTheirTarget) {
  write("t.rud", "3 2\n1 2 0.1\n2 3 0.7\n");
  const Outcome most =
      run({"solve", "t.rud", "--target", "0.8", "--time-limit", "20s", "--json", "-q"});
  EXPECT_EQ(most.exit_code, 0);
  EXPECT_EQ(Json::parse(most.out).at("stop"), "target_reached");
  write("u.rud", "4 3\n1 2 -0.1\n2 3 -0.7\n3 4 -0.1\n");
  const Outcome least = run(
      {"solve", "u.rud", "--minimize", "--target", "-0.9", "--time-limit", "20s", "--json", "-q"});
  EXPECT_EQ(least.exit_code, 0);
  EXPECT_EQ(Json::parse(least.out).at("stop"), "target_reached");
  // What is worse by more than rounding misses.
  const Outcome beyond = run({"solve", "t.rud", "--target", "0.800000000001", "--sweeps", "20"});
  EXPECT_EQ(beyond.exit_code, 10);
}

TEST_F(SenseOf, TheBestKnownValueIsATarget) {
  const Outcome known =
      run({"solve", "gset:G1", "--target", "best-known", "--time-limit", "20s", "--json", "-q"});
  EXPECT_EQ(known.exit_code, 0);
  EXPECT_EQ(Json::parse(known.out).at("objective").at("target"), 11624);
  const Outcome unknown = run(short_run({"--target", "best-known"}));
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("Kiln has no record of the greatest known cut of torus:8x8,1"),
            std::string::npos);
  // What is best in one sense is not in the other.
  EXPECT_EQ(run({"solve", "gset:G1", "--minimize", "--target", "best-known"}).exit_code, 2);
}

TEST_F(SenseOf, TheDistanceFromABestKnownZeroIsShown) {
  const Outcome outcome = run({"solve", "function:ackley-3", "--device", "cpu", "--sweeps", "4"});
  EXPECT_EQ(outcome.out.find("gap -"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("(best known 0)"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace kiln::test::sense_test
