// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Number partitioning from a file to an answer.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "program.hpp"

namespace kiln::test::partition_test {
namespace {

using nlohmann::json;
using PartitionProgram = ProgramTest;

const std::string hard = "771 121 281 854 885\n734 486 1003 83 62  # B. Hayes, 2002\n";

TEST_F(PartitionProgram, FindsThePerfectPartition) {
  write("hard.part", hard);

  const Outcome outcome = run({"solve", "hard.part", "--device", "cpu", "--sweeps", "1000000",
                               "--replicas", "64", "--json", "-o", "run"});

  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["problem"]["family"], "partition");
  EXPECT_EQ(result["objective"]["best"], 0);
  EXPECT_EQ(result["stop"], "converged");
  EXPECT_EQ(result["verified"], true);
  std::istringstream numbers("771 121 281 854 885 734 486 1003 83 62");
  std::istringstream solution(read("run/solution.txt"));
  int difference = 0, lines = 0;
  for (int number = 0, side = 0; numbers >> number && solution >> side; ++lines) {
    EXPECT_EQ(std::abs(side), 1);
    difference += side * number;
  }
  EXPECT_EQ(lines, 10);
  EXPECT_EQ(difference, 0);
}

TEST_F(PartitionProgram, SaysWhatIsInAFile) {
  write("hard.part", hard);

  const Outcome outcome = run({"check", "hard.part"});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.substr(0, outcome.out.find("  fingerprint")),
            "hard.part: ok\n"
            "  format        numbers\n"
            "  kind          partition\n"
            "  aim           minimise squared difference; --maximize reverses it\n"
            "  numbers       10\n"
            "  sum           5280\n"
            "  coefficients  62 .. 1003\n");
}

TEST_F(PartitionProgram, ReadsWhatItGenerates) {
  const Outcome generated = run({"generate", "partition:12,8,1"});
  ASSERT_EQ(generated.exit_code, 0) << generated.err;
  EXPECT_NE(generated.out.find("generate partition:12,8,1\n"), std::string::npos);

  const Outcome checked = run(Call{{"check", "-", "--json"}, generated.out});

  ASSERT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_EQ(json::parse(checked.out)["format"], "numbers");
  EXPECT_EQ(json::parse(checked.out)["sizes"]["numbers"], 12);
}

TEST_F(PartitionProgram, RefusesABadFileWithThePlace) {
  write("bad.part", "771 121\n281 8.5\n");

  const Outcome outcome = run({"solve", "bad.part"});

  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(first_line(outcome),
            "error[input.parse]: bad.part:2:5: number '8.5' is not a whole number");
}

TEST_F(PartitionProgram, IsListedAndDescribed) {
  EXPECT_NE(run({"list", "problems"}).out.find("partition:N,BITS,SEED"), std::string::npos);
  EXPECT_NE(run({"list", "formats"}).out.find("\nnumbers"), std::string::npos);
  EXPECT_NE(run({"describe", "format", "numbers"}).out.find(".part .npp"), std::string::npos);
  EXPECT_NE(run({"help", "generate"}).out.find("numbers for"), std::string::npos);
}

}  // namespace
}  // namespace kiln::test::partition_test
