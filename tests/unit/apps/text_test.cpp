// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/text.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace kiln::cli::text_test {
namespace {

TEST(ShortenedLines, LeaveShortLinesAlone) {
  const std::string text = "a\n" + std::string(100, 'b') + "\n\nc\n";
  EXPECT_EQ(shortened_lines(text, 100), text);
  EXPECT_EQ(shortened_lines("", 100), "");
}

TEST(ShortenedLines, KeepBothEndsOfALongLine) {
  const std::string line = "the value '" + std::string(5000000, 'x') + "' is not a number";

  const std::string shown = shortened_lines("first\n" + line + "\nlast", 100);

  EXPECT_EQ(shown, "first\nthe value '" + std::string(51, 'x') + " ... " + std::string(16, 'x') +
                       "' is not a number\nlast");
}

TEST(ShortenedLines, CutBetweenCharacters) {
  std::string line;
  for (int i = 0; i < 100; ++i) line += "\xe2\x82\xac";  // three bytes each

  for (int shift = 0; shift < 3; ++shift) {
    const std::string shown =
        shortened_lines(std::string(static_cast<std::size_t>(shift), 'a') + line, 100);
    EXPECT_LE(shown.size(), 100u);
    EXPECT_EQ(clean(shown), shown) << "no half of a character";
  }
}

TEST(Fitted, KeepsANumberAndItsUnitTogether) {
  const std::string line = "memory       10.0 KiB needed (batch 8.0 KiB, schedule 398.2 KiB)";
  for (std::size_t columns = 40; columns < line.size(); ++columns) {
    const std::string text = fitted(line, columns);
    EXPECT_EQ(text.find("\n             KiB"), std::string::npos) << text;
    EXPECT_NE(text.find("398.2 KiB"), std::string::npos) << text;
    EXPECT_LE(text.find('\n'), columns) << text;
  }
}

TEST(Fitted, GoesOnWhereAContinuationBegan) {
  EXPECT_EQ(fitted("  no knee        two members only\n"
                   "                 the solution is the member",
                   36),
            "  no knee        two members only\n"
            "                 the solution is the\n"
            "                 member");
  EXPECT_EQ(fitted("       weld length = 3, and 2 more", 24),
            "       weld length = 3,\n       and 2 more");
  EXPECT_EQ(fitted("  fix: name the file again", 20), "  fix: name the file\n    again");
}

TEST(HumanSeconds, AreShortHoweverMany) {
  EXPECT_EQ(human_seconds(99.94), "99.9s");
  EXPECT_EQ(human_seconds(3599), "59m59s");
  EXPECT_EQ(human_seconds(431999), "119h59m");
  EXPECT_EQ(human_seconds(432000), "5d");
  EXPECT_EQ(human_seconds(1e18), ">27y");
  EXPECT_EQ(human_seconds(std::numeric_limits<double>::infinity()), ">27y");
}

}  // namespace
}  // namespace kiln::cli::text_test
