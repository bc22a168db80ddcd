// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Large fronts to compare with: no run waits for them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace kiln::test::reference_front_test {
namespace {

using nlohmann::json;

class ReferenceFront : public ProgramTest {
 protected:
  /// Points of the true front of zdt:1, f2 = 1 - sqrt(f1), ascending.
  std::vector<std::vector<double>> write_front(std::size_t count) const {
    std::vector<std::vector<double>> points;
    std::string text = "f1,f2\n";
    for (std::size_t i = 0; i < count; ++i) {
      const double x = static_cast<double>(i) / static_cast<double>(count - 1);
      points.push_back({x, 1 - std::sqrt(x)});
      text += fmt::format("{},{}\n", points.back()[0], points.back()[1]);
    }
    write("large.csv", text);
    return points;
  }
};

// The oracle is the definition, for all points of the file: the mean over them of the distance to
// the nearest member, in units of the box.
TEST_F(ReferenceFront, OfManyPointsHasTheDistancesOfAll) {
  const auto points = write_front(50000);
  const Outcome outcome = run({"solve", "zdt:1", "--device", "cpu", "--sweeps", "20", "--json",
                               "--reference-front", "large.csv"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  const json& front = result["front"];
  const auto scaled = [&](std::size_t k, double value) {
    const double ideal = front["ideal"][k], nadir = front["nadir"][k];
    return (value - ideal) / (nadir - ideal);
  };
  std::vector<std::vector<double>> members;
  for (const json& point : front["points"]) {
    members.push_back({scaled(0, point[0]), scaled(1, point[1])});
  }
  double sum = 0;
  for (const auto& point : points) {
    const double x = scaled(0, point[0]), y = scaled(1, point[1]);
    double least = 1e300;
    for (const auto& member : members) {
      least = std::min(least, std::hypot(member[0] - x, member[1] - y));
    }
    sum += least;
  }
  const double igd = sum / static_cast<double>(points.size());
  EXPECT_NEAR(result["diagnostics"]["igd"].get<double>(), igd, 0.001 * igd);
  EXPECT_NE(
      outcome.err.find("Kiln compares the front with only 20000 of the 50000 points of large.csv"),
      std::string::npos)
      << outcome.err;
}

// The oracle is the same front as plain numbers.
TEST_F(ReferenceFront, OfPlainPointsMayHaveQuotesAndDecimalCommas) {
  const auto distance = [&](const std::string& text) {
    write("f.csv", text);
    const Outcome outcome = run({"solve", "zdt:1", "--device", "cpu", "--sweeps", "1", "--seed",
                                 "1", "--json", "--reference-front", "f.csv"});
    EXPECT_EQ(outcome.exit_code, 0) << text << outcome.err;
    if (outcome.exit_code != 0) return -1.0;
    return json::parse(outcome.out)["diagnostics"]["igd"].get<double>();
  };
  const double plain = distance("0,1\n0.5,0.25\n");
  EXPECT_NE(plain, distance("0,1\n5,25\n"));
  for (const std::string text :
       {"\"0\",\"1\"\n\"0.5\",\"0.25\"\n", "0;1\n0,5;0,25\n", "0\t1\n0,5\t0,25\n",
        "0,5;0,25\n0;1\n", "a;b\n0;1\n0,5;0,25\n", "f1;f2\n0;1\n0,5;0,25\n",
        "\"f1\",\"f2\"\n0,1\n0.5,0.25\n", "0 1\n0.5,0.25\n", "0\t1\n0.5,\t0.25\n"}) {
    EXPECT_EQ(distance(text), plain) << text;
  }
  write("f.csv", "0;1;2\n0,5;0,25;2\n");
  const Outcome outcome =
      run({"solve", "zdt:1", "--device", "cpu", "--sweeps", "1", "--reference-front", "f.csv"});
  EXPECT_NE(outcome.err.find("the points of f.csv have 3 objectives, but zdt:1 has 2 objectives"),
            std::string::npos)
      << outcome.err;
}

// Only what a formula gives is the true front.
TEST_F(ReferenceFront, IsCalledTrueWhereItIs) {
  write("points.csv", "0.3,0.9\n0.25,0.5\n");
  const auto row = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"solve", "zdt:1", "--device", "cpu", "--sweeps", "2"};
    words.insert(words.end(), more.begin(), more.end());
    const std::string out = run(words).out;
    const std::size_t begin = out.find("\n  compared to "), end = out.find("   IGD ", begin);
    return begin == std::string::npos ? out : out.substr(begin, end - begin);
  };
  EXPECT_EQ(row({}), "\n  compared to    the true front");
  EXPECT_EQ(row({"--reference-front", "points.csv"}), "\n  compared to    the reference front");
}

TEST_F(ReferenceFront, IsNotWaitedForAfterASecondSignal) {
  write_front(3000);
  Call call{{"solve", "zdt:1", "--device", "cpu", "--time-limit", "20s", "-o", "out",
             "--reference-front", "large.csv"}};
  call.signal = SIGINT;
  call.signal_at = "stop  ";  // of the banner
  const Outcome once = run(call);
  EXPECT_EQ(once.exit_code, 130) << once.err;
  EXPECT_NE(once.out.find("\n  compared to    the reference front   IGD "), std::string::npos)
      << once.out;

  call.words[7] = "twice";
  call.second_signal = SIGTERM;
  const Outcome twice = run(call);
  // Which of the two is seen last is not laid down.
  EXPECT_TRUE(twice.exit_code == 130 || twice.exit_code == 143) << twice.err;
  EXPECT_EQ(twice.out.find("\n  compared to "), std::string::npos) << twice.out;
  EXPECT_NE(twice.err.find("was not compared"), std::string::npos) << twice.err;
  EXPECT_TRUE(exists("twice/solution.txt"));
  EXPECT_TRUE(exists("twice/front.csv"));
}

}  // namespace
}  // namespace kiln::test::reference_front_test
