// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "data_text.hpp"

#include <algorithm>
#include <array>
#include <istream>
#include <utility>

#include "text_reader.hpp"

namespace kiln::problems::detail {
namespace {

constexpr std::size_t max_bytes = std::size_t{1} << 30;
constexpr std::size_t max_issues = 5;

}  // namespace

TextIssues::TextIssues(const std::string& file_name) : file_name_(in_one_line(file_name)) {}

DataText::DataText(std::istream& in, const std::string& name, std::size_t line_bytes)
    : TextIssues(name) {
  if (!in)
    throw IoError("io.read", file_name() + ": cannot be read", {},
                  "check the path, relative to the current folder");
  std::array<char, 1 << 16> block;
  while (in) {
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    if (in.bad()) throw IoError("io.read", file_name() + ": reading failed");
    const std::size_t begin = text_.size();
    text_.append(block.data(), static_cast<std::size_t>(in.gcount()));
    check_block(begin, line_bytes);
  }
  if (text_.starts_with(utf8_mark)) text_.erase(0, utf8_mark.size());
}

// At once: a device has no end.
void DataText::check_block(std::size_t begin, std::size_t line_bytes) {
  if (text_.size() > max_bytes) {
    fail(0, 0, "the file is larger than " + std::to_string(max_bytes) + " bytes", {});
  }
  if (begin == 0) {
    if (const auto issue = foreign_encoding(text_)) fail(0, 0, issue->message, issue->expected);
  }
  const std::size_t zero = std::min(text_.find('\0', begin), text_.size());
  for (std::size_t at = begin;; ++line_) {
    const std::size_t end = std::min(text_.find('\n', at), zero);
    if (end - line_begin_ > line_bytes) {
      fail(line_, 0, "the line is longer than " + std::to_string(line_bytes) + " bytes",
           "a text of lines");
    }
    if (end == zero) break;
    line_begin_ = at = end + 1;
  }
  if (zero == text_.size()) return;
  fail(line_, 0, "the line has a NUL byte; this is not a text file", "UTF-8 or ASCII text");
}

void TextIssues::complain(std::int64_t line, std::int64_t column, std::string message,
                          std::string_view expected) {
  ++n_issues_;
  if (issues_.size() == max_issues) return;
  issues_.push_back({line, column, std::move(message), std::string(expected)});
}

void TextIssues::fail(std::int64_t line, std::int64_t column, std::string message,
                      std::string_view expected) {
  complain(line, column, std::move(message), expected);
  finish();
  throw ParseError(file_name_, issues_, n_issues_);
}

void TextIssues::finish(Fix fix) const {
  if (n_issues_ > 0) throw ParseError(file_name_, issues_, n_issues_, std::move(fix));
}

}  // namespace kiln::problems::detail
