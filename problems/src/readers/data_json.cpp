// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>

#include "kiln/problems/model_data.hpp"

#include "data_text.hpp"
#include "text_reader.hpp"

namespace kiln::problems {
namespace {

using detail::DataText;
using detail::printable;

constexpr std::string_view object_form =
    "a JSON object {\"name\": number or array of numbers, ...}";
constexpr std::string_view value_form =
    "a number, an array of numbers, or an array of arrays of equal length";
constexpr std::size_t max_depth = 8;

/// Goes through an object of numeric arrays. The first thing that is no JSON ends it, because
/// nothing behind it can be understood; values that are no numbers are collected.
class ObjectReader {
 public:
  explicit ObjectReader(DataText& text) : text_(text), rest_(text.text()) {}

  ModelData read() {
    skip_blanks();
    if (rest_.empty()) text_.fail(0, 0, "there are no data; the file is empty", object_form);
    if (rest_.front() != '{') stop("the JSON object must begin here with '{'", object_form);
    take();
    skip_blanks();
    if (peek() == '}') {
      take();
    } else {
      do read_member();
      while (goes_on('}'));
    }
    skip_blanks();
    if (!rest_.empty()) stop("text follows the end of the object", object_form);
    if (arrays_.empty()) text_.fail(0, 0, "there are no data; the object is empty", object_form);
    text_.finish();
    ModelData data(text_.file_name());
    for (DataArray& array : arrays_) data.add(std::move(array));
    return data;
  }

 private:
  char peek() const { return rest_.empty() ? '\0' : rest_.front(); }

  void take() {
    column_ = rest_.front() == '\n' ? 1 : column_ + 1;
    line_ += rest_.front() == '\n' ? 1 : 0;
    rest_.remove_prefix(1);
  }

  void skip_blanks() {
    while (!rest_.empty() && std::string_view(" \t\r\n").find(peek()) != std::string_view::npos) {
      take();
    }
  }

  [[noreturn]] void stop(const std::string& message, std::string_view expected) {
    if (rest_.empty()) text_.fail(line_, 0, "the file ends within the object", expected);
    text_.fail(line_, column_, message, expected);
  }

  void complain(std::int64_t at, std::string message, std::string_view expected) {
    text_.complain(line_, at, std::move(message), expected);
  }

  // Behind a member or an element: whether another follows.
  bool goes_on(char close) {
    skip_blanks();
    const char c = peek();
    if (c != ',' && c != close) {
      stop(std::string("a ',' or a '") + close + "' is missing here", object_form);
    }
    take();
    skip_blanks();
    return c == ',';
  }

  void read_member() {
    skip_blanks();
    const std::int64_t at = column_;
    std::string name = read_string();
    if (name.empty()) complain(at, "a variable has no name", object_form);
    if (!names_.insert(name).second) {
      complain(at, "the variable '" + printable(name) + "' appears twice", "unique names");
    }
    skip_blanks();
    if (peek() != ':') stop("a ':' is missing here", object_form);
    take();
    skip_blanks();
    DataArray array{std::move(name), {}, {}, line_};
    read_value(array, 0);
    array.shape = std::move(shape_);
    shape_.clear();
    arrays_.push_back(std::move(array));
  }

  // A text in double quotes. Escapes stand for themselves: names of variables have none.
  std::string read_string() {
    if (peek() != '"') stop("a name in double quotes is missing here", object_form);
    take();
    std::string text;
    while (peek() != '"') {
      if (rest_.empty() || peek() == '\n')
        stop("the name has no closing double quote in this line", object_form);
      text += peek();
      take();
    }
    take();
    return text;
  }

  void read_value(DataArray& array, std::size_t depth) {
    if (peek() == '[') {
      read_array(array, depth);
      return;
    }
    // A number where there were rows before.
    if (depth < shape_.size()) {
      complain(column_, "'" + printable(array.name) + "' mixes numbers and arrays", value_form);
    }
    read_number(array);
  }

  void read_array(DataArray& array, std::size_t depth) {
    if (depth == max_depth) {
      stop("arrays are nested more than " + std::to_string(max_depth) + " levels deep", value_form);
    }
    // Rows where there was a number before: only the first path down may open a new dimension.
    if (depth == shape_.size() && !array.values.empty()) {
      complain(column_, "'" + printable(array.name) + "' mixes numbers and arrays", value_form);
    }
    const std::int64_t at = column_;
    const bool first = depth == shape_.size();
    if (first) shape_.push_back(-1);
    take();
    skip_blanks();
    std::int64_t size = 0;
    if (peek() == ']') {
      take();
    } else {
      do {
        read_value(array, depth + 1);
        ++size;
      } while (goes_on(']'));
    }
    if (depth < shape_.size() && shape_[depth] < 0) {
      shape_[depth] = size;
    } else if (depth < shape_.size() && shape_[depth] != size) {
      complain(at,
               "this row of '" + printable(array.name) + "' has " + std::to_string(size) +
                   " values, but the first row has " + std::to_string(shape_[depth]),
               value_form);
    }
  }

  void read_number(DataArray& array) {
    constexpr std::string_view ends = " \t\r\n,]}";
    const std::int64_t at = column_;
    if (peek() == '"' || peek() == '{') {
      stop("the value of '" + printable(array.name) + "' is not a number", value_form);
    }
    const std::size_t length = std::min(rest_.find_first_of(ends), rest_.size());
    const std::string_view word = rest_.substr(0, length);
    double value = 0;
    if (word.empty()) stop("a value is missing here", value_form);
    if (word == "null" || word == "NA") {
      complain(at, "a value of '" + printable(array.name) + "' is missing", "a number");
    } else if (const char* const why = detail::why_no_real(word, value)) {
      complain(at, "the value '" + printable(word) + "' of '" + printable(array.name) + "'" + why,
               "a finite number");
    }
    array.values.push_back(value);
    for (std::size_t i = 0; i < length; ++i) take();
  }

  DataText& text_;
  std::string_view rest_;
  std::int64_t line_ = 1;
  std::int64_t column_ = 1;
  std::set<std::string> names_;
  std::vector<DataArray> arrays_;
  std::vector<std::int64_t> shape_;  // of the array that is being read; -1: not known yet
};

}  // namespace

ModelData detail::parse_json(DataText& text) { return ObjectReader(text).read(); }

}  // namespace kiln::problems
