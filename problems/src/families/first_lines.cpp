// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "families/first_lines.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace kiln::problems::detail {

namespace {

FirstLines::Words words_of(const TextReader& text) {
  FirstLines::Words words;
  for (const Token& word : text.words()) words.emplace_back(word.text);
  return words;
}

bool is_real(std::string_view word) {
  double value = 0;
  return why_no_real(word, value) == nullptr;
}

}  // namespace

FirstLines::FirstLines(TextReader& text, std::size_t n_bytes)
    : text_(text), n_bytes_(n_bytes), lines_{words_of(text)} {}

const FirstLines::Words* FirstLines::line(std::size_t k) {
  while (lines_.size() <= k && !at_end_) {
    at_end_ = !text_.next_line();
    if (!at_end_) lines_.push_back(words_of(text_));
  }
  return k < lines_.size() ? &lines_[k] : nullptr;
}

bool FirstLines::is_cut() const noexcept {
  constexpr std::size_t long_row = 32768;
  return n_bytes_ > long_row;
}

bool is_integer(const std::string& word) {
  const char* const end = word.data() + word.size();
  std::int64_t value = 0;
  return std::from_chars(word.data(), end, value).ptr == end;
}

std::size_t numbers_of(const FirstLines::Words& words) {
  std::size_t numbers = 0;
  for (const std::string_view word : words) {
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t end = std::min(word.find_first_of(",;", at), word.size());
      if (end > at && !is_real(word.substr(at, end - at))) return 0;
      numbers += end > at ? 1 : 0;
      at = end + 1;
    }
  }
  return numbers;
}

}  // namespace kiln::problems::detail
