// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers of tables beside those of strtod() and of Python.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "kiln/problems/numeric_table.hpp"

#include "tables/fields.hpp"

namespace kiln::problems::numeric_table_test {
namespace {

constexpr const char* python_forms = KILN_SOURCE_DIR "/tests/data/python_numbers.csv";

std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

/// Random bits: all exponents, denormal numbers included.
double random_double(std::mt19937_64& draw) {
  for (;;) {
    const double value = std::bit_cast<double>(draw());
    if (std::isfinite(value)) return value;
  }
}

TEST(NumericTableNumbers, AreThoseOfStrtod) {
  constexpr int rows = 50'000;
  std::mt19937_64 draw(7);
  std::string text = "x;y\n";
  std::vector<double> expected;
  char digits[64];
  for (int i = 0; i < rows; ++i) {
    std::snprintf(digits, sizeof digits, "%.17g", random_double(draw));
    expected.push_back(std::strtod(digits, nullptr));
    text += digits;
    // Other numbers of digits are not exact: the reader must round them as strtod does.
    const int precision = 6 + i % 25;
    const double scale = std::ldexp(1.0, i % 80 - 40);
    std::snprintf(digits, sizeof digits, "%+.*e", precision,
                  scale * std::generate_canonical<double, 53>(draw));
    expected.push_back(std::strtod(digits, nullptr));
    text += ";" + std::string(digits) + "\n";
  }
  std::istringstream in(text);
  const NumericTable table = read_numeric_table(in, "t");
  ASSERT_EQ(table.rows, rows);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(bits_of(table.columns[i % 2][i / 2]), bits_of(expected[i])) << "number " << i;
  }
}

TEST(NumericTableNumbers, WithDecimalCommasAreThoseOfStrtod) {
  std::mt19937_64 draw(8);
  std::string text;
  std::vector<double> expected;
  for (int i = 0; i < 10'000; ++i) {
    char digits[64];
    std::snprintf(digits, sizeof digits, "%.17e", random_double(draw));
    expected.push_back(std::strtod(digits, nullptr));
    *std::strchr(digits, '.') = ',';
    text += std::string(digits) + "\t0\n";
  }
  std::istringstream in(text);
  const NumericTable table = read_numeric_table(in, "t");
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(bits_of(table.columns.at(0).at(i)), bits_of(expected[i])) << "number " << i;
  }
}

TEST(NumericTableNumbers, RoundToZeroWhereTheyAreTiny) {
  for (const std::string text : {"1e-400", "-1e-400", "0.0000001e-330", "0e999999999999999999999",
                                 "1e-999999999999999999999", "4.9e-324", "2.4e-324", "2.5e-324"}) {
    double value = 1;
    EXPECT_EQ(detail::read_field(text, false, value), detail::FieldKind::number) << text;
    EXPECT_EQ(bits_of(value), bits_of(std::strtod(text.c_str(), nullptr))) << text;
  }
  // A negative exponent does not make a number tiny, nor a positive one infinite.
  double value = 1;
  EXPECT_EQ(detail::read_field("1" + std::string(400, '0') + "e-10", false, value),
            detail::FieldKind::infinite);
  EXPECT_EQ(detail::read_field("0." + std::string(400, '0') + "1e+10", false, value),
            detail::FieldKind::number);
  EXPECT_EQ(value, 0);
}

// Python's csv module wrote the file: a form of a number, the bits that float() gives for it, and
// text with separators, quotes and line ends.
TEST(NumericTableNumbers, AreThoseOfPython) {
  const NumericTable table = read_numeric_table(python_forms, {.columns = {"form", "row"}});
  const NumericTable halves = read_numeric_table(python_forms, {.columns = {"high", "low"}});
  ASSERT_EQ(table.rows, 500);
  EXPECT_EQ(table.missing[1], 0);
  std::int64_t missing = 0;
  for (std::size_t i = 0; i < 500; ++i) {
    EXPECT_EQ(table.columns[1][i], static_cast<double>(i));
    missing += std::isnan(halves.columns[0][i]);
    ASSERT_EQ(std::isnan(table.columns[0][i]), std::isnan(halves.columns[0][i])) << "row " << i;
    if (std::isnan(table.columns[0][i])) continue;
    const auto high = static_cast<std::uint64_t>(halves.columns[0][i]);
    const auto low = static_cast<std::uint64_t>(halves.columns[1][i]);
    ASSERT_EQ(bits_of(table.columns[0][i]), high << 32 | low) << "row " << i;
  }
  EXPECT_EQ(table.missing[0], missing);
  EXPECT_GT(missing, 20);
}

}  // namespace
}  // namespace kiln::problems::numeric_table_test
