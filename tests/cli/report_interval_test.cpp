// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace kiln::test::report_interval_test {
namespace {

using ReportInterval = ProgramTest;

TEST_F(ReportInterval, SaysHowManyRowsATraceHas) {
  const auto rows = [&](const std::string& interval) {
    const Outcome outcome = run({"solve", "torus:20x20,1", "--device", "cpu", "--time-limit", "1s",
                                 "--report-interval", interval, "-o", interval});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return count_lines(read(interval + "/trace.csv")) - 1;
  };
  // The last point is always there; ten at least would come with the default.
  EXPECT_LE(rows("1h"), 2);
  EXPECT_GE(rows("1ms"), 20);
}

TEST_F(ReportInterval, LeavesTheAnswerAlone) {
  const nlohmann::json seldom = result_of(run(short_run({"--json", "--report-interval", "1h"})));
  const nlohmann::json often = result_of(run(short_run({"--json", "--report-interval", "1ms"})));
  EXPECT_EQ(seldom.at("solution"), often.at("solution"));
  EXPECT_EQ(seldom.at("work").at("sweeps"), often.at("work").at("sweeps"));
}

TEST_F(ReportInterval, IsTakenFromAConfigurationFile) {
  write("run.toml", "report-interval = \"0s\"\n");
  const Outcome outcome = run({"sample", "posterior:eight-schools", "--config", "run.toml"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err,
            "error[config.range]: run.toml:1:1: report-interval=0s is not greater than 0\n"
            "  fix: give a positive duration, for example --report-interval 100ms\n");
}

TEST_F(ReportInterval, IsRefusedWhereItIsNoTime) {
  const Outcome outcome = run({"solve", "gset:G1", "--report-interval", "soon"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err,
            "error[option.value]: --report-interval: 'soon' is not a duration such as 30, 30s, "
            "500ms, 5m or 2h\n"
            "  fix: --report-interval 100ms\n");
}

}  // namespace
}  // namespace kiln::test::report_interval_test
