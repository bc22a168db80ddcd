// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/csv.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <string>
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

std::string complaint(const std::string& text) {
  try {
    require_distinct_names(table_of(text));
  } catch (const ParseError& error) {
    return std::to_string(error.total()) + " " + std::to_string(error.issues().front().line) + " " +
           error.issues().front().message;
  }
  return "accepted";
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
  EXPECT_EQ(take_decimal_commas(table, {0}),
            "numbers of t.csv have decimal commas: 0,25 is read as 0.25");
  EXPECT_EQ(all_of(table),
            (std::vector<Cells>{{"w", "x", "y"}, {"1,5", "0.25", "-3"}, {"2,5", "", "1e-3"}}));
  EXPECT_EQ(take_decimal_commas(table, {0}), "");
}

TEST(Csv, RefusesWhatMayMeanAnything) {
  EXPECT_EQ(complaint("a,b,a,b,a\n1,2,3,4,5\n"), "3 1 the column 'a' is there twice");
  EXPECT_EQ(complaint("a,,\n1,2,3\n"), "accepted") << "no name is no name twice";
  EXPECT_EQ(complaint("a,b\n1\n2,3\n4,5,6\n"), "2 2 the line should have 2 values and has 1");
  EXPECT_EQ(complaint("a,\"b\n"), "1 1 a cell in quotes does not end as it should");
  EXPECT_EQ(complaint("a,\"b\"c\n"), "1 1 a cell in quotes does not end as it should");
  EXPECT_EQ(complaint("a,b\033[2J\n"), "1 1 the name of column 'b[2J' has a control character");
  EXPECT_EQ(complaint("a,b\n1,\033[2J\n"), "accepted") << "a cell is cleaned where it is shown";
}

}  // namespace
}  // namespace kiln::problems::csv_test
