// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "dimacs.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace kiln::problems::detail {

bool next_significant_line(TextReader& text) {
  while (text.next_line()) {
    if (!text.words().front().text.starts_with('c')) return true;
  }
  return false;
}

void read_problem_line(TextReader& text, std::initializer_list<std::string_view> kinds,
                       std::size_t n_words, std::string_view form) {
  if (!next_significant_line(text)) text.fail(0, "the file has no header", form);
  const std::vector<Token>& words = text.words();
  if (words[0].text != "p") text.fail(words[0].column, "the header is missing", form);
  if (words.size() != n_words) {
    text.fail(words[0].column,
              "the header should have " + std::to_string(n_words) + " words and has " +
                  std::to_string(words.size()),
              form);
  }
  if (std::ranges::find(kinds, words[1].text) != kinds.end()) return;
  text.fail(words[1].column, "the header gives the problem kind '" + printable(words[1].text) + "'",
            form);
}

bool has_words(TextReader& text, std::size_t wanted, std::string_view form) {
  const std::vector<Token>& words = text.words();
  if (words.size() == wanted) return true;
  const Token& at = words.size() < wanted ? words.front() : words[wanted];
  text.complain(at.column,
                "the line should have " + std::to_string(wanted) + " words and has " +
                    std::to_string(words.size()),
                form);
  return false;
}

void check_total(TextReader& text, std::int64_t promised, std::int64_t found,
                 std::string_view plural, std::string_view form) {
  if (found >= promised) return;
  text.complain(0,
                "the number of " + std::string(plural) + " is " + std::to_string(promised) +
                    " in the header, but " + std::to_string(found) + " in the file",
                form);
}

}  // namespace kiln::problems::detail
