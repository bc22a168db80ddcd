// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "kiln/problems/csv.hpp"
#include "kiln/problems/numeric_table.hpp"

#include "fuzz.hpp"
#include "tables/numeric_table.hpp"

namespace kiln::test {

/// A table, or the message of its refusal.
struct TableAnswer {
  std::optional<problems::NumericTable> table;
  std::string message = "accepted";
};

/// Blocks are small: a test has thousands of texts, and each would clear a large one.
inline TableAnswer read_numbers(const std::string& text,
                                const problems::NumericTableOptions& options = {},
                                problems::detail::TableLimits limits = {.block = 4096}) {
  std::istringstream in(text);
  TableAnswer answer;
  try {
    answer.table = problems::detail::read_table_of_numbers(in, "f", options, limits);
  } catch (const ParseError& error) {
    require(!error.issues().empty() && error.issues().size() <= 5 &&
                error.total() >= static_cast<std::int64_t>(error.issues().size()),
            "an error lists one to five issues and counts all");
    answer.message = error.message();
  } catch (const InvalidArgument& error) {
    answer.message = error.code() + ": " + error.message();
  }
  return answer;
}

/// Compares numbers by their bits, and all missing values as equal.
inline bool same_value(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

inline bool same_values(const problems::NumericTable& a, const problems::NumericTable& b) {
  return a.names == b.names && a.missing == b.missing && a.rows == b.rows &&
         std::ranges::equal(a.columns, b.columns, [](const auto& one, const auto& other) {
           return std::ranges::equal(one, other, same_value);
         });
}

inline void require_same_answer(const TableAnswer& a, const TableAnswer& b, const char* what) {
  require(a.message == b.message && a.table.has_value() == b.table.has_value(), what);
  if (!a.table) return;
  require(same_values(*a.table, *b.table) && a.table->notes == b.table->notes &&
              a.table->rows_in_file == b.table->rows_in_file,
          what);
}

/// The shapes fit, the names are unique, and each number is finite.
inline void check_shape(const problems::NumericTable& table) {
  const std::size_t n = table.names.size();
  require(n > 0 && table.columns.size() == n && table.missing.size() == n, "each column is named");
  require(std::set<std::string>(table.names.begin(), table.names.end()).size() == n,
          "names are unique");
  require(table.rows >= 1 && table.rows <= table.rows_in_file, "there is a row");
  for (std::size_t c = 0; c < n; ++c) {
    require(!table.names[c].empty(), "no name is empty");
    for (const char sign : table.names[c]) {
      require(static_cast<unsigned char>(sign) >= 0x20, "no name has control characters");
    }
    require(std::ssize(table.columns[c]) == table.rows, "each row has a value");
    std::int64_t missing = 0;
    for (const double value : table.columns[c]) {
      require(!std::isinf(value), "each number is finite");
      missing += std::isnan(value);
    }
    require(missing == table.missing[c], "missing values are counted");
  }
}

/// What is written with all digits reads back as the same bits.
inline void check_round_trip(const problems::NumericTable& table) {
  std::string text = "# a name may begin as the mark of UTF-16 does\n";
  for (std::size_t c = 0; c < table.names.size(); ++c) {
    text += (c == 0 ? "" : ",") + problems::csv_cell(table.names[c]);
  }
  for (std::int64_t row = 0; row < table.rows; ++row) {
    for (std::size_t c = 0; c < table.names.size(); ++c) {
      const double value = table.columns[c][static_cast<std::size_t>(row)];
      char digits[32] = "NA";
      if (!std::isnan(value)) std::snprintf(digits, sizeof digits, "%.17g", value);
      text += (c == 0 ? "\n" : ",") + std::string(digits);
    }
  }
  const TableAnswer again =
      read_numbers(text, {.columns = table.names, .header = true, .delimiter = ','});
  require(again.table && same_values(table, *again.table), "what is written reads back equal");
}

/// Every second row from the second on are these rows of the whole table.
inline void check_selection(const std::string& text, const problems::NumericTable& table) {
  if (table.rows < 2) return;
  const TableAnswer part =
      read_numbers(text, {.columns = table.names, .rows = 3, .every = 2, .skip = 1});
  require(part.table && part.table->names == table.names, "a selection of rows is read");
  require(part.table->rows_in_file == table.rows_in_file, "all rows are counted");
  require(part.table->rows == std::min<std::int64_t>(3, table.rows / 2), "the rows are selected");
  for (std::size_t c = 0; c < table.names.size(); ++c) {
    for (std::size_t row = 0; row < part.table->columns[c].size(); ++row) {
      require(same_value(part.table->columns[c][row], table.columns[c][2 * row + 1]),
              "the selected rows are those of the whole table");
    }
  }
}

/// Reads a table of numbers: it is refused, with the message that is returned, or gives finite
/// numbers that read back equal. The sizes of blocks do not matter.
inline std::string check_numeric_table(const std::string& text) {
  const TableAnswer answer = read_numbers(text);
  require_same_answer(answer, read_numbers(text, {}, {.block = 16}), "sizes of blocks are free");
  require_same_answer(read_numbers(text, {}, {.block = 16, .row = 48}),
                      read_numbers(text, {}, {.block = 4096, .row = 48}),
                      "so they are with a limit");
  for (const char delimiter : {' ', '|', ';'}) {
    const TableAnswer other = read_numbers(text, {.header = false, .delimiter = delimiter});
    if (other.table) check_shape(*other.table);
  }
  if (answer.table) {
    check_shape(*answer.table);
    check_round_trip(*answer.table);
    check_selection(text, *answer.table);
  }
  return answer.message;
}

}  // namespace kiln::test
