// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "data_text.hpp"

#include <algorithm>
#include <array>
#include <istream>

#include "text_reader.hpp"

namespace kiln::problems::detail {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 30;
constexpr std::size_t most_issues = 5;

}  // namespace

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

std::string in_one_line(std::string text) {
  std::ranges::replace_if(text, is_control, '?');
  return text;
}

TextIssues::TextIssues(const std::string& file_name) : file_name_(file_name) {
  std::erase_if(file_name_, is_control);
}

DataText::DataText(std::istream& in, const std::string& name) : TextIssues(name) {
  if (!in) throw IoError("io.read", file_name() + ": cannot be read");
  std::array<char, 1 << 16> block;
  while (in) {
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    if (in.bad()) throw IoError("io.read", file_name() + ": reading failed");
    text_.append(block.data(), static_cast<std::size_t>(in.gcount()));
    if (text_.size() > most_bytes) {
      fail(0, 0, "the file is larger than " + std::to_string(most_bytes) + " bytes", {});
    }
  }
  if (const auto issue = foreign_encoding(text_)) fail(0, 0, issue->message, issue->expected);
  if (text_.starts_with(utf8_mark)) text_.erase(0, utf8_mark.size());
  const std::size_t zero = text_.find('\0');
  if (zero != std::string::npos) {
    const auto before = text_.begin() + static_cast<std::ptrdiff_t>(zero);
    fail(1 + std::count(text_.begin(), before, '\n'), 0,
         "the line has a NUL byte; this is no text file", "UTF-8 or ASCII text");
  }
}

void TextIssues::complain(std::int64_t line, std::int64_t column, std::string message,
                          std::string_view expected) {
  ++n_issues_;
  if (issues_.size() == most_issues) return;
  issues_.push_back({line, column, std::move(message), std::string(expected)});
}

void TextIssues::fail(std::int64_t line, std::int64_t column, std::string message,
                      std::string_view expected) {
  complain(line, column, std::move(message), expected);
  finish();
  throw ParseError(file_name_, issues_, n_issues_);
}

void TextIssues::finish() const {
  if (n_issues_ > 0) throw ParseError(file_name_, issues_, n_issues_);
}

}  // namespace kiln::problems::detail
