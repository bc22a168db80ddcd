// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Tables of numbers with names of rows and columns.
#include "tables/named_matrix.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "kiln/errors.hpp"

namespace kiln::test::named_matrix_test {
namespace {

using problems::detail::NamedMatrix;
using problems::detail::NamedMatrixOptions;
using Names = std::vector<std::string>;

NamedMatrix parse(const std::string& text, const NamedMatrixOptions& options = {}) {
  std::istringstream in(text);
  return problems::detail::read_named_matrix(in, "f", options);
}

std::string error_of(const std::string& text, const NamedMatrixOptions& options = {}) {
  try {
    parse(text, options);
  } catch (const Error& error) {
    return error.message();
  }
  return "accepted";
}

TEST(NamedMatrix, NamesAreFoundByThePlaceOfText) {
  const NamedMatrix both = parse(",T1,T2\nW1,1,2\nW2,3,4\n");
  EXPECT_EQ(both.rows, (Names{"W1", "W2"}));
  EXPECT_EQ(both.columns, (Names{"T1", "T2"}));
  EXPECT_EQ(both.values, (std::vector<double>{1, 2, 3, 4}));

  const NamedMatrix corner = parse("worker\tT1\nW1\t-1e3\n");
  EXPECT_EQ(corner.rows, Names{"W1"});
  EXPECT_EQ(corner.columns, Names{"T1"});

  const NamedMatrix header = parse("a,b\n1,2\n");
  EXPECT_TRUE(header.rows.empty());
  EXPECT_EQ(header.columns, (Names{"a", "b"}));

  const NamedMatrix rows = parse("W1;1;2\nW2;3;4\n");
  EXPECT_EQ(rows.rows, (Names{"W1", "W2"}));
  EXPECT_TRUE(rows.columns.empty());

  const NamedMatrix plain = parse("1 2\n3 4\n# end\n");
  EXPECT_TRUE(plain.rows.empty() && plain.columns.empty());
  EXPECT_EQ(plain.n_rows, 2);
  EXPECT_EQ(plain.n_columns, 2);

  const NamedMatrix numbers = parse(",1,2\n1,5,6\n2,7,8\n");
  EXPECT_EQ(numbers.rows, (Names{"1", "2"}));
  EXPECT_EQ(numbers.columns, (Names{"1", "2"}));
  EXPECT_EQ(numbers.values, (std::vector<double>{5, 6, 7, 8}));
}

TEST(NamedMatrix, ColumnsCanBeLeftOut) {
  const NamedMatrix left = parse("a,b,c\n1,x,3\n4,,6\n", {.ignore = {"b"}});
  EXPECT_EQ(left.columns, (Names{"a", "c"}));
  EXPECT_EQ(left.values, (std::vector<double>{1, 3, 4, 6}));
  EXPECT_EQ(left.n_columns, 2);
  EXPECT_NE(error_of("a,b\n1,2\n", {.ignore = {"d"}}).find("'d'"), std::string::npos);
  EXPECT_EQ(error_of("a\n1\n", {.ignore = {"a"}}), "f: no column is left");
}

TEST(NamedMatrix, CellsWithoutNumbersAreToldByName) {
  EXPECT_EQ(error_of("a,b\n1,2\n3,x\n"), "f:3:3: row 2, column 'b': 'x' is not a number");
  EXPECT_EQ(error_of(",T1,T2\nW1,1,2\nW2,nan,4\n"),
            "f:3:4: row 'W2', column 'T1': 'nan' stands for a value that is missing");
  EXPECT_EQ(error_of(",T1,T2\nW1,1,2\nW2,x,4\n"),
            "f:3:4: row 'W2', column 'T1': 'x' is not a number");
  EXPECT_EQ(error_of("a,b\n1,\n"), "f:2:3: row 1, column 'b': the value is missing");
  EXPECT_EQ(error_of("1,inf\n"), "f:1:3: row 1, column 2: 'inf' is not a finite number");
}

TEST(NamedMatrix, ShapesAndNamesAreChecked) {
  EXPECT_EQ(error_of(""), "f: the table has no rows");
  EXPECT_EQ(error_of("a,b\n"), "f: the table has a header and no rows");
  EXPECT_EQ(error_of("a,b\n1,2\n3\n"), "f:3:1: the row should have 2 fields and has 1");
  EXPECT_EQ(error_of("a,a\n1,2\n"), "f:1:3: two columns are named 'a'");
  EXPECT_EQ(error_of("a,,c\n1,2,3\n"), "f:1:3: a column has no name");
  EXPECT_EQ(error_of("W,1\nW,2\n"), "f:2:1: two rows are named 'W'");
  EXPECT_EQ(error_of("W,1\nW,2\n", {.unique_rows = false}), "accepted");
}

}  // namespace
}  // namespace kiln::test::named_matrix_test
