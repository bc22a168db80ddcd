// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Words of the command line reach what they are for byte by byte, now and when a run is repeated.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "program.hpp"

namespace kiln::test::words_test {
namespace {

using nlohmann::json;
using List = std::vector<std::string>;

class Words : public ProgramTest {
 protected:
  Outcome search(const std::string& problem, const List& more) const {
    List words{"solve", problem, "--device", "cpu", "-q"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  /// What a program was called with: each line of `seen` has its last argument in hexadecimals.
  std::multiset<std::string> seen() const {
    std::istringstream lines(read("seen"));
    std::multiset<std::string> all;
    for (std::string line; std::getline(lines, line);) all.insert(line);
    std::filesystem::remove(folder_ / "seen");
    return all;
  }
};

// The oracle is the shell, which writes down its own words. A blank or a ? in place of the line
// feed makes it another script.
TEST_F(Words, OfACommandReachTheProgramAsTheyAre) {
  const std::string script =
      "command:sh -c 'printf %s \"$0\" | od -An -tx1 >> seen\nfalse || echo 1' \"" +
      std::string("a\tb\x1b\xe9\xe2\x80\xae") + "\" {w}";
  const Outcome outcome =
      search(script, {"--var", "w=real:0:1", "-p", "evaluations=2", "--json", "-o", "out"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto called = seen();
  EXPECT_GE(called.size(), 2u);
  for (const std::string& one : called) EXPECT_EQ(one, " 61 09 62 1b e9 e2 80 ae");
  // Where they are shown they steer nothing, and a document stays one.
  const std::string name = json::parse(outcome.out)["problem"]["name"];
  EXPECT_NE(name.find("a?b???\" {w}"), std::string::npos) << name;
  const std::string all = outcome.out + outcome.err + read("out/run.json");
  EXPECT_EQ(all.find_first_of("\t\x1b\xe9\xe2"), std::string::npos);
}

TEST_F(Words, OfATableNameAFile) {
  const std::string file = "t\n\xe9\x1b.csv";
  write(file, "a,b,y\nx,1,5\nx,2,6\nz,1,9\n");
  write("t???.csv", "a,b,y\nx,1,50\nx,2,60\nz,1,90\n");
  const Outcome outcome =
      search("table:" + file, {"--objective", "y", "--sweeps", "3", "--json", "-o", "out"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["objective"]["best"], 9.0);
  EXPECT_EQ(json::parse(outcome.out)["problem"]["name"], "table:t???.csv");
}

}  // namespace
}  // namespace kiln::test::words_test
