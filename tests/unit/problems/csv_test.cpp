// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/csv.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

#include "kiln/errors.hpp"

namespace kiln::problems::csv_test {
namespace {

using Cells = std::vector<std::string>;

CsvTable table_of(const std::string& text) {
  std::istringstream in(text);
  return read_csv(in, "t.csv");
}

std::vector<Cells> all_of(const CsvTable& table) {
  std::vector<Cells> all{table.header.cells};
  for (const CsvTable::Row& row : table.rows) all.push_back(row.cells);
  return all;
}

/// "<issues> <line of the first> <its message>" of the ParseError that `read` throws, or
/// "accepted".
template <class Read>
std::string complaint_of(Read read) {
  try {
    read();
  } catch (const ParseError& error) {
    return std::to_string(error.total()) + " " + std::to_string(error.issues().front().line) + " " +
           error.issues().front().message;
  }
  return "accepted";
}

std::string complaint(const std::string& text) {
  return complaint_of([&] { require_distinct_names(table_of(text)); });
}

TEST(Csv, ReadsWhatIsWrittenByCells) {
  const Cells pieces{",", ";",   "\"",           "#", " ",  "a", "1",
                     "2", "0,5", "\xef\xbb\xbf", "é", "\\", "'"};
  std::mt19937 draws(7);
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(draws);
  };
  for (int trial = 0; trial < 500; ++trial) {
    const std::size_t columns = 2 + below(3);
    std::vector<Cells> written(1 + below(4), Cells(columns));
    std::string text;
    for (Cells& row : written) {
      for (std::size_t c = 0; c < columns; ++c) {
        for (std::size_t i = below(4); i > 0; --i) row[c] += pieces[below(pieces.size())];
        text += (c == 0 ? "" : ",") + csv_cell(row[c]);
      }
      text += "\n";
    }
    EXPECT_EQ(all_of(table_of(text)), written) << text;
    EXPECT_EQ(csv_names(text), written.front()) << text;
  }
}

TEST(Csv, ReadsWhatOtherProgramsWrite) {
  const std::vector<Cells> expected{{"a b", "y"}, {"", "1.5"}, {"x;\"z\"", "2"}};
  EXPECT_EQ(all_of(table_of("a b,y\n,1.5\n\"x;\"\"z\"\"\",2\n")), expected);
  EXPECT_EQ(all_of(table_of("\xef\xbb\xbf\"a b\" ; y\r\n\r\n# why\r\n;1.5\r\n\"x;\"\"z\"\"\";2")),
            expected);
  EXPECT_EQ(all_of(table_of("a b\ty\n\t1.5\n\"x;\"\"z\"\"\"\t2\n")), expected);
  EXPECT_TRUE(table_of("# nothing\n\n").header.cells.empty());
  EXPECT_EQ(csv_names("# nothing\n\n"), std::nullopt);
  EXPECT_EQ(csv_names("\"a,b\n"), std::nullopt);
}

TEST(Csv, GivesDecimalCommasAPoint) {
  CsvTable table = table_of("w;x;y\n1,5;0,25;-3\n2,5;;1e-3\n");
  EXPECT_EQ(take_decimal_commas(table, {1, 2}),
            "numbers of t.csv have decimal commas: Kiln reads 0,25 as 0.25");
  EXPECT_EQ(all_of(table),
            (std::vector<Cells>{{"w", "x", "y"}, {"1,5", "0.25", "-3"}, {"2,5", "", "1e-3"}}));
  EXPECT_EQ(take_decimal_commas(table, {1, 2}), "");
}

// The oracles are the bounds: a device that never ends is refused within its first mebibytes.
class Endless : public std::streambuf {
 public:
  explicit Endless(std::string piece) : piece_(std::move(piece)) {}
  std::size_t given() const { return pieces_ * piece_.size(); }

 protected:
  int_type underflow() override {
    ++pieces_;
    setg(piece_.data(), piece_.data(), piece_.data() + piece_.size());
    return traits_type::to_int_type(piece_.front());
  }

 private:
  std::string piece_;
  std::size_t pieces_ = 0;
};

TEST(Csv, IsNotReadToTheEndOfWhatHasNone) {
  const std::string zeros(1000, '\0');
  for (const auto& [piece, line] : {std::pair{zeros, 1}, {"a,b\n1,2\n" + zeros, 3}}) {
    Endless endless(piece);
    std::istream in(&endless);
    EXPECT_EQ(complaint_of([&] { csv_text(in, "zero"); }),
              "1 " + std::to_string(line) + " the line has a NUL byte; this is not a text file");
    EXPECT_LT(endless.given(), std::size_t{1} << 18);
  }
  Endless endless("1234,");
  std::istream in(&endless);
  EXPECT_EQ(complaint_of([&] { csv_text(in, "line"); }),
            "1 1 the line is longer than 1048576 bytes");
  EXPECT_LT(endless.given(), std::size_t{2} << 20);
  // A line of just so many is one, wherever it ends in a block.
  const std::string longest(std::size_t{1} << 20, '1');
  EXPECT_EQ(all_of(table_of("a\n" + longest + "\n" + longest)),
            (std::vector<Cells>{{"a"}, {longest}, {longest}}));
  EXPECT_EQ(complaint("a\n" + longest + "1\n2\n"), "1 2 the line is longer than 1048576 bytes");
}

TEST(Csv, SaysWhatLineEndsOfOldMacsAre) {
  EXPECT_EQ(complaint("a,b\r1,2\r"),
            "1 1 lines end in a carriage return (CR) without a line feed (LF), which makes the "
            "file one line");
  EXPECT_EQ(complaint("a,b\r\n1,2"), "accepted");
  EXPECT_EQ(complaint("a,b\r"), "accepted") << "a line of names alone";
}

TEST(Csv, TakesTheSeparatorThatIsThereMoreOften) {
  EXPECT_EQ(all_of(table_of("cat;load, bar;yield [%]\nA;1,5;2\n")),
            (std::vector<Cells>{{"cat", "load, bar", "yield [%]"}, {"A", "1,5", "2"}}));
  EXPECT_EQ(all_of(table_of("a\tb, c\td\n1\t2\t3\n")),
            (std::vector<Cells>{{"a", "b, c", "d"}, {"1", "2", "3"}}));
  EXPECT_EQ(all_of(table_of("a; b,c,d\n1,2,3\n")),
            (std::vector<Cells>{{"a; b", "c", "d"}, {"1", "2", "3"}}));
}

// Either sign would make as many cells in both lines: numbers tell which one is meant.
TEST(Csv, TakesCommasWithinNumbersForDecimalOnes) {
  EXPECT_EQ(all_of(table_of("yield, in %;heat, in K\n0,25;300,5\n")),
            (std::vector<Cells>{{"yield, in %", "heat, in K"}, {"0,25", "300,5"}}));
  EXPECT_EQ(all_of(table_of("a, x;b, y\n# note\n\n1,5;2,5\n")),
            (std::vector<Cells>{{"a, x", "b, y"}, {"1,5", "2,5"}}));
  EXPECT_EQ(all_of(table_of("a, b, c;y\n1;2\n")),
            (std::vector<Cells>{{"a, b, c", "y"}, {"1", "2"}}));
  EXPECT_EQ(all_of(table_of("a, b\tc, d\n1,5\t2,5\n")),
            (std::vector<Cells>{{"a, b", "c, d"}, {"1,5", "2,5"}}));
  EXPECT_EQ(all_of(table_of("a;b,c\nred;old, 1\n")),
            (std::vector<Cells>{{"a;b", "c"}, {"red;old", "1"}}))
      << "a comma that is none of a number";
}

TEST(Csv, BoundsTheNamesOfColumns) {
  EXPECT_EQ(complaint("a," + std::string(1024, 'b') + "\n1,2\n"), "accepted");
  EXPECT_EQ(complaint("a," + std::string(1025, 'b') + "\n1,2\n"),
            "1 1 the name of column '" + std::string(40, 'b') + "...' has 1025 bytes");
}

TEST(Csv, RefusesWhatMayMeanAnything) {
  EXPECT_EQ(complaint("a,b,a,b,a\n1,2,3,4,5\n"), "3 1 the column 'a' appears twice");
  EXPECT_EQ(complaint("a,,\n1,2,3\n"), "accepted") << "no name is no name twice";
  EXPECT_EQ(complaint("a,b\n1\n2,3\n4,5,6\n"), "2 2 the line should have 2 values and has 1");
  EXPECT_EQ(complaint("a,\"b\n"), "1 1 a quoted cell is not closed correctly");
  EXPECT_EQ(complaint("a,\"b\"c\n"), "1 1 a quoted cell is not closed correctly");
  EXPECT_EQ(complaint("a,b\033[2J\n"), "1 1 the name of column 'b?[2J' has a control character");
  EXPECT_EQ(complaint("a,b\n1,\033[2J\n"), "accepted") << "a cell is cleaned where it is shown";
}

}  // namespace
}  // namespace kiln::problems::csv_test
