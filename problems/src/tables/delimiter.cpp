// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tables/delimiter.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "tables/fields.hpp"
#include "tables/records.hpp"

namespace kiln::problems::detail {
namespace {

constexpr std::int64_t max_sample_rows = 100;

struct RowCounts {
  std::int64_t fields = 0, numbers = 0;  // numbers include missing values
};

RowCounts count(std::string_view row, char delimiter) {
  RowCounts counts;
  double value = 0;
  for (FieldCursor cursor(row, delimiter); cursor.next();) {
    ++counts.fields;
    const FieldKind kind = read_field(cursor.field().text, delimiter != ',', value);
    counts.numbers += kind != FieldKind::text;
  }
  return counts;
}

// Higher is better, the first member first.
using Score = std::pair<double, double>;

// The share of numbers, and the share of rows with as many fields as the first one. The first row
// may be a header, and only counts if it is the only one.
Score score(std::string_view text, bool whole, char delimiter) {
  RowCounts first, agreeing;
  std::int64_t rows = 0, agreeing_rows = 0;
  while (!text.empty() && rows < max_sample_rows) {
    const std::size_t end = find_row_end(text, delimiter).at;
    if (end == RowEnd::none && !whole && rows > 0) break;
    std::string_view row = text.substr(0, end);
    text.remove_prefix(end == RowEnd::none ? text.size() : end + 1);
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (kind_of_row(row, delimiter) != RowKind::data) continue;
    const RowCounts counts = count(row, delimiter);
    if (rows++ == 0) {
      first = counts;
      if (first.fields < 2) return {-1, -1};
    } else if (counts.fields == first.fields) {
      ++agreeing_rows;
      agreeing.fields += counts.fields;
      agreeing.numbers += counts.numbers;
    }
  }
  if (rows == 0) return {-1, -1};
  if (rows == 1) {
    return {static_cast<double>(first.numbers) / static_cast<double>(first.fields), 1.0};
  }
  if (agreeing_rows == 0) return {0.0, 0.0};
  const double agreement = static_cast<double>(agreeing_rows) / static_cast<double>(rows - 1);
  const double numbers =
      static_cast<double>(agreeing.numbers) / static_cast<double>(agreeing.fields);
  return {agreement * numbers, agreement};
}

}  // namespace

char find_delimiter(std::string_view text, bool whole) {
  char best = ',';
  Score best_score{-1, -1};
  for (const char delimiter : {';', '\t', ',', ' '}) {
    const Score one = score(text, whole, delimiter);
    if (one <= best_score) continue;
    best = delimiter;
    best_score = one;
  }
  return best;
}

std::string name_of_delimiter(char delimiter) {
  switch (delimiter) {
    case ',':
      return "commas";
    case ';':
      return "semicolons";
    case '\t':
      return "tabs";
    case ' ':
      return "white space";
    default:
      return std::string("'") + delimiter + "'";
  }
}

}  // namespace kiln::problems::detail
