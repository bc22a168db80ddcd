// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// --fix and --fix-file, against the best of all states that keep the fixed values.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "program.hpp"

namespace kiln::test::fixed_values_test {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

constexpr int n = 9;

struct Term {
  int i, j;
  int value;
};

std::vector<Term> pairs() {
  std::vector<Term> terms;
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) {
      if ((i + 2 * j) % 3 != 0) terms.push_back({i, j, (7 * i + 5 * j) % 11 - 5});
    }
  }
  return terms;
}

/// A text with the pairs; variables count from `first`.
std::string text_of(const std::string& head, int first) {
  std::string text = head;
  for (const Term& t : pairs()) {
    text += std::to_string(t.i + first) + " " + std::to_string(t.j + first) + " " +
            std::to_string(t.value) + "\n";
  }
  return text;
}

enum class Kind : std::uint8_t { cut, qubo, ising };

/// @param x  0 or 1 of a cut and a QUBO, -1 or 1 of an Ising model
int value_of(Kind kind, const std::vector<int>& x) {
  int sum = 0;
  for (const Term& t : pairs()) {
    const int a = x[static_cast<std::size_t>(t.i)], b = x[static_cast<std::size_t>(t.j)];
    sum += t.value * (kind == Kind::cut ? (a != b ? 1 : 0) : a * b);
  }
  return sum;
}

/// Number of a variable, from 0, and its value.
using Fixed = std::vector<std::pair<int, int>>;

bool keeps(const std::vector<int>& x, const Fixed& fixed) {
  return std::ranges::all_of(
      fixed, [&](const auto& one) { return x[static_cast<std::size_t>(one.first)] == one.second; });
}

int best_of(Kind kind, const Fixed& fixed, bool maximize) {
  const int low = kind == Kind::ising ? -1 : 0;
  int best = maximize ? -1000000 : 1000000;
  for (unsigned bits = 0; bits < 1U << n; ++bits) {
    std::vector<int> x;
    for (int i = 0; i < n; ++i) x.push_back((bits >> i & 1U) != 0 ? 1 : low);
    if (!keeps(x, fixed)) continue;
    const int value = value_of(kind, x);
    best = maximize ? std::max(best, value) : std::min(best, value);
  }
  return best;
}

std::vector<int> numbers_of(const std::string& text) {
  std::vector<int> numbers;
  for (const std::string& line : lines_of(text)) numbers.push_back(std::stoi(line));
  return numbers;
}

/// Two variables on values that no best state has together, among 1 and 7.
Fixed against(Kind kind, bool maximize) {
  const int low = kind == Kind::ising ? -1 : 0;
  for (const int a : {low, 1}) {
    for (const int b : {low, 1}) {
      const Fixed fixed{{1, a}, {7, b}};
      if (best_of(kind, fixed, maximize) != best_of(kind, {}, maximize)) return fixed;
    }
  }
  ADD_FAILURE() << "every pair of values is that of a best state";
  return {};
}

class FixedValues : public ProgramTest {
 protected:
  FixedValues() {
    const std::string m = std::to_string(pairs().size());
    write("cut.rud", text_of(std::to_string(n) + " " + m + "\n", 1));
    write("model.qubo", text_of("p qubo 0 " + std::to_string(n) + " 0 " + m + "\n", 0));
    write("model.coo", text_of("# vartype=SPIN\n", 0));
  }

  Outcome search(const std::string& file, Words more) const {
    more.insert(more.end(), {"--sweeps", "200", "--threads", "1", "-q"});
    return run(solve(file, std::move(more)));
  }

  /// @param first  the number of the first variable in texts of the format
  void expect_best(const std::string& file, Kind kind, int first, bool maximize) const {
    const Fixed fixed = against(kind, maximize);
    Words words{maximize ? "--maximize" : "--minimize", "--json", "-o"};
    const std::string folder = file + (maximize ? ".max" : ".min");
    words.push_back(folder);
    for (const auto& [variable, value] : fixed) {
      words.push_back("--fix");
      words.push_back(std::to_string(variable + first) + "=" + std::to_string(value));
    }
    const Json json = result_of(search(file, words));
    EXPECT_EQ(json["verified"], true) << file;
    EXPECT_EQ(json["objective"]["best"], best_of(kind, fixed, maximize)) << file;
    const std::vector<int> x = numbers_of(read(folder + "/solution.txt"));
    ASSERT_EQ(x.size(), static_cast<std::size_t>(n)) << "all variables are written";
    EXPECT_TRUE(keeps(x, fixed)) << read(folder + "/solution.txt");
    EXPECT_EQ(value_of(kind, x), json["objective"]["best"]) << "the whole model has another value";
    ASSERT_EQ(json["solution"].size(), static_cast<std::size_t>(n));
    if (kind != Kind::cut) {
      EXPECT_EQ(json["solution"], Json(x));
    }
  }
};

TEST_F(FixedValues, AreKeptByTheBestStateOfAFile) {
  for (const bool maximize : {false, true}) {
    expect_best("cut.rud", Kind::cut, 1, maximize);
    expect_best("model.qubo", Kind::qubo, 0, maximize);
    expect_best("model.coo", Kind::ising, 0, maximize);
  }
}

TEST_F(FixedValues, ComeFromAFileAndFromOneTextToo) {
  write("fixed.txt", "# sides\n\n2 1   # a side\n 8 = 0\n");
  const Fixed fixed{{1, 1}, {7, 0}, {3, 1}};
  for (const Words& words :
       {Words{"--fix-file", "fixed.txt", "--fix", "4=1"}, Words{"--fix", "2=1; 8=0;4=1;"}}) {
    Words all = words;
    all.push_back("--json");
    const Json json = result_of(search("cut.rud", all));
    EXPECT_EQ(json["objective"]["best"], best_of(Kind::cut, fixed, true));
  }
}

TEST_F(FixedValues, OfAGeneratedInstanceCountAsItsFormatDoes) {
  // The file of the instance has the same answer, and the number 0 exists in neither.
  ASSERT_EQ(run({"generate", "torus:5x4,3", "-o", "torus.rud"}).exit_code, 0);
  const Words fixed{"--fix", "20=1; 1=0; 2=0", "--json"};
  const Json named = result_of(search("torus:5x4,3", fixed)),
             read_back = result_of(search("torus.rud", fixed));
  EXPECT_EQ(named["solution"], read_back["solution"]);
  EXPECT_EQ(named["objective"]["best"], read_back["objective"]["best"]);
  EXPECT_EQ(named["solution"][19], -1) << "side 1 is spin -1";
  EXPECT_EQ(named["solution"][0], 1);
  EXPECT_NE(search("torus:5x4,3", {"--fix", "0=1"}).err.find("there is no variable '0'"),
            std::string::npos);
}

TEST_F(FixedValues, AreSaidInTheBannerAndByCheck) {
  const Outcome shown = run(solve("cut.rud", {"--sweeps", "20", "--fix", "2=1; 8=0"}));
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_NE(first_line(shown).find("fixed 2"), std::string::npos) << shown.err;
  const Json checked = Json::parse(run({"check", "cut.rud", "--fix", "2=1", "--json"}).out);
  EXPECT_EQ(checked["sizes"]["fixed"], 1);
  EXPECT_EQ(checked["sizes"]["vertices"], n);
  EXPECT_NE(checked["fingerprint"],
            Json::parse(run({"check", "cut.rud", "--json"}).out)["fingerprint"]);
}

TEST_F(FixedValues, StandInTheRecordOfARunAndAreRepeated) {
  const Words fixed{"--fix", "2=1", "--fix", "8=0", "-o", "run", "--json"};
  const Json first = result_of(search("cut.rud", fixed));
  const Json record = Json::parse(read("run/run.json"));
  EXPECT_EQ(record["options"]["fix"]["value"], "2=1; 8=0");
  const Json again = result_of(run({"solve", "--repeat", "run", "--json", "-q"}));
  EXPECT_EQ(again["solution"], first["solution"]);
  EXPECT_EQ(again["work"], first["work"]);
  // The command of the record is that of the run.
  Words command = record["command"];
  command.erase(command.begin());
  std::ranges::replace(command, std::string("run"), std::string("second"));
  EXPECT_EQ(result_of(run(command))["solution"], first["solution"]);
  // Other values are another problem.
  const Outcome other = run({"solve", "--repeat", "run", "--fix", "2=0", "-q"});
  EXPECT_EQ(other.exit_code, 3) << other.err << other.out;
  EXPECT_NE(other.err.find(": --fix=2=0, which was 2=1; 8=0\n"), std::string::npos) << other.err;
}

TEST_F(FixedValues, AreThoseOfARunThatIsResumed) {
  const Words fixed{"--fix", "2=1; 9=0; 25=1", "-o", "run", "--json", "-q", "--seed", "3"};
  Words half{"--sweeps", "100"}, whole{"--sweeps", "300"};
  half.insert(half.end(), fixed.begin(), fixed.end());
  const Json before = result_of(run(solve("torus:8x8,1", half)));
  const Json resumed = result_of(run({"resume", "run", "--sweeps", "300", "--json", "-q"}));
  EXPECT_EQ(resumed["work"]["sweeps"], 300);
  EXPECT_EQ(resumed["verified"], true);
  EXPECT_GE(resumed["objective"]["best"].get<double>(), before["objective"]["best"].get<double>());
  EXPECT_EQ(resumed["solution"].size(), 64U);
  const std::vector<int> x = numbers_of(read("run/solution.txt"));
  ASSERT_EQ(x.size(), 64U);
  EXPECT_TRUE(x[1] == 1 && x[8] == 0 && x[24] == 1);
}

TEST_F(FixedValues, TakeWholeInitialStates) {
  // The answer of a run is an initial state of the next, with all variables.
  result_of(search("model.qubo", {"--fix", "1=1; 7=0", "-o", "run", "--json"}));
  const Outcome next =
      search("model.qubo", {"--fix", "1=1; 7=0", "--initial", "run/solution.txt", "--json"});
  EXPECT_EQ(result_of(next)["objective"]["best"], best_of(Kind::qubo, {{1, 1}, {7, 0}}, false));
  const Outcome other = search("model.qubo", {"--fix", "1=0", "--initial", "run/solution.txt"});
  EXPECT_EQ(other.exit_code, 2) << other.err;
  EXPECT_NE(other.err.find("value 2 of 9 in a state is 1"), std::string::npos) << other.err;
  write("short.txt", "1\n0\n1\n0\n1\n0\n1\n");
  const Outcome some = search("model.qubo", {"--fix", "1=1; 7=0", "--initial", "short.txt"});
  EXPECT_EQ(some.exit_code, 3) << some.err;
}

// The reduced coefficient is -1e15, which is rounded: the values are no integers.
TEST_F(FixedValues, LeaveSumsThatAreRounded) {
  write("far.rud", "3 2\n1 3 1e-09\n2 3 -1000000000000000.0\n");
  for (const char* const seed : {"1", "2", "3"}) {
    const Json json = result_of(search("far.rud", {"--fix", "1=0", "--seed", seed, "--json"}));
    EXPECT_EQ(json["verified"], true) << seed;
  }
}

TEST_F(FixedValues, ThatAreWrongAreRefused) {
  const auto message = [&](const std::string& file, const Words& words) {
    const Outcome outcome = search(file, words);
    EXPECT_TRUE(outcome.exit_code == 2 || outcome.exit_code == 3) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  const auto expect = [&](const std::string& text, const std::string& file, const Words& words) {
    const std::string got = message(file, words);
    EXPECT_NE(got.find(text), std::string::npos) << got;
  };
  expect("error[problem.fixed]: --fix: there is no variable '10'\n  expected: a number 1 .. 9",
         "cut.rud", {"--fix", "10=1"});
  expect("a number 0 .. 8", "model.qubo", {"--fix", "9=1"});
  expect("variable 2 cannot have the value '2'\n  expected: 0 or 1", "cut.rud", {"--fix", "2=2"});
  expect("expected: -1 or 1", "model.coo", {"--fix", "2=0"});
  expect("'2' is not NAME=VALUE", "cut.rud", {"--fix", "2"});
  expect("'' is not NAME=VALUE", "cut.rud", {"--fix", ""});
  expect("there is no variable 'x'", "cut.rud", {"--fix", "x=1"});
  expect("variable 2 is fixed twice", "cut.rud", {"--fix", "2=1", "--fix", "2=1"});
  // The example of the fix is accepted.
  expect("\n  fix: for example --fix '1=1; 2=0'\n", "cut.rud", {"--fix", "10=1"});
  expect("\n  fix: for example --fix '0=1; 1=-1'\n", "model.coo", {"--fix", "2=0"});
  expect("\n  fix: for example --fix '7=1; 9=-1'\n", "sk:64,1", {"--fix", "0=0"});
  EXPECT_EQ(search("sk:64,1", {"--fix", "7=1; 9=-1"}).exit_code, 0);
  expect("all variables are fixed\n  at least one variable that is not fixed\n", "model.qubo",
         {"--fix", "0=0;1=0;2=0;3=0;4=0;5=0;6=0;7=0;8=0"});
  expect("all variables are fixed", "model.qubo", {"--fix", "0=0;1=0;2=0;3=0;4=0;5=0;6=0;7=0;8=0"});
  write("fixed.txt", "2 1\n10 1\n3 7\n2 0\n");
  expect("fixed.txt:2:1: there is no variable '10'", "cut.rud", {"--fix-file", "fixed.txt"});
  expect("fixed.txt:3:1: variable 3 cannot have the value '7'", "cut.rud",
         {"--fix-file", "fixed.txt"});
  expect("fixed.txt:4:1: variable 2 is fixed twice", "cut.rud", {"--fix-file", "fixed.txt"});
  expect("missing.txt", "cut.rud", {"--fix-file", "missing.txt"});
  expect("--fix and --fix-file are for quadratic models", "function:branin", {"--fix", "1=1"});
  expect("--fix and --fix-file are for quadratic models", "coloring:myciel3,4", {"--fix", "1=1"});
}

}  // namespace
}  // namespace kiln::test::fixed_values_test
