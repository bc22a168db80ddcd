// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/wording.hpp"

#include <gtest/gtest.h>

namespace kiln::cli::wording_test {
namespace {

using Rows = std::vector<std::vector<std::string>>;

TEST(StackedTable, IsAPlainTableWhereThatFits) {
  const Rows rows{{"case", "d", "ms"}, {"branin", "2", "12.5"}};
  EXPECT_EQ(stacked_table(rows, 1, 79), "case     d     ms\nbranin   2   12.5\n");
  EXPECT_EQ(stacked_table(rows, 1, 17), "case     d     ms\nbranin   2   12.5\n");
}

TEST(StackedTable, GivesARowTheLinesThatItNeeds) {
  const Rows rows{
      {"case", "d", "ms", "gates"}, {"branin", "2", "12.5", "gap 1"}, {"h", "", "3", ""}};
  EXPECT_EQ(stacked_table(rows, 1, 16),
            "case     d\n"
            "    ms   gates\n"
            "branin   2\n"
            "  12.5   gap 1\n"
            "h\n"
            "     3\n");
}

TEST(StackedTable, BreaksACellThatIsTooWide) {
  const Rows rows{{"case", "gates"}, {"one", "a failure that was told at some length"}};
  const std::string text = stacked_table(rows, 2, 20);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(end - at, 20u) << text;
    at = end + 1;
  }
  EXPECT_NE(text.find("length"), std::string::npos);
}

TEST(ValuesText, TakesTwoLinesAndCountsTheRest) {
  const std::vector<std::pair<std::string, std::string>> values{
      {"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}, {"e", "5"}, {"f", "6"}, {"g", "7"}};
  EXPECT_EQ(values_text("with", values, "", 79),
            "with   a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7\n");
  EXPECT_EQ(values_text("with", values, "", 31),
            "with   a = 1, b = 2, c = 3,\n"
            "       d = 4, ... and 3 more\n");
  EXPECT_EQ(values_text("with", {{"a", "1"}}, "", 31), "with   a = 1\n");
}

}  // namespace
}  // namespace kiln::cli::wording_test
