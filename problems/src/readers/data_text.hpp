// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/problems/model_data.hpp"

namespace kiln::problems::detail {

/// The complaints about a text.
class TextIssues {
 public:
  explicit TextIssues(const std::string& file_name);

  const std::string& file_name() const noexcept { return file_name_; }

  /// Notes an issue; columns are bytes from 1, 0 stands for the whole line.
  void complain(std::int64_t line, std::int64_t column, std::string message,
                std::string_view expected);
  /// The same, where going on makes no sense.
  [[noreturn]] void fail(std::int64_t line, std::int64_t column, std::string message,
                         std::string_view expected);
  /// @throws ParseError if there were complaints.
  void finish(Fix fix = {}) const;

 private:
  std::string file_name_;
  std::vector<ParseIssue> issues_;
  std::int64_t n_issues_ = 0;
};

/// A whole text in memory, and the complaints about it: what the readers of data share.
class DataText : public TextIssues {
 public:
  /// @param line_bytes  how long a line may be; what has no line end is not read to its end
  /// @throws ParseError if this is no plain text or too long; IoError `io.read`.
  DataText(std::istream& in, const std::string& file_name,
           std::size_t line_bytes = static_cast<std::size_t>(-1));

  std::string_view text() const noexcept { return text_; }
  /// The text, which is then empty here.
  std::string take() noexcept { return std::move(text_); }

 private:
  void check_block(std::size_t begin, std::size_t line_bytes);

  std::string text_;
  std::int64_t line_ = 1;       // that the last block ends in
  std::size_t line_begin_ = 0;  // where that begins
};

ModelData parse_csv(DataText& text);
ModelData parse_json(DataText& text);

}  // namespace kiln::problems::detail
