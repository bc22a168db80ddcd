// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tables/records.hpp"

#include <algorithm>
#include <istream>
#include <utility>

#include "readers/csv.hpp"
#include "readers/text_reader.hpp"

namespace kiln::problems::detail {
namespace {

constexpr std::size_t npos = std::string_view::npos;

std::size_t skip_padding(std::string_view text, std::size_t at, char delimiter) {
  while (at < text.size() && is_padding(text[at], delimiter)) ++at;
  return at;
}

// The first delimiter at or behind `at`, or the end of the row.
std::size_t find_delimiter_in_row(std::string_view row, std::size_t at, char delimiter) {
  if (delimiter != ' ') return std::min(row.find(delimiter, at), row.size());
  while (at < row.size() && !is_delimiter(row[at], delimiter)) ++at;
  return at;
}

// The first delimiter or line feed at or behind `at`, or the end of the text.
std::size_t find_field_end(std::string_view text, std::size_t at, char delimiter) {
  while (at < text.size() && text[at] != '\n' && !is_delimiter(text[at], delimiter)) ++at;
  return at;
}

// The quote that closes the one at `open`; npos if there is none. Two quotes are one inside.
std::size_t find_closing_quote(std::string_view text, std::size_t open) {
  for (std::size_t at = open + 1;; at += 2) {
    at = text.find('"', at);
    if (at == npos || at + 1 >= text.size() || text[at + 1] != '"') return at;
  }
}

}  // namespace

RowEnd find_row_end(std::string_view text, char delimiter) {
  const std::size_t feed = text.find('\n');
  const std::string_view line = text.substr(0, feed);
  if (line.find('"') == npos || kind_of_row(line, delimiter) == RowKind::comment) {
    return {.at = feed == npos ? RowEnd::none : feed};
  }
  for (std::size_t at = 0;; ++at) {
    at = skip_padding(text, at, delimiter);
    if (at < text.size() && text[at] == '"') {
      const std::size_t close = find_closing_quote(text, at);
      if (close == npos) return {.open_quote = at, .quoted = true};
      at = close + 1;
    }
    at = find_field_end(text, at, delimiter);
    if (at == text.size()) return {.quoted = true};
    if (text[at] == '\n') return {.at = at, .quoted = true};
  }
}

RowKind kind_of_row(std::string_view row, char delimiter) {
  const std::size_t at = skip_padding(row, 0, delimiter);
  const std::string_view content = row.substr(at);
  if (content.empty() || content == "\r") return RowKind::blank;
  return content.front() == '#' ? RowKind::comment : RowKind::data;
}

FieldCursor::FieldCursor(std::string_view row, char delimiter) : row_(row), delimiter_(delimiter) {}

bool FieldCursor::next() {
  if (!more_) return false;
  at_ = skip_padding(row_, at_, delimiter_);
  if (delimiter_ == ' ' && at_ == row_.size()) {
    more_ = false;
    return false;
  }
  field_.offset = at_;
  field_.well_quoted = true;
  if (at_ < row_.size() && row_[at_] == '"') {
    take_quoted();
  } else {
    std::size_t end = find_delimiter_in_row(row_, at_, delimiter_);
    const std::size_t next = end;
    while (end > at_ && is_padding(row_[end - 1], delimiter_)) --end;
    field_.text = row_.substr(at_, end - at_);
    at_ = next;
  }
  more_ = at_ < row_.size();
  ++at_;
  return true;
}

void FieldCursor::take_quoted() {
  // Rows end outside of quotes, except for a row that the end of a sample cuts.
  const std::size_t close = std::min(find_closing_quote(row_, at_), row_.size());
  std::string_view inner = row_.substr(at_ + 1, close - at_ - 1);
  if (inner.find('"') != npos) {
    unquoted_.clear();
    for (std::size_t i = 0; i < inner.size(); ++i) {
      unquoted_ += inner[i];
      if (inner[i] == '"') ++i;
    }
    inner = unquoted_;
  }
  field_.text = trimmed(inner);
  const std::size_t behind = std::min(close + 1, row_.size());
  at_ = find_delimiter_in_row(row_, behind, delimiter_);
  field_.well_quoted = trimmed(row_.substr(behind, at_ - behind)).empty();
}

RowReader::RowReader(std::istream& in, TextIssues& issues, TableLimits limits)
    : in_(in), issues_(issues), limits_(limits) {
  if (!in_) {
    throw IoError("io.read", issues.file_name() + ": cannot be read", {},
                  "check the path, relative to the current folder");
  }
}

std::string_view RowReader::rest() const noexcept {
  return std::string_view(buffer_.data(), end_).substr(begin_);
}

void RowReader::read_block(std::size_t bytes) {
  if (begin_ > 0) {
    const auto old = rest();
    std::copy(old.begin(), old.end(), buffer_.begin());
  }
  end_ -= begin_;
  begin_ = 0;
  if (buffer_.size() < end_ + bytes) buffer_.resize(end_ + bytes);
  in_.read(buffer_.data() + end_, static_cast<std::streamsize>(bytes));
  if (in_.bad()) throw IoError("io.read", issues_.file_name() + ": reading failed");
  const auto n_read = static_cast<std::size_t>(in_.gcount());
  at_end_ = n_read < bytes;
  end_ += n_read;
  const std::string_view read = rest().substr(end_ - n_read);
  has_zeros_ = has_zeros_ || read.find('\0') != npos;
}

void RowReader::check_first_bytes() {
  begun_ = true;
  while (rest().size() < 4 && !at_end_) read_block(limits_.block);
  if (const auto issue = foreign_encoding(rest().substr(0, 4))) {
    issues_.fail(0, 0, issue->message, issue->expected);
  }
  if (rest().starts_with(utf8_mark)) begin_ += utf8_mark.size();
}

std::string_view RowReader::peek(std::size_t bytes) {
  if (!begun_) check_first_bytes();
  while (rest().size() < bytes && !at_end_) read_block(limits_.block);
  return rest().substr(0, bytes);
}

// The end of the row that begins at begin_, which is then in the buffer as a whole.
RowEnd RowReader::find_end(char delimiter) {
  for (;;) {
    const std::string_view text = rest();
    const RowEnd end = find_row_end(text, delimiter);
    row_ = text.substr(0, end.at);
    if (row_.size() > limits_.row) {
      fail(0, "the row is longer than " + std::to_string(limits_.row) + " bytes",
           "shorter rows; a quote without an end makes one row of all that follows");
    }
    if (end.at == RowEnd::none && !at_end_) {
      read_block(std::max(limits_.block, text.size()));
      continue;
    }
    if (end.at == RowEnd::none && end.open_quote != RowEnd::none) {
      fail(end.open_quote, "the quote has no end",
           "a double quote at both ends of the field, and two double quotes for each one inside");
    }
    return end;
  }
}

bool RowReader::next(char delimiter) {
  if (!begun_) check_first_bytes();
  while (rest().empty() && !at_end_) read_block(limits_.block);
  if (rest().empty()) return false;
  line_ = next_line_;
  const RowEnd end = find_end(delimiter);
  begin_ = std::min(begin_ + row_.size() + 1, end_);
  next_line_ = line_ + 1 + (end.quoted ? std::count(row_.begin(), row_.end(), '\n') : 0);
  check_row();
  if (row_.ends_with('\r')) row_.remove_suffix(1);
  return true;
}

void RowReader::check_row() {
  const std::size_t zero = has_zeros_ ? row_.find('\0') : npos;
  if (zero != npos) {
    fail(zero, "the row has a NUL byte; this is not a text file", "UTF-8 or ASCII text");
  }
  if (line_ > 1 || begin_ < end_ || !at_end_) return;
  const std::string_view line = row_.ends_with('\r') ? row_.substr(0, row_.size() - 1) : row_;
  if (const auto issue = lone_returns(line)) {
    issues_.fail(issue->line, issue->column, issue->message, issue->expected);
  }
}

std::int64_t RowReader::line_of(std::size_t offset) const {
  const std::string_view before = row_.substr(0, offset);
  return line_ + std::count(before.begin(), before.end(), '\n');
}

std::int64_t RowReader::column_of(std::size_t offset) const {
  const std::size_t feed = row_.substr(0, offset).rfind('\n');
  return static_cast<std::int64_t>(feed == npos ? offset + 1 : offset - feed);
}

void RowReader::complain(std::size_t offset, std::string message, std::string_view expected) {
  issues_.complain(line_of(offset), column_of(offset), std::move(message), expected);
}

void RowReader::fail(std::size_t offset, std::string message, std::string_view expected) {
  issues_.fail(line_of(offset), column_of(offset), std::move(message), expected);
}

}  // namespace kiln::problems::detail
