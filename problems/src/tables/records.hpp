// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "readers/data_text.hpp"

namespace kiln::problems::detail {

/// Limits of the reader of tables, in bytes.
struct TableLimits {
  std::size_t block = std::size_t{1} << 20;  ///< read at a time
  std::size_t row = std::size_t{16} << 20;   ///< of one row, with line ends in quotes
};

/// Whether a character ends a field. The delimiter ' ' stands for blanks and tabs in any number.
inline bool is_delimiter(char c, char delimiter) {
  return c == delimiter || (delimiter == ' ' && c == '\t');
}

/// Whether a character may stand around a field without being part of it.
inline bool is_padding(char c, char delimiter) {
  return c == ' ' || (c == '\t' && delimiter != '\t');
}

/// The place where a row ends.
struct RowEnd {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t at = none;          ///< of its line feed; none: the text ends first
  std::size_t open_quote = none;  ///< of the quote that is not closed where the text ends
  bool quoted = false;            ///< whether there is a quote before the end
};

/// Finds the first line feed outside of quotes. A quote counts if it begins a field.
RowEnd find_row_end(std::string_view text, char delimiter);

/// A row without numbers or names: blanks, or a comment that begins with `#`.
enum class RowKind : std::uint8_t { data, blank, comment };
RowKind kind_of_row(std::string_view row, char delimiter);

/// A field of a row.
struct TableField {
  std::string_view text;    ///< without its quotes and the padding around it
  std::size_t offset = 0;   ///< of its first byte in the row, quotes included
  bool well_quoted = true;  ///< false: something follows the closing quote
};

/// Hands out the fields of a row, one after the other.
class FieldCursor {
 public:
  FieldCursor(std::string_view row, char delimiter);

  /// Goes to the next field; false at the end. A row that is not white space has at least one.
  bool next();
  /// Valid until the next call of next().
  const TableField& field() const noexcept { return field_; }

 private:
  void take_quoted();

  std::string_view row_;
  char delimiter_;
  std::size_t at_ = 0;
  bool more_ = true;
  TableField field_;
  std::string unquoted_;
};

/// Reads a text in blocks and hands out its rows, each with its line ends in quotes, without the
/// last one. It holds at most one row and one block more.
class RowReader {
 public:
  /// @param issues  gets complaints; must outlive this
  /// @throws IoError `io.read` if the stream has failed already.
  RowReader(std::istream& in, TextIssues& issues, TableLimits limits);

  /// The beginning of the text that was not yet handed out: `bytes`, or all up to the end of the
  /// text. Valid until the next call of any function.
  std::string_view peek(std::size_t bytes);

  /// Goes to the next row; false at the end.
  /// @throws ParseError at once for NUL bytes, other encodings and rows beyond the limit; IoError.
  bool next(char delimiter);
  /// Valid until the next call of next() or peek().
  std::string_view row() const noexcept { return row_; }
  /// The line that the row begins in, from 1.
  std::int64_t line() const noexcept { return line_; }

  TextIssues& issues() noexcept { return issues_; }
  /// The line and the column, both from 1, of an offset in the row.
  std::int64_t line_of(std::size_t offset) const;
  std::int64_t column_of(std::size_t offset) const;

  /// Notes an issue at an offset in the row.
  void complain(std::size_t offset, std::string message, std::string_view expected);
  /// Notes an issue and throws the ParseError.
  [[noreturn]] void fail(std::size_t offset, std::string message, std::string_view expected);

 private:
  std::string_view rest() const noexcept;
  void read_block(std::size_t bytes);
  void check_first_bytes();
  RowEnd find_end(char delimiter);
  void check_row();

  std::istream& in_;
  TextIssues& issues_;
  TableLimits limits_;
  std::vector<char> buffer_;  // bytes begin_ .. end_ are read and not yet handed out
  std::size_t begin_ = 0, end_ = 0;
  bool begun_ = false, at_end_ = false;
  bool has_zeros_ = false;  // some byte so far was NUL
  std::string_view row_;
  std::int64_t line_ = 0, next_line_ = 1;
};

}  // namespace kiln::problems::detail
