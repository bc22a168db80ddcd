// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kiln/host_threads.hpp"

#include "text_reader.hpp"

namespace kiln::problems::detail {

/// The words of a line that are numbers, one after the other, with single blanks between them.
class PlainLine {
 public:
  explicit PlainLine(std::string_view line) : rest_(line) {}

  /// The next word as a whole number in [low, high]; `good` is false where it is none.
  std::int64_t integer(std::int64_t low, std::int64_t high, bool& good) {
    const std::string_view word = next();
    std::int64_t value = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, value);
    good = good && stop == end && error == std::errc() && value >= low && value <= high;
    return value;
  }
  double real(bool& good) {
    double value = 0;
    good = good && why_no_real(next(), value) == nullptr;
    return value;
  }
  bool is_empty() const { return rest_.empty(); }

 private:
  std::string_view next() {
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return word;
  }
  std::string_view rest_;
};

inline constexpr std::size_t longest_plain_line = 4096;  ///< bytes

/// Reads lines ahead on several threads, for as long as they are plain. All others, and what is
/// wrong with them, are left to the caller's loop over next_line().
///
/// @param parse   parse(line): the term of a line, or nothing if it is not plain
/// @param n_most  lines that may follow
/// @return the number of lines that were read; each gave one of `terms`
template <class Term, class Parse>
std::int64_t read_plain_lines(TextReader& text, const Parse& parse, std::int64_t n_most,
                              std::vector<Term>& terms) {
  constexpr std::int64_t at_a_time = std::int64_t{1} << 23, piece_bytes = std::int64_t{1} << 17;
  using Piece = std::optional<std::vector<Term>>;
  std::int64_t n_lines = 0;
  for (;;) {
    const std::string_view lines = text.whole_lines(at_a_time);
    if (std::ssize(lines) < piece_bytes) return n_lines;
    // A line belongs to the piece in which it begins.
    const auto begin_of_line = [&](std::int64_t at) {
      if (at == 0) return std::size_t{0};
      return std::min(lines.find('\n', static_cast<std::size_t>(at) - 1), lines.size() - 1) + 1;
    };
    const auto parse_piece = [&](std::int64_t begin, std::int64_t end) -> Piece {
      std::vector<Term> piece;
      for (std::size_t at = begin_of_line(begin), stop = begin_of_line(end); at < stop;) {
        const std::size_t line_end = lines.find('\n', at);
        if (line_end - at > longest_plain_line) return std::nullopt;  // the reader has a limit
        const std::optional<Term> term = parse(lines.substr(at, line_end - at));
        if (!term) return std::nullopt;
        piece.push_back(*term);
        at = line_end + 1;
      }
      return piece;
    };
    const std::vector<Piece> pieces = of_each_block(std::ssize(lines), parse_piece, piece_bytes);
    std::int64_t n_found = 0;
    for (const Piece& piece : pieces) {
      if (!piece) return n_lines;
      n_found += std::ssize(*piece);
    }
    if (n_lines + n_found > n_most) return n_lines;
    for (const Piece& piece : pieces) {
      make_room(terms, n_most, std::ssize(*piece));
      terms.insert(terms.end(), piece->begin(), piece->end());
    }
    text.skip(lines.size(), n_found);
    n_lines += n_found;
  }
}

}  // namespace kiln::problems::detail
