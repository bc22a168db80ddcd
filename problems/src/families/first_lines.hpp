// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "readers/text_reader.hpp"

namespace kiln::problems::detail {

/// The first lines of a text that have words, for those who tell formats by them. It reads on only
/// as far as somebody looks, because reading judges the text.
class FirstLines {
 public:
  using Words = std::vector<std::string>;

  /// @param text  stands at the line that is line(0)
  /// @param n_bytes  how many bytes of the text are known at all
  FirstLines(TextReader& text, std::size_t n_bytes);

  /// The words of line k; null behind the last line that is known.
  /// @throws ParseError as TextReader::next_line().
  const Words* line(std::size_t k);

  /// Whether the text is so long that its next lines may lie behind what is known.
  bool is_cut() const noexcept;

 private:
  TextReader& text_;
  std::size_t n_bytes_;
  bool at_end_ = false;
  std::deque<Words> lines_;
};

/// Whether a word begins with a whole number and has nothing behind it.
bool is_integer(const std::string& word);

/// How many numbers a line has, apart by blanks, commas or semicolons; 0 if anything else is in it.
std::size_t numbers_of(const FirstLines::Words& words);

}  // namespace kiln::problems::detail
