// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/numeric_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "kiln/errors.hpp"

#include "tables/numeric_table.hpp"
#include "temporary_folder.hpp"

namespace kiln::problems::numeric_table_test {
namespace {

using Names = std::vector<std::string>;
using Values = std::vector<double>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

NumericTable read(const std::string& text, const NumericTableOptions& options = {}) {
  std::istringstream in(text);
  return read_numeric_table(in, "t.csv", options);
}

/// All issues of a refusal, or code and message of another error.
std::string refusal(const std::string& text, const NumericTableOptions& options = {},
                    detail::TableLimits limits = {}) {
  try {
    std::istringstream in(text);
    detail::read_table_of_numbers(in, "t.csv", options, limits);
  } catch (const ParseError& error) {
    std::string all;
    for (const ParseIssue& issue : error.issues()) {
      all += std::to_string(issue.line) + ":" + std::to_string(issue.column) + ": " +
             issue.message + "\n";
    }
    return all;
  } catch (const Error& error) {
    return error.code() + ": " + error.message() + "\n";
  }
  return "accepted";
}

void expect_values(const Values& values, const Values& expected) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_TRUE(values[i] == expected[i] || (std::isnan(values[i]) && std::isnan(expected[i])))
        << "row " << i << " has " << values[i] << ", expected " << expected[i];
  }
}

TEST(NumericTable, ReadsNamesAndNumbers) {
  const NumericTable table = read("time,x,y\n0,1.5,-2\n1,-3e2,.5\n2,+4.,1E+3\n");
  EXPECT_EQ(table.names, (Names{"time", "x", "y"}));
  expect_values(table.columns.at(0), {0, 1, 2});
  expect_values(table.columns.at(1), {1.5, -300, 4});
  expect_values(table.columns.at(2), {-2, 0.5, 1000});
  EXPECT_EQ(table.rows, 3);
  EXPECT_EQ(table.rows_in_file, 3);
  EXPECT_EQ(table.missing, (std::vector<std::int64_t>{0, 0, 0}));
  EXPECT_EQ(table.notes, Names{});
}

TEST(NumericTable, FindsTheDelimiter) {
  struct Case {
    std::string text, note;
  };
  const Case cases[] = {{"a,b\n1,2\n3,4\n", ""},
                        {"a;b\n1;2\n3;4\n", "columns are separated by semicolons"},
                        {"a\tb\n1\t2\n3\t4\n", "columns are separated by tabs"},
                        {"a b\n1 2\n3 4\n", "columns are separated by white space"},
                        {"  a \t b\n1    2  \n\t3 4\n", "columns are separated by white space"},
                        {"a, b\n1, 2\n3, 4\n", ""},
                        {"a,\tb\n1,\t2\n3,\t4\n", ""},
                        {"\"a;x\",\"b;y\"\n1,2\n3,4\n", ""},
                        {"mean x,mean y\n1,2\n3,4\n", ""},
                        {"a in s;b, in m\n1;2\n3;4\n", "columns are separated by semicolons"}};
  for (const Case& one : cases) {
    const NumericTable table = read(one.text);
    ASSERT_EQ(table.columns.size(), 2u) << one.text;
    expect_values(table.columns[0], {1, 3});
    expect_values(table.columns[1], {2, 4});
    EXPECT_EQ(table.notes, one.note.empty() ? Names{} : Names{one.note}) << one.text;
  }
}

TEST(NumericTable, TakesAGivenDelimiter) {
  const NumericTable table = read("a|b\n1|2\n", {.delimiter = '|'});
  EXPECT_EQ(table.names, (Names{"a", "b"}));
  EXPECT_EQ(table.notes, Names{});
  EXPECT_EQ(read("1;2\n", {.delimiter = ';'}).columns.size(), 2u);
  // As commas separate, "1;2" is one field of text.
  EXPECT_EQ(read("1;2,5\n3;4,6\n", {.header = false, .delimiter = ','}).names, Names{"column 2"});
  for (const char wrong : {'1', 'e', 'E', '.', '-', '+', '"', '#', '\n', '\x01', '\x80'}) {
    EXPECT_TRUE(refusal("1,2\n", {.delimiter = wrong}).starts_with("table.options: the delimiter"))
        << wrong;
  }
}

TEST(NumericTable, ReadsDecimalCommas) {
  for (const std::string sign : {";", "\t", "  "}) {
    const NumericTable table = read("1,5" + sign + "2,25\n-0,5" + sign + "3\n1,5e2" + sign + "4\n");
    ASSERT_EQ(table.columns.size(), 2u) << sign;
    expect_values(table.columns[0], {1.5, -0.5, 150});
    expect_values(table.columns[1], {2.25, 3, 4});
    EXPECT_EQ(table.notes.at(1), "numbers have decimal commas: 1,5 is read as 1.5");
  }
  EXPECT_EQ(refusal("1,5;2\n3;4.5\n"),
            "1:1: '1,5' has a decimal comma, but '4.5' in line 2 has a decimal point\n");
  EXPECT_EQ(refusal("1;2\n3;1,000,000\n"),
            "2:3: '1,000,000' of column 'column 2' is not a number\n");
  EXPECT_EQ(refusal("a,b\n1,2\n3,\"1,5\"\n"), "3:3: '1,5' of column 'b' is not a number\n");
}

TEST(NumericTable, CountsMissingValues) {
  const NumericTable table = read(
      "a,b\n1,\n1,NA\n1,NaN\n1,nan\n1,null\n1,None\n1,?\n1,-\n1,\"\"\n1,-nan\n1,NULL\n1,N/A\n1, \n"
      "NA,7\n");
  EXPECT_EQ(table.missing, (std::vector<std::int64_t>{1, 13}));
  Values expected(13, nan);
  expected.push_back(7);
  expect_values(table.columns.at(1), expected);
  // Words that only look like them are text.
  for (const std::string word : {"na", "--", "none.", "nanometre", "?x", "-inf-"}) {
    EXPECT_EQ(refusal("a,b\n1,2\n1," + word + "\n"),
              "3:3: '" + word + "' of column 'b' is not a number\n");
  }
}

TEST(NumericTable, ReadsTruthValues) {
  const NumericTable table = read("a,b\ntrue,1\nFalse,2\nTRUE,3\nfalse,4\n");
  expect_values(table.columns.at(0), {1, 0, 1, 0});
  EXPECT_EQ(refusal("a\n1\ntruE\n"), "3:1: 'truE' of column 'a' is not a number\n");
}

TEST(NumericTable, ReadsQuotedFields) {
  const NumericTable table = read(
      "\"a \"\"b\"\"\",\"c,d\",\"e\nf\",text\n"
      "\"1\", \"2.5\" ,3,\"one\r\ntwo\"\n"
      "4,\"NA\",6,\"x \"\"y\"\", z\"\n"
      "7,8,9,\"\"\n");
  EXPECT_EQ(table.names, (Names{"a \"b\"", "c,d", "e?f"}));
  expect_values(table.columns.at(0), {1, 4, 7});
  expect_values(table.columns.at(1), {2.5, nan, 8});
  expect_values(table.columns.at(2), {3, 6, 9});
  EXPECT_EQ(table.rows_in_file, 3);
}

TEST(NumericTable, KeepsQuotesThatBeginNoField) {
  const NumericTable table = read("size,x\n5\",1\n7\"\",2\n");
  EXPECT_EQ(table.names, Names{"x"});
  EXPECT_EQ(table.rows, 2);
  EXPECT_EQ(refusal("a,b\n\"1\"2,3\n"), "2:1: the closing quote of the field is not at its end\n");
  EXPECT_EQ(refusal("a,b\n1,\"2\n3,4\n"), "2:3: the quote has no end\n");
}

TEST(NumericTable, CountsLinesAndColumnsAcrossQuotes) {
  EXPECT_EQ(refusal("a,b,c\n\"x\ny\n\",1,2\n\"x\n\",oh,3\n"),
            "6:3: 'oh' of column 'b' is not a number\n");
}

TEST(NumericTable, SkipsCommentsAndEmptyLines) {
  const NumericTable table =
      read("\n# made by, \"hand\na,b\n  # units\n1,2\n\n \n3,4\r\n# the, \"end\n\n\n");
  EXPECT_EQ(table.names, (Names{"a", "b"}));
  expect_values(table.columns.at(0), {1, 3});
  EXPECT_EQ(table.notes,
            Names{"2 empty lines between rows are left out; NA stands for a missing value"});
  // In a table of tabs, tabs alone are a row of missing values.
  EXPECT_EQ(read("a\tb\n1\t2\n\t\n3\t4\n").missing, (std::vector<std::int64_t>{1, 1}));
}

TEST(NumericTable, ReadsMarksAndLineEnds) {
  const NumericTable table = read("\xef\xbb\xbf\"x\",y\r\n1,2\r\n3,4");
  EXPECT_EQ(table.names, (Names{"x", "y"}));
  expect_values(table.columns.at(1), {2, 4});
}

TEST(NumericTable, FindsTheHeader) {
  EXPECT_EQ(read("1,2\n3,4\n").names, (Names{"column 1", "column 2"}));
  EXPECT_EQ(read("1,NA\n3,4\n").rows, 2);
  EXPECT_EQ(read("1,b\n3,4\n").names, (Names{"1", "b"}));
  EXPECT_EQ(read("2001,2002\n3,4\n", {.header = true}).names, (Names{"2001", "2002"}));
  EXPECT_EQ(read("2001,2002\n3,4\n", {.header = true}).notes, Names{});
  const NumericTable doubtful = read("Paris,1,2\nLondon,3,4\n");
  EXPECT_EQ(doubtful.notes, (Names{"column 'Paris' is text: left out",
                                   "the names of the columns are numbers, as '1': the first row "
                                   "may be data without a header"}));
  const NumericTable whole = read("Paris,1,2\nLondon,3,4\n", {.header = false});
  EXPECT_EQ(whole.names, (Names{"column 2", "column 3"}));
  EXPECT_EQ(whole.rows, 2);
}

TEST(NumericTable, MakesNamesUnique) {
  const NumericTable table = read("x,,x,x (2),x\n1,2,3,4,5\n");
  EXPECT_EQ(table.names, (Names{"x", "column 2", "x (3)", "x (2)", "x (4)"}));
  EXPECT_EQ(table.notes,
            Names{"columns without a unique name are called 'column 2', 'x (3)', 'x (4)'"});
  EXPECT_EQ(read("column 2,,a\n1,2,3\n").names, (Names{"column 2", "column 2 (2)", "a"}));
}

TEST(NumericTable, SelectsColumns) {
  const std::string text = "a,city,b,2\n1,Paris,2,3\n4,Rome,5,6\n";
  EXPECT_EQ(read(text, {.columns = {"b", "a"}}).names, (Names{"b", "a"}));
  EXPECT_EQ(read(text, {.columns = {"3", "1", "b"}}).names, (Names{"b", "a"}));
  EXPECT_EQ(read(text, {.columns = {"2"}}).names, Names{"2"}) << "a name comes before a number";
  EXPECT_EQ(read(text, {.columns = {"b"}}).notes, Names{});
  EXPECT_EQ(refusal(text, {.columns = {"citi"}}),
            "table.column: t.csv has no column 'citi'; the nearest is 'city'\n");
  EXPECT_EQ(refusal(text, {.columns = {"5"}}).substr(0, 12), "table.column");
  EXPECT_EQ(refusal(text, {.columns = {"0"}}).substr(0, 12), "table.column");
  EXPECT_EQ(refusal(text, {.columns = {"a", "city"}}),
            "2:3: 'Paris' of column 'city' is not a number\n"
            "3:3: 'Rome' of column 'city' is not a number\n");
  // A wanted column may be empty, others are left out.
  expect_values(read("a,b\n1,\n2,NA\n", {.columns = {"b"}}).columns.at(0), {nan, nan});
}

TEST(NumericTable, LeavesOutTextAndEmptyColumns) {
  const NumericTable table =
      read("city,x,date,void,a,b\nParis,1,2024-01-02,,p,q\nNA,2,2024-01-03,NA,r,s\n");
  EXPECT_EQ(table.names, Names{"x"});
  EXPECT_EQ(table.notes, (Names{"columns 'city', 'date', 'a' and 1 more are text: left out",
                                "column 'void' is without a value: left out"}));
  EXPECT_EQ(read("x,city\n1,Paris\n").notes, Names{"column 'city' is text: left out"});
}

TEST(NumericTable, RefusesTextAmongNumbers) {
  EXPECT_EQ(refusal("x,y\n1,2\n2,two\n\n3,\x1b[2J\n"),
            "3:3: 'two' of column 'y' is not a number\n"
            "5:3: '?[2J' of column 'y' is not a number\n");
  EXPECT_EQ(refusal("x,id\n1,A1\n2,A2\n3,17\n4,18\n5,A3\n"),
            "2:3: 'A1' of column 'id' is not a number, but line 4 has a number there\n"
            "6:3: 'A3' of column 'id' is not a number\n");
  EXPECT_EQ(refusal("x\n1\n" + std::string(60, 'y') + "\n"),
            "3:1: '" + std::string(40, 'y') + "...' of column 'x' is not a number\n");
  EXPECT_EQ(refusal("x\n1\n0x10\n"), "3:1: '0x10' of column 'x' is not a number\n");
  EXPECT_EQ(refusal("x\n1\n++1\n"), "3:1: '++1' of column 'x' is not a number\n");
  try {
    read("x,y\n1,2\n2,two\n");
    FAIL();
  } catch (const ParseError& error) {
    EXPECT_EQ(error.fix(),
              "correct the lines, write NA for values to leave out, or give --columns without 'y'");
    EXPECT_EQ(error.issues().at(0).expected, "a number, or NA for a missing value");
  }
}

TEST(NumericTable, CountsAllComplaintsAndListsFive) {
  std::string text = "x\n1\n";
  for (int i = 0; i < 12; ++i) text += "word\n";
  try {
    read(text);
    FAIL();
  } catch (const ParseError& error) {
    EXPECT_EQ(error.total(), 12);
    EXPECT_EQ(error.issues().size(), 5u);
  }
}

TEST(NumericTable, RefusesInfiniteNumbers) {
  for (const std::string word :
       {"inf", "-inf", "+Infinity", "1e400", "-1e999999999999999999999", "1000000e305", "INF"}) {
    EXPECT_EQ(refusal("x,y\n1,2\n3," + word + "\n"),
              "3:3: '" + word + "' of column 'y' is not a finite number\n");
  }
}

TEST(NumericTable, RefusesRaggedRows) {
  EXPECT_EQ(refusal("x,y\n1,2\n3\n4,5,6\n7,8,\n"),
            "3:1: the row should have 2 fields and has 1\n"
            "4:1: the row should have 2 fields and has 3\n"
            "5:1: the row should have 2 fields and has 3\n");
  EXPECT_EQ(refusal("x y\n1 2\n3 4 word\n"), "3:1: the row should have 2 fields and has 3\n");
  EXPECT_EQ(refusal("x\n1\n2,3\n"), "3:1: the row should have 1 field and has 2\n");
}

TEST(NumericTable, KeepsTheRowsThatAreWanted) {
  std::string text = "x\n";
  for (int i = 0; i < 10; ++i) text += std::to_string(i) + "\n";
  const NumericTable first = read(text, {.rows = 3});
  expect_values(first.columns.at(0), {0, 1, 2});
  EXPECT_EQ(first.rows_in_file, 10);
  EXPECT_EQ(first.notes, Names{"the first 3 of 10 rows are read; --rows 10 reads all"});
  expect_values(read(text, {.every = 4}).columns.at(0), {0, 4, 8});
  expect_values(read(text, {.every = 4, .skip = 1}).columns.at(0), {1, 5, 9});
  EXPECT_EQ(read(text, {.every = 4, .skip = 1}).notes, Names{});
  const NumericTable some = read(text, {.rows = 2, .every = 4, .skip = 1});
  expect_values(some.columns.at(0), {1, 5});
  EXPECT_EQ(some.notes, Names{"the first 2 of 3 rows are read; --rows 3 reads all"});
  EXPECT_EQ(refusal(text, {.skip = 10}), "table.options: --skip 10 leaves out all 10 rows\n");
  EXPECT_EQ(refusal(text, {.rows = 0}), "table.options: --rows 0 keeps no row\n");
  EXPECT_EQ(refusal(text, {.every = 0}), "table.options: --every 0 is not positive\n");
  EXPECT_EQ(refusal(text, {.skip = -1}), "table.options: --skip -1 is negative\n");
}

TEST(NumericTable, CountsRowsBeyondTheLimitWithTheirQuotes) {
  const NumericTable table =
      read("x,t\n1,a\n2,\"b\nc\"\n\n# no row\nword,\"d,\n\"\"\n\"\n", {.rows = 1});
  EXPECT_EQ(table.rows_in_file, 3);
  expect_values(table.columns.at(0), {1});
}

TEST(NumericTable, RefusesTablesWithoutNumbers) {
  EXPECT_EQ(refusal(""), "0:0: the table has no rows\n");
  EXPECT_EQ(refusal("# nothing\n\n"), "0:0: the table has no rows\n");
  EXPECT_EQ(refusal("a,b\n"), "0:0: the table has a header and no rows\n");
  EXPECT_EQ(refusal("a,b\nc,d\n"), "0:0: no column of the table has numbers\n");
}

TEST(NumericTable, RefusesOtherEncodings) {
  EXPECT_EQ(refusal(std::string("a,b\n1,\0002\n", 9)),
            "2:3: the row has a NUL byte; this is not a text file\n");
  EXPECT_EQ(refusal("\xff\xfe" + std::string("a\0\n\0", 4)), "0:0: the text is UTF-16\n");
  EXPECT_TRUE(refusal("a,b\r1,2\r").starts_with("1:4: lines end in a carriage return"));
}

TEST(NumericTable, LimitsNamesColumnsAndRows) {
  EXPECT_EQ(refusal(std::string(1025, 'n') + "\n1\n"),
            "1:1: the name of column '" + std::string(40, 'n') + "...' has 1025 bytes\n");
  EXPECT_EQ(refusal(std::string(100'000, ',') + "\n"),
            "1:100001: the table has more than 100000 columns\n");
  const std::string at_limit = "1,2\n" + std::string(97, ' ') + "1,2\n1,2\n";
  EXPECT_EQ(refusal(at_limit, {}, {.row = 100}), "accepted");
  EXPECT_EQ(refusal(at_limit, {}, {.row = 99}), "2:1: the row is longer than 99 bytes\n");
  // A quote without an end is a row without an end.
  EXPECT_EQ(refusal("1,2\n1,\"2\n" + std::string(100, '\n'), {}, {.block = 16, .row = 50}),
            "2:1: the row is longer than 50 bytes\n");
}

TEST(NumericTable, DoesNotDependOnTheSizeOfBlocks) {
  const std::string text =
      "\"na\"\"me\",x,t\r\n\"1\",\"2\",a\r\n# "
      "\"\n\"3\",4.25,\"\"\"\"\n\n5,-6e-7,\"\r\n\"\"\n\"\r\n7,8,";
  for (std::size_t block = 1; block < text.size() + 2; ++block) {
    std::istringstream in(text);
    const NumericTable table = detail::read_table_of_numbers(in, "t", {}, {.block = block});
    EXPECT_EQ(table.names, (Names{"na\"me", "x"}));
    expect_values(table.columns.at(0), {1, 3, 5, 7});
    expect_values(table.columns.at(1), {2, 4.25, -6e-7, 8});
  }
}

TEST(NumericTableFile, IsOpenedOrRefused) {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "t.csv").string();
  std::ofstream(path) << "x,y\n1,2\n";
  EXPECT_EQ(read_numeric_table(path).names, (Names{"x", "y"}));
  for (const std::string& wrong : {folder.path().string(), path + ".no"}) {
    try {
      read_numeric_table(wrong);
      FAIL();
    } catch (const IoError& error) {
      EXPECT_EQ(error.code(), "io.open");
      EXPECT_NE(error.message().find(wrong), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace kiln::problems::numeric_table_test
