// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "text_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <istream>
#include <system_error>

namespace kiln::problems::detail {

namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 16;
constexpr std::size_t max_issues_kept = 5;
constexpr std::size_t max_quoted_bytes = 40;

/// from_chars knows no plus sign, which some programs write.
std::string_view without_plus(std::string_view text) {
  const bool signed_twice = text.size() > 1 && (text[1] == '-' || text[1] == '+');
  if (text.size() > 1 && text.front() == '+' && !signed_twice) text.remove_prefix(1);
  return text;
}

/// Whether a number outside the range of a double is too small for it and not too large.
bool is_tiny(std::string_view text) {
  const std::size_t exponent = text.find_first_of("eE");
  if (exponent != std::string_view::npos) return text.substr(exponent + 1).starts_with('-');
  return text.find_first_of("123456789") > text.find('.');
}

std::string quoted(std::string_view what, std::string_view text) {
  return std::string(what) + " '" + printable(text) + "'";
}

}  // namespace

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

std::string in_one_line(std::string text) {
  std::ranges::replace_if(text, is_control, '?');
  return text;
}

std::string printable(std::string_view text) {
  std::string clean;
  for (const char c : text) {
    if (clean.size() == max_quoted_bytes) return clean + "...";
    clean += is_control(c) || static_cast<unsigned char>(c) >= 0x80 ? '?' : c;
  }
  return clean;
}

const char* why_no_real(std::string_view word, double& value) {
  const std::string_view text = without_plus(word);
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) return " is not a number";
  if (error == std::errc::result_out_of_range && is_tiny(text)) return " is too small for a double";
  if (error == std::errc::result_out_of_range || !std::isfinite(value)) {
    return " is not a finite number";
  }
  return nullptr;
}

std::optional<ParseIssue> foreign_encoding(std::string_view first_bytes) {
  const std::string_view head = first_bytes.substr(0, 4);
  const auto has_zeros_at = [&](std::size_t first) {  // every other byte: ASCII digits in UTF-16
    return head.size() == 4 && head[first] == '\0' && head[first + 2] == '\0' &&
           head[1 - first] != '\0' && head[3 - first] != '\0';
  };
  // Three of four bytes: ASCII in UTF-32, whose mark begins with that of UTF-16.
  constexpr std::string_view zeros("\0\0\0", 3);
  const bool one_of_four = head.size() == 4 && (head.front() == '\0') != (head.back() == '\0') &&
                           (head.starts_with(zeros) || head.ends_with(zeros));
  if (one_of_four || head == std::string_view("\xff\xfe\0\0", 4) ||
      head == std::string_view("\0\0\xfe\xff", 4)) {
    return ParseIssue{0, 0, "the text is UTF-32",
                      "UTF-8 or ASCII; convert the file with `iconv -f UTF-32 -t UTF-8`"};
  }
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff") || has_zeros_at(0) ||
      has_zeros_at(1)) {
    return ParseIssue{0, 0, "the text is UTF-16",
                      "UTF-8 or ASCII; convert the file with `iconv -f UTF-16 -t UTF-8`"};
  }
  if (head.starts_with("\x1f\x8b")) {
    return ParseIssue{0, 0, "the file is compressed by gzip",
                      "plain text; decompress the file with `gunzip`"};
  }
  return std::nullopt;
}

std::optional<ParseIssue> lone_returns(std::string_view only_line) {
  const std::size_t feed = only_line.find('\r');
  if (feed == std::string_view::npos) return std::nullopt;
  return ParseIssue{
      1, static_cast<std::int64_t>(feed + 1),
      "lines end in a carriage return (CR) without a line feed (LF), which makes the file one line",
      "lines that end in LF or CR LF; convert the file with tr '\\r' '\\n'"};
}

TextReader::TextReader(std::istream& in, const std::string& file_name, TextLimits limits)
    : in_(in), file_name_(in_one_line(file_name)), limits_(limits) {
  if (!in_)
    throw IoError("io.read", file_name_ + ": cannot be read", {},
                  "check the path, relative to the current folder");
}

void TextReader::complain(std::int64_t column, std::string message, std::string_view expected) {
  ++n_issues_;
  if (issues_.size() == max_issues_kept) return;
  issues_.push_back({line_, column, std::move(message), std::string(expected)});
}

void TextReader::fail(std::int64_t column, std::string message, std::string_view expected) {
  complain(column, std::move(message), expected);
  throw ParseError(file_name_, issues_, n_issues_);
}

void TextReader::fail_file(std::string message, std::string_view expected) {
  line_ = 0;
  fail(0, std::move(message), expected);
}

void TextReader::finish() const {
  if (n_issues_ > 0) throw ParseError(file_name_, issues_, n_issues_);
}

void TextReader::read_block() {
  if (begin_ > 0) {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
  }
  end_ -= begin_;
  begin_ = 0;
  buffer_.resize(std::max(buffer_.size(), end_ + block_bytes));
  in_.read(buffer_.data() + end_, static_cast<std::streamsize>(block_bytes));
  if (in_.bad()) throw IoError("io.read", file_name_ + ": reading failed");
  const auto n_read = static_cast<std::size_t>(in_.gcount());
  const bool first = n_bytes_ == 0;
  at_end_ = n_read < block_bytes;
  end_ += n_read;
  n_bytes_ += in_.gcount();
  const auto read = std::string_view(buffer_.data(), end_).substr(end_ - n_read);
  has_zeros_ = has_zeros_ || read.find('\0') != std::string_view::npos;
  if (first) check_encoding();
  if (n_bytes_ > limits_.file_bytes) {
    fail_file("the file is larger than " + std::to_string(limits_.file_bytes) + " bytes", {});
  }
}

void TextReader::check_encoding() {
  const std::string_view head(buffer_.data() + begin_, std::min<std::size_t>(end_ - begin_, 4));
  if (const auto issue = foreign_encoding(head)) fail_file(issue->message, issue->expected);
  if (head.starts_with(utf8_mark)) begin_ += utf8_mark.size();
}

bool TextReader::next_raw_line(std::string_view& line) {
  const auto limit = static_cast<std::size_t>(limits_.line_bytes);
  std::size_t n_searched = 0;  // of the bytes from begin_ on
  std::size_t length = 0;
  for (;;) {
    const char* const start = buffer_.data() + begin_;
    const char* const stop = buffer_.data() + end_;
    const char* const newline = std::find(start + n_searched, stop, '\n');
    length = static_cast<std::size_t>(newline - start);
    if (newline != stop || at_end_ || length > limit) break;
    n_searched = length;
    read_block();
  }
  if (begin_ == end_) return false;

  ++line_;
  if (length > limit) fail(0, "the line is longer than " + std::to_string(limit) + " bytes", {});
  line = std::string_view(buffer_.data() + begin_, length);
  begin_ = std::min(begin_ + length + 1, end_);
  const std::size_t zero = has_zeros_ ? line.find('\0') : std::string_view::npos;
  if (zero != std::string_view::npos) {
    fail(static_cast<std::int64_t>(zero + 1), "the line has a NUL byte; this is not a text file",
         "UTF-8 or ASCII text");
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line_ == 1 && begin_ == end_) {
    if (const auto issue = lone_returns(line)) fail(issue->column, issue->message, issue->expected);
  }
  return true;
}

std::string_view TextReader::whole_lines(std::int64_t bytes) {
  while (!at_end_ && end_ - begin_ < static_cast<std::size_t>(bytes)) {
    read_block();
  }
  const std::string_view all(buffer_.data() + begin_, end_ - begin_);
  return all.substr(0, all.rfind('\n') + 1);  // nothing without a line feed
}

void TextReader::skip(std::size_t bytes, std::int64_t n_lines) {
  begin_ += bytes;
  line_ += n_lines;
}

void TextReader::split(std::string_view line) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  const char* const end = line.data() + line.size();
  words_.clear();
  for (const char* at = line.data();;) {
    while (at != end && is_blank(*at)) ++at;
    if (at == end) return;
    const char* const begin = at;
    while (at != end && !is_blank(*at)) ++at;
    words_.push_back({{begin, static_cast<std::size_t>(at - begin)}, begin - line.data() + 1});
  }
}

bool TextReader::next_line() {
  std::string_view line;
  while (next_raw_line(line)) {
    split(line);
    if (!words_.empty()) return true;
  }
  return false;
}

std::optional<std::int64_t> TextReader::integer(const Token& word, const Field& field,
                                                std::int64_t low, std::int64_t high) {
  const std::string_view text = without_plus(word.text);
  const char* const end = text.data() + text.size();
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) {
    complain(word.column, quoted(field.what, word.text) + " is not a whole number", field.expected);
    return std::nullopt;
  }
  if (error == std::errc::result_out_of_range || value < low || value > high) {
    complain(word.column,
             quoted(field.what, word.text) + " is outside " + std::to_string(low) + " .. " +
                 std::to_string(high),
             field.expected);
    return std::nullopt;
  }
  return value;
}

std::optional<double> TextReader::real(const Token& word, const Field& field) {
  double value = 0.0;
  const char* const problem = why_no_real(word.text, value);
  if (problem == nullptr) return value;
  complain(word.column, quoted(field.what, word.text) + problem, field.expected);
  return std::nullopt;
}

}  // namespace kiln::problems::detail
