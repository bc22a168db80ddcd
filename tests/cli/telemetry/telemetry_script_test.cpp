// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string>
#include <vector>

#include "kiln/telemetry/reader.hpp"

#include "program.hpp"

namespace kiln::test::telemetry_script_test {
namespace {

using TelemetryScript = ProgramTest;

// What the script reads is what the program wrote, where numpy is.
TEST_F(TelemetryScript, ReadsTheSameNumbers) {
  if (std::system("python3 -c 'import numpy' 2>/dev/null") != 0) GTEST_SKIP() << "no numpy";
  run({"solve", "torus:40x40,1", "--device", "cpu", "--sweeps", "2000", "--replicas", "64",
       "--telemetry", "groups", "-o", "out"});
  const std::string script = std::string(KILN_SOURCE_DIR) + "/scripts/kiln_telemetry.py";
  const std::string folder = folder_.string();
  ASSERT_EQ(std::system(("python3 " + script + " " + folder + "/out/telemetry.bin run >" + folder +
                         "/run.csv")
                            .c_str()),
            0);
  const TelemetryReader reader(read("out/telemetry.bin"), "telemetry.bin");
  std::vector<std::string> lines = lines_of(read("run.csv"));
  std::size_t row = 1;
  for (const TelemetryRecord& record : reader.records()) {
    if (record.kind() != TelemetryKind::run) continue;
    std::vector<std::string> cells(1);
    for (const char c : lines.at(row++)) {
      if (c == ',') {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    EXPECT_EQ(std::stoull(cells.at(0)), reader.epoch_of(record));
    EXPECT_EQ(std::stoull(cells.at(2)), record.step);
    EXPECT_EQ(std::stod(cells.at(5)), record.energy);
    EXPECT_EQ(std::stod(cells.at(6)), record.best);
    EXPECT_EQ(static_cast<float>(std::stod(cells.at(9))), record.acceptance);
  }
  write("torn.bin", read("out/telemetry.bin").substr(0, 100));
  EXPECT_NE(std::system(("python3 " + script + " " + folder + "/torn.bin 2>/dev/null").c_str()), 0);
}

// Of any Python, with or without numpy.
TEST_F(TelemetryScript, ItsHelpNeedsNoPackage) {
  if (std::system("python3 -c '' 2>/dev/null") != 0) GTEST_SKIP() << "no python3";
  // In place of numpy a package that cannot be imported.
  write("numpy.py", "raise ImportError('no numpy here')\n");
  const auto outcome_of = [&](const std::string& words) {
    const std::string folder = folder_.string();
    return std::system(("cd " + folder + " && PYTHONPATH=" + folder + " python3 " +
                        KILN_SOURCE_DIR "/scripts/kiln_telemetry.py " + words + " >out 2>err")
                           .c_str());
  };
  for (const char* flag : {"--help", "-h"}) {
    EXPECT_EQ(outcome_of(flag), 0);
    EXPECT_TRUE(read("out").starts_with("usage: kiln_telemetry.py [-h] FILE [KIND]\n"))
        << read("out");
    EXPECT_EQ(read("err"), "");
  }
  EXPECT_NE(outcome_of("telemetry.bin"), 0);
  EXPECT_EQ(read("err"),
            "error: kiln_telemetry.py needs the package numpy\n"
            "  fix: python3 -m pip install numpy\n");
  EXPECT_NE(outcome_of("telemetry.bin ladder"), 0);
  EXPECT_NE(read("err").find("invalid choice: 'ladder'"), std::string::npos) << read("err");
}

}  // namespace
}  // namespace kiln::test::telemetry_script_test
