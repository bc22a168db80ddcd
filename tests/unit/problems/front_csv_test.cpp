// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/problems/fronts.hpp"

#include "bad_text.hpp"

namespace kiln::front_csv_test {
namespace {

using test::BadText;

Points front(const std::string& text) {
  std::istringstream in(text);
  return problems::read_front(in, "f");
}

TEST(FrontCsv, ReadsAPointFromEachLine) {
  EXPECT_EQ(front("0,1\n0.5,-2e-3\n"), (Points{{0, 1}, {0.5, -0.002}}));
  EXPECT_EQ(front("3 1 2\n1 2 3"), (Points{{3, 1, 2}, {1, 2, 3}}));
  EXPECT_EQ(front("7\n8\n"), (Points{{7}, {8}}));
}

TEST(FrontCsv, ReadsAllSeparators) {
  const Points expected{{1, 2, 3}, {4, 5, 6}};
  for (const char* text : {"1,2,3\n4,5,6\n", "1 2 3\n4 5 6\n", "1\t2\t3\n4\t5\t6\n",
                           " 1 , 2 ,3\n4, 5\t,\t6 \n", "1  2,3\n4,5 \t 6\n"}) {
    EXPECT_EQ(front(text), expected) << text;
    EXPECT_EQ(front(test::crlf(text)), expected) << text;
    EXPECT_EQ(front(std::string("\xef\xbb\xbf") + text), expected) << text;
  }
}

TEST(FrontCsv, PassesOverNamesCommentsAndBlankLines) {
  const Points expected{{1, 2}, {3, 4}};
  EXPECT_EQ(front("f1,f2\n1,2\n3,4\n"), expected);
  EXPECT_EQ(front("# 9,9\n\n\"total cost\" weight\n1,2\n  # 5\n\n3,4\n"), expected);
  EXPECT_EQ(front("#9\n1 2\n#9\n3 4\n#9"), expected);
}

class BadFront : public testing::TestWithParam<BadText> {};

TEST_P(BadFront, IsRefused) {
  const auto read = [](std::istream& in, const char* name) { problems::read_front(in, name); };
  EXPECT_EQ(test::refusal(read, GetParam().text), GetParam().message);
}

constexpr BadText bad_fronts[] = {
    {"Empty", "", "f: there are no points"},
    {"OnlyNames", "# a comment\nf1,f2\n", "f: there are no points"},
    {"NamesTwice", "f1,f2\nf3,4\n", "f:2:1: the value 'f3' is not a number"},
    {"HalfNames", "1,f2\n1,2\n", "f:1:3: the value 'f2' is not a number"},
    {"Short", "f1,f2\n1,2\n3\n", "f:3: the line should have 2 values and has 1"},
    {"Long", "1,2\n1,2,3\n", "f:2: the line should have 2 values and has 3"},
    {"Missing", "1,2\n3,\n", "f:2:3: a value is missing"},
    {"MissingInside", "1,2,3\n1, ,3\n", "f:2:4: a value is missing"},
    {"MissingFirst", " ,1\n", "f:1:2: a value is missing"},
    {"NotANumber", "1,2\n3,nan\n", "f:2:3: the value 'nan' is not a finite number"},
    {"NotANumberAtOnce", "nan,nan\n", "f:1:1: the value 'nan' is not a finite number"},
    {"Infinite", "1 2\n-inf 2\n", "f:2:1: the value '-inf' is not a finite number"},
    {"TooLarge", "1 1e999\n", "f:1:3: the value '1e999' is not a finite number"},
    {"Garbage", "1,2\n3,4m\n", "f:2:3: the value '4m' is not a number"},
    {"Semicolons", "1;2\n1 2\n3;4 5\n", "f:3:1: the value '3;4' is not a number"},
    {"LateComment", "1,2 # best\n", "f:1:5: the value '#' is not a number"},
    {"Nul", std::string_view("1\n\0 1", 5),
     "f:2:1: the line has a NUL byte; this is not a text file"},
    {"Utf16", std::string_view("1\0,\0", 4), "f: the text is UTF-16"},
};

INSTANTIATE_TEST_SUITE_P(All, BadFront, testing::ValuesIn(bad_fronts),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(FrontCsv, ListsFiveComplaintsAndCountsAll) {
  try {
    front("1,2\nx,2\n3\n1,y\n4,5\n,1\n1,2,3\nz,z\n");
    FAIL();
  } catch (const ParseError& error) {
    EXPECT_EQ(error.total(), 7);
    ASSERT_EQ(error.issues().size(), 5U);
    std::vector<std::int64_t> lines;
    for (const ParseIssue& issue : error.issues()) {
      lines.push_back(issue.line);
      EXPECT_FALSE(issue.expected.empty());
    }
    EXPECT_EQ(lines, (std::vector<std::int64_t>{2, 3, 4, 6, 7}));
  }
}

TEST(FrontCsv, SaysThatAStreamHasFailed) {
  std::istringstream in("1,2\n");
  in.setstate(std::ios::failbit);
  EXPECT_THROW(problems::read_front(in, "f"), IoError);
}

}  // namespace
}  // namespace kiln::front_csv_test
