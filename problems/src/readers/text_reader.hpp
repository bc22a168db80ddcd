// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/export.hpp"
#include "kiln/large_vector.hpp"

namespace kiln::problems::detail {

/// A word of a line and where it begins, in bytes from 1.
struct Token {
  std::string_view text;
  std::int64_t column = 0;
};

/// Limits of a reader's input, in bytes.
struct TextLimits {
  std::int64_t file_bytes = std::int64_t{8} << 30;
  std::int64_t line_bytes = std::int64_t{1} << 20;
};

/// A number that a format expects: its name in messages, and the form of its whole line.
struct Field {
  std::string_view what;
  std::string_view expected;
};

/// The strict tokenizer of all text formats. It reads blocks of fixed size, hands out one line of
/// words at a time, turns words into numbers without regard to the locale, and collects complaints:
/// a format goes on after complain() and calls finish() before it returns anything.
/// Exported for the unit tests only; the header is not installed.
class KILN_API TextReader {
 public:
  /// @throws IoError `io.read` if the stream has failed already, as that of a missing file has.
  TextReader(std::istream& in, const std::string& file_name, TextLimits limits = {});

  /// Goes to the next line that has a word; false at the end.
  /// @throws ParseError at once if this is no plain text or exceeds a limit; IoError `io.read`.
  bool next_line();

  /// Lines that next_line() has not yet handed out, each with its line feed, as many as are in the
  /// next `bytes`; valid until the next call of any other function.
  /// @throws ParseError, IoError as next_line()
  std::string_view whole_lines(std::int64_t bytes);
  /// Counts the first `bytes` of them, which are so many lines, as handed out.
  void skip(std::size_t bytes, std::int64_t n_lines);

  /// The words of the line, at least one; valid until the next call of next_line().
  const std::vector<Token>& words() const noexcept { return words_; }

  /// Notes an issue in the current line; column 0 stands for the whole line.
  void complain(std::int64_t column, std::string message, std::string_view expected);

  /// Like complain(), where going on makes no sense.
  [[noreturn]] void fail(std::int64_t column, std::string message, std::string_view expected);

  /// Like fail(), about the file as a whole.
  [[noreturn]] void fail_file(std::string message, std::string_view expected);

  /// @throws ParseError if there were complaints.
  void finish() const;

  /// The word as a whole number in [low, high]; else complains and gives nothing.
  std::optional<std::int64_t> integer(const Token& word, const Field& field, std::int64_t low,
                                      std::int64_t high);

  /// The word as a finite real number; else complains and gives nothing.
  std::optional<double> real(const Token& word, const Field& field);

 private:
  bool next_raw_line(std::string_view& line);
  void read_block();
  void check_encoding();
  void split(std::string_view line);

  std::istream& in_;
  std::string file_name_;
  TextLimits limits_;
  std::vector<char> buffer_;  // bytes begin_ .. end_ are read and not yet handed out
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::int64_t n_bytes_ = 0;
  bool at_end_ = false;
  bool has_zeros_ = false;  // some byte so far was NUL
  std::int64_t line_ = 0;
  std::vector<Token> words_;
  std::vector<ParseIssue> issues_;
  std::int64_t n_issues_ = 0;
};

/// Makes room for `more` elements. A header is believed as far as the file bears it out: up to a
/// million elements at first, then up to eight times those that were read.
template <class T>
void make_room(std::vector<T>& values, std::int64_t promised, std::int64_t more = 1) {
  if (values.size() + static_cast<std::size_t>(more) <= values.capacity()) return;
  constexpr std::int64_t at_first = std::int64_t{1} << 20;
  const std::int64_t believed = std::max(at_first, 8 * (std::ssize(values) + more));
  reserve_large(values, static_cast<std::size_t>(std::min(promised, believed)));
}

/// What keeps a word from being a finite double (" is not a number"), or null; then `value` is it.
const char* why_no_real(std::string_view word, double& value);

/// Why the first bytes of a file are not those of a plain text; nothing if they are.
std::optional<ParseIssue> foreign_encoding(std::string_view first_bytes);

/// The error of a one-line text, without its end, that was meant as several lines; nothing if there
/// is none.
std::optional<ParseIssue> lone_returns(std::string_view only_line);

/// Tabs, escapes, line ends and the like.
bool is_control(char c);

/// The text with '?' for every such character, so that it ends no line and controls no terminal.
std::string in_one_line(std::string text);

inline constexpr std::string_view utf8_mark = "\xef\xbb\xbf";

/// Text from a file, fit for a message: not too long, with '?' for every byte that is a control
/// character or no ASCII.
KILN_API std::string printable(std::string_view text);

}  // namespace kiln::problems::detail
