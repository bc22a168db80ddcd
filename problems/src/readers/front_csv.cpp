// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <istream>
#include <optional>
#include <string_view>

#include "kiln/problems/fronts.hpp"

#include "text_reader.hpp"

namespace kiln::problems {
namespace {

using detail::Field;
using detail::TextReader;
using detail::Token;

constexpr std::string_view front_form =
    "lines of numbers separated by commas, blanks or tabs, one line for each point";

bool is_comment(const Token& word) { return word.text.front() == '#'; }

/// The values of a line: its words, which commas divide further. Between two commas, before the
/// first and behind the last one stands a value too, if only an empty one.
std::vector<Token> values_of(const std::vector<Token>& words) {
  std::vector<Token> values;
  bool expected = true;  // no value since the last comma
  for (const auto& [text, column] : words) {
    for (std::size_t begin = 0;;) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      const bool comma = end < text.size();
      if (end > begin || (comma && expected)) {
        values.push_back(
            {text.substr(begin, end - begin), column + static_cast<std::int64_t>(begin)});
        expected = false;
      }
      if (!comma) break;
      expected = true;
      begin = end + 1;
    }
  }
  const Token& last = words.back();
  if (expected) values.push_back({{}, last.column + static_cast<std::int64_t>(last.text.size())});
  return values;
}

/// NaN and numbers that are too large are no names.
bool is_name(const Token& value) {
  double number = 0;
  const char* const why = detail::why_no_real(value.text, number);
  return !value.text.empty() && why != nullptr && std::string_view(why) == " is not a number";
}

/// The point of a line; not complete if there was something to complain about.
std::vector<double> point_of(TextReader& text, const std::vector<Token>& values) {
  std::vector<double> point;
  for (const Token& value : values) {
    if (value.text.empty()) {
      text.complain(value.column, "a value is missing", front_form);
      continue;
    }
    const std::optional<double> number = text.real(value, Field{"the value", "a finite number"});
    if (number) point.push_back(*number);
  }
  return point;
}

}  // namespace

Points read_front(std::istream& in, const std::string& name) {
  TextReader text(in, name);
  Points points;
  std::size_t objectives = 0;  // as the first point has them; 0: there was none yet
  bool first = true;
  while (text.next_line()) {
    if (is_comment(text.words().front())) continue;
    const std::vector<Token> values = values_of(text.words());
    const bool names = first && std::all_of(values.begin(), values.end(), is_name);
    first = false;
    if (names) continue;
    if (objectives == 0) objectives = values.size();
    if (values.size() != objectives) {
      text.complain(0,
                    "the line should have " + std::to_string(objectives) + " values and has " +
                        std::to_string(values.size()),
                    "as many values as in the first point");
      continue;
    }
    points.push_back(point_of(text, values));
  }
  if (objectives == 0) text.fail_file("there are no points", front_form);
  text.finish();
  return points;
}

}  // namespace kiln::problems
