// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What `kiln check` says of a problem with options is what `kiln solve` makes of it with the same.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "program.hpp"

namespace kiln::test::check_test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

class CheckOptions : public ProgramTest {
 public:
  CheckOptions() {
    write("g.col", "p edge 5 5\ne 1 2\ne 2 3\ne 3 4\ne 4 5\ne 5 1\n");
    write("g.txt", "3 3\n1 2 1\n1 3 -2\n2 3 0.5\n");
    write("a.coo", "0 0 1\n0 1 2\n1 2 -1\n");
    write("q.qubo", "p qubo 0 3 1 1\n0 0 2\n0 1 -3\n");
    write("t.csv", "a,y\n1,5\n2,6\n3,9\n");
  }

  Outcome call(const Words& first, const Words& more) const {
    Words words = first;
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  Outcome checked(const Words& more) const { return call({"check"}, more); }
  Outcome planned(const Words& more) const {
    return call({"solve", "--device", "cpu", "--dry-run"}, more);
  }
};

const Words with_colors[] = {{"g.col", "--colors", "3"},
                             {"g.col", "--colors", "min"},
                             {"g.col", "--colors", "300"},
                             {"g.col", "--colors", "3", "--maximize"},
                             {"g.col", "--colors=2", "--sense", "min"}};
const Words others[] = {{"a.coo", "--vartype", "spin"},
                        {"a.coo", "--vartype", "binary", "--maximise"},
                        {"g.txt"},
                        {"g.txt", "--minimize"},
                        {"g.txt", "--format", "rudy", "--sense", "maximize"},
                        {"q.qubo", "--maximize"},
                        {"table:t.csv", "--objective", "y", "--minimize"}};

TEST_F(CheckOptions, MeanWhatTheyMeanToSolve) {
  const auto compare = [&](Words words) {
    words.push_back("--json");
    const Outcome check = checked(words), plan = planned(words);
    ASSERT_EQ(check.exit_code, 0) << check.err;
    ASSERT_EQ(plan.exit_code, 0) << plan.err;
    const json found = json::parse(check.out), problem = json::parse(plan.out)["problem"];
    EXPECT_EQ(found["objective"], problem["objective"]) << check.out << plan.out;
    EXPECT_EQ(found["kind"], problem["family"]) << check.out;
    for (const char* size : {"colors", "greedy", "clique"}) {
      const json planned_size = problem["sizes"].value(size, json(nullptr));
      const json found_size = found["sizes"].value(size, json(nullptr));
      EXPECT_EQ(found_size.is_null(), planned_size.is_null()) << size << check.out;
      if (planned_size.is_null()) continue;
      EXPECT_EQ(found_size.dump(), planned_size.get<std::string>());
    }
  };
  for (const Words& words : with_colors) compare(words);
  for (const Words& words : others) compare(words);
}

TEST_F(CheckOptions, AreRefusedWhereSolveRefusesThem) {
  const Words refused[] = {{"g.col", "--colors", "1"},
                           {"g.col", "--colors", "many"},
                           {"g.col", "--colors", "min", "--maximize"},
                           {"g.txt", "--colors", "3"},
                           {"a.coo"},
                           {"a.coo", "--vartype", "up"},
                           {"g.txt", "--sense", "up"},
                           {"g.txt", "--minimize", "--maximize"},
                           {"g.txt", "--format", "rude"},
                           {"g.txt", "--data", "t.csv"},
                           {"g.txt", "--timeout", "5s"},
                           {"t.csv", "--objective", "y"},
                           {"table:t.csv", "--objective", "y", "--colors", "3"},
                           {"table:t.csv", "--objective", "y", "--timeout", "0s"}};
  for (const Words& words : refused) {
    const Outcome check = checked(words), plan = planned(words);
    EXPECT_NE(check.exit_code, 0) << words.back();
    EXPECT_EQ(check.exit_code, plan.exit_code) << check.err << plan.err;
    EXPECT_EQ(first_line(check), first_line(plan));
  }
}

// The least cut of a graph is not what its greatest one on record is compared with.
TEST_F(CheckOptions, ASenseHasItsOwnBestValues) {
  ASSERT_EQ(run({"generate", "gset:G1", "-o", "G1.txt"}).exit_code, 0);
  EXPECT_EQ(json::parse(checked({"G1.txt", "--json"}).out)["best_known"], 11624);
  const json least = json::parse(checked({"G1.txt", "--minimize", "--json"}).out);
  EXPECT_EQ(least["same_as"], "gset:G1");
  EXPECT_TRUE(least["best_known"].is_null());
}

TEST_F(CheckOptions, AreListedByBothVerbs) {
  const auto options_in = [](const std::string& help) {
    std::istringstream lines(help);
    Words options;
    for (std::string line; std::getline(lines, line);) {
      const std::size_t dashes = line.find("--");
      if (dashes != 6) continue;
      options.push_back(line.substr(dashes, line.find(' ', dashes) - dashes));
    }
    return options;
  };
  const Words of_solve = options_in(run({"solve", "--help"}).out);
  const Words of_check = options_in(run({"check", "--help"}).out);
  for (const char* option :
       {"--format", "--colors", "--vartype", "--data", "--minimize", "--maximize", "--objective",
        "--sense", "--categorical", "--ignore", "--var", "--constraints", "--timeout"}) {
    EXPECT_EQ(std::count(of_solve.begin(), of_solve.end(), option), 1) << option;
    EXPECT_EQ(std::count(of_check.begin(), of_check.end(), option), 1) << option;
  }
}

// The fix, typed as it stands.
TEST_F(CheckOptions, ATableThatWasTakenForAFileIsCalledByItsFix) {
  write("my data.csv", "\"lr, log\",\"loss, %\"\n1,5\n2,6\n3,9\n");
  for (const Words& words :
       {Words{"my data.csv"}, Words{"my data.csv", "--objective", "loss, %"}}) {
    const std::string err = planned(words).err;
    const std::string fix = "kiln solve 'table:my data.csv' --objective 'loss, %'";
    EXPECT_NE(err.find(fix), std::string::npos) << err;
  }
  const Outcome plan = planned({"table:my data.csv", "--objective", "loss, %"});
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
}

}  // namespace
}  // namespace kiln::test::check_test
