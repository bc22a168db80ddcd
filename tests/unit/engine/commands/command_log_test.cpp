// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/commands/options.hpp"
#include "kiln/errors.hpp"

namespace kiln::test::command_log_test {
namespace {

TEST(CommandLog, GivesBackWhatWasWritten) {
  LoggedCommand one;
  one.at = {1, std::uint64_t{1} << 60, std::int64_t{1} << 61};
  one.order = 7;
  one.kind = CommandKind::inject;
  one.data.temperatures = {0.1, 1e-300, 3.0};
  one.data.states = {{std::vector<std::int8_t>{-1, 1}, std::vector<std::int32_t>{300, -2},
                      std::vector<double>{1, 0.1, -2.5e-310}}};
  LoggedCommand other;
  other.kind = CommandKind::temperatures;
  other.applied = false;
  other.reason = "it was \"refused\"\nhere";
  const std::vector<LoggedCommand> all =
      read_command_log(log_line(one) + log_line(other) + "{\"stage\": 0, \"ti", "log");
  ASSERT_EQ(all.size(), 2u) << "a line without an end is none";
  EXPECT_EQ(all[0].at, one.at);
  EXPECT_EQ(all[0].order, 7u);
  EXPECT_EQ(all[0].kind, CommandKind::inject);
  EXPECT_EQ(all[0].data.temperatures, one.data.temperatures);
  EXPECT_EQ(all[0].data.states, one.data.states);
  EXPECT_TRUE(all[0].decides());
  EXPECT_EQ(all[1].reason, other.reason);
  EXPECT_FALSE(all[1].decides());
}

TEST(CommandLog, NamesTheLineThatIsNone) {
  const std::string good = log_line({});
  for (const std::string bad : {"x\n", "{}\n", "[1]\n",
                                "{\"stage\":0,\"tick\":-1.5,\"sweeps\":1,\"order\":0,"
                                "\"kind\":\"fly\",\"applied\":true}\n"}) {
    try {
      read_command_log(good + bad, "commands.ndjson");
      ADD_FAILURE() << bad;
    } catch (const ParseError& error) {
      EXPECT_EQ(error.issues().front().line, 2);
      EXPECT_NE(error.message().find("no line of a log"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace kiln::test::command_log_test
