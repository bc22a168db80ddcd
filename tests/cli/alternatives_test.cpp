// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Options that belong to one alternative of a choice, `-p cooling=pid -p pid.gain=0.2`: where they
// are taken, shown, recorded and refused.
#include <nlohmann/json.hpp>
#include <sstream>

#include "program.hpp"

namespace kiln::test::alternatives_test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

/// A text without the ends of its lines.
std::string words_of(const std::string& text) {
  std::string joined;
  std::istringstream in(text);
  for (std::string word; in >> word;) joined += word + " ";
  return joined;
}

class Alternatives : public ProgramTest {
 protected:
  Outcome solve(const Words& more) const {
    Words words{"solve", "torus:8x8,1", "--sweeps", "20", "--device", "cpu", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  json parameters(const Words& more) const {
    const Outcome outcome = solve(more);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return json::parse(outcome.out)["schedule"]["parameters"];
  }
};

TEST_F(Alternatives, AreListedInTheResultWhereTheyAreChosen) {
  const json pid = parameters({"-p", "pid.gain=0.2", "-p", "cooling=pid"});
  EXPECT_EQ(pid["cooling"], "pid");
  EXPECT_EQ(pid["pid.gain"], "0.2");
  EXPECT_EQ(pid["pid.window"], "10");
  EXPECT_FALSE(pid.contains("adaptive.window"));
  const json linear = parameters({"-p", "cooling=linear"});
  for (const auto& [name, value] : linear.items()) EXPECT_EQ(name.find('.'), std::string::npos);
}

TEST_F(Alternatives, AreRefusedWhereTheyAreNotChosen) {
  const Outcome outcome = solve({"-p", "cooling=linear", "-p", "pid.gain=0.2"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err,
            "error[config.option]: 'pid.gain' is a parameter of cooling=pid, and cooling is "
            "linear; give cooling=pid or leave 'pid.gain' out\n"
            "  fix: kiln describe simulated-annealing lists the parameters\n");
}

TEST_F(Alternatives, StandInTablesOfAConfigFile) {
  for (const char* text : {"cooling = \"list\"\nlist.betas = [0.1, 0.5, 2]\n",
                           "cooling = \"list\"\n[schedule.list]\nbetas = \"0.1,0.5,2\"\n"}) {
    write("run.toml", std::string("[schedule]\n") + text);
    EXPECT_EQ(parameters({"--config", "run.toml"})["list.betas"], "0.1,0.5,2");
  }
  write("run.toml", "[schedule]\ncooling = \"pid\"\npid.gain = -1\n");
  EXPECT_EQ(solve({"--config", "run.toml"}).err,
            "error[config.option]: run.toml:3:5: pid.gain: -1 is out of range: >= 0\n"
            "  fix: kiln describe simulated-annealing lists the parameters\n");
}

TEST_F(Alternatives, AreReplacedWithTheChoiceOnTheCommandLine) {
  write("run.toml", "[schedule]\ncooling = \"pid\"\npid.gain = 0.2\n");
  EXPECT_EQ(parameters({"--config", "run.toml", "-p", "cooling=linear"})["cooling"], "linear");
  EXPECT_EQ(solve({"--config", "run.toml", "-p", "cooling=linear", "-p", "pid.gain=1"}).exit_code,
            2);
  EXPECT_EQ(parameters({"--config", "run.toml", "-p", "cooling=pid"})["pid.gain"], "0.2");
}

TEST_F(Alternatives, AreShownByADryRunWhereTheyAreChosen) {
  const json plan = json::parse(solve({"--dry-run", "-p", "cooling=adaptive"}).out);
  EXPECT_EQ(plan["schedule"]["parameters"]["adaptive.gain"]["value"], "0.5");
  EXPECT_FALSE(plan["schedule"]["parameters"].contains("pid.gain"));
}

TEST_F(Alternatives, AreDescribedWithTheirNames) {
  const std::string text = run(Words{"describe", "simulated-annealing"}).out;
  EXPECT_NE(text.find("  pid.gain          real, >= 0 (default 0.1)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  exponential.factor real, 0 .. 1 (default automatic)\n"),
            std::string::npos);
}

// Commands and records of the version before.
TEST_F(Alternatives, HaveFormerNames) {
  const Words former{"-p", "cooling=pid", "-p", "pid_proportional=0.2", "-p", "window=5"};
  const Words now{"-p", "cooling=pid", "-p", "pid.gain=0.2", "-p", "pid.window=5"};
  EXPECT_EQ(parameters(former), parameters(now));
  const std::string warning = words_of(solve(former).err);
  EXPECT_NE(warning.find("parameter 'pid_proportional' is now 'pid.gain'; parameter 'window' is "
                         "now 'pid.window'"),
            std::string::npos)
      << warning;
  Words saved = now;
  saved.insert(saved.end(), {"--save", "run.json"});
  const json first = json::parse(solve(saved).out);
  json record = json::parse(read("run.json"));
  json& given = record["schedule"]["given"];
  given["pid_proportional"] = given["pid.gain"];
  given["window"] = given["pid.window"];
  given.erase("pid.gain");
  given.erase("pid.window");
  write("before.json", record.dump());
  const Outcome again = run(Words{"solve", "--repeat", "before.json", "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(json::parse(again.out)["solution"], first["solution"]);
  EXPECT_EQ(json::parse(again.out)["schedule"], first["schedule"]);
}

TEST_F(Alternatives, IgnoreFormerNamesOfOthersAndSaySo) {
  const Outcome outcome = solve({"-p", "cooling=linear", "-p", "gain=0.5", "-p", "window=5"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(
      words_of(outcome.err)
          .find("parameter 'gain' is now 'adaptive.gain', which has no effect with the given "
                "options; parameter 'window' is now 'adaptive.window' or 'pid.window', which has "
                "no effect with the given options"),
      std::string::npos)
      << outcome.err;
}

// Two names of one option: the command line is stronger than a file, and both at once are a
// mistake.
TEST_F(Alternatives, TakeTheStrongerOfTwoNames) {
  write("run.toml", "[schedule]\ncooling = \"pid\"\npid_integral = 0.2\n");
  EXPECT_EQ(parameters({"--config", "run.toml"})["pid.integral"], "0.2");
  EXPECT_EQ(parameters({"--config", "run.toml", "-p", "pid.integral=0.3"})["pid.integral"], "0.3");
  write("run.toml", "[schedule]\ncooling = \"pid\"\npid.integral = 0.2\n");
  EXPECT_EQ(parameters({"--config", "run.toml", "-p", "pid_integral=0.3"})["pid.integral"], "0.3");
  EXPECT_EQ(solve({"-p", "cooling=pid", "-p", "pid_integral=1", "-p", "pid.integral=1"}).exit_code,
            2);
}

}  // namespace
}  // namespace kiln::test::alternatives_test
