// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "program_output.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "readers/text_reader.hpp"

namespace kiln::problems::detail {
namespace {

using Json = nlohmann::json;

constexpr std::string_view blanks = " \t\r";
constexpr const char* advice = "; print a line such as 'value = 0.25'";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed(text.substr(at, end - at));
    if (!line.empty()) lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

/// A word of a line: a number, what begins like one, or neither.
struct Word {
  std::string_view text;
  std::optional<double> number;
  bool begins_like_one = false;
};

Word word_of(std::string_view text) {
  Word word{text, {}, false};
  std::string_view rest = text;
  if (rest.starts_with('+')) rest.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error == std::errc() && end == rest.data() + rest.size()) word.number = value;
  if (!rest.empty() && rest.front() == '-') rest.remove_prefix(1);
  if (!rest.empty() && rest.front() == '.') rest.remove_prefix(1);
  word.begins_like_one = !rest.empty() && is_digit(rest.front());
  return word;
}

// Whether a comma or colon belongs to a word: 0,25 may be one number and 12:30 is none. A decimal
// point to the left or right of the comma tells that it separates: 0.5,1.
bool joins(std::string_view line, std::size_t at) {
  if (line[at] != ',' && line[at] != ':') return false;
  const bool between = at > 0 && at + 1 < line.size() && is_digit(line[at - 1]) &&
                       (is_digit(line[at + 1]) || line[at + 1] == '.');
  if (!between || line[at] == ':') return between;
  constexpr std::string_view ends = " \t\r,;:=";
  const std::size_t before = line.find_last_of(ends, at - 1);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const std::size_t end = std::min(line.find_first_of(ends, at + 1), line.size());
  constexpr std::string_view of_reals = ".eE";
  const auto is_real = [&](std::string_view part) {
    return part.find_first_of(of_reals) != std::string_view::npos;
  };
  return !is_real(line.substr(begin, at - begin)) && !is_real(line.substr(at + 1, end - at - 1));
}

std::vector<Word> words_of(std::string_view line) {
  constexpr std::string_view between = " \t\r,;:=";
  std::vector<Word> words;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= line.size(); ++at) {
    const bool separates =
        at == line.size() || (between.find(line[at]) != std::string_view::npos && !joins(line, at));
    if (!separates) continue;
    if (at > begin) words.push_back(word_of(line.substr(begin, at - begin)));
    begin = at + 1;
  }
  return words;
}

std::string quoted(std::string_view line) { return "'" + printable(line) + "'"; }

std::string no_number(std::string_view word, std::string_view line) {
  return quoted(word) + " of the output line " + quoted(line) + " is not a number" + advice;
}

std::string too_few(std::size_t count) {
  return count == 1 ? "the program printed no number"
                    : "the program printed fewer than " + std::to_string(count) + " numbers";
}

// What stands behind `name =` or `name:` in a line that begins so.
std::optional<std::string_view> behind(std::string_view line, std::string_view name) {
  if (!line.starts_with(name)) return {};
  line.remove_prefix(name.size());
  const std::size_t sign = line.find_first_not_of(blanks);
  if (sign == std::string_view::npos || (line[sign] != '=' && line[sign] != ':')) return {};
  return line.substr(sign + 1);
}

// Numbers and nothing else; a complaint about `line` otherwise.
void take_all(std::string_view text, std::string_view line, ProgramOutput& output) {
  for (const Word& word : words_of(text)) {
    if (!word.number) {
      output.complaint = no_number(word.text, line);
      return;
    }
    output.numbers.push_back(*word.number);
  }
}

void check_count(ProgramOutput& output, std::size_t count) {
  if (!output.complaint.empty() || output.numbers.size() == count) return;
  output.complaint = "the output line '" + output.line + "' has " +
                     std::to_string(output.numbers.size()) + " numbers; expected " +
                     std::to_string(count);
  if (output.numbers.size() < count && count > 1) {
    output.complaint += "; print the constraint values in a line 'constraints = ...'";
  }
}

ProgramOutput named_value(const std::vector<std::string_view>& lines, std::string_view line,
                          std::string_view value, std::size_t count) {
  ProgramOutput output;
  output.line = printable(line);
  take_all(value, line, output);
  const auto constraints = std::find_if(lines.rbegin(), lines.rend(), [](std::string_view one) {
    return behind(one, "constraints").has_value();
  });
  const bool wanted = output.complaint.empty() && output.numbers.size() == 1 && count > 1;
  if (wanted && constraints != lines.rend()) {
    take_all(*behind(*constraints, "constraints"), *constraints, output);
  }
  check_count(output, count);
  return output;
}

std::optional<ProgramOutput> json_value(std::string_view text, std::size_t count) {
  if (!text.starts_with('{') || !text.ends_with('}')) return {};
  // Values are copied and shown by recursion; what is nested deeper is no number anyway.
  constexpr int max_depth = 8;
  const auto is_shallow = [](int depth, Json::parse_event_t, const Json&) {
    return depth <= max_depth;
  };
  const Json json = Json::parse(text, is_shallow, false);
  if (!json.is_object() || !json.contains("value")) return {};
  ProgramOutput output;
  constexpr std::size_t longest = 200;
  output.line = printable(text.substr(0, longest)) + (text.size() > longest ? "..." : "");
  std::vector<Json> values{json["value"]};
  if (json.contains("constraints") && json["constraints"].is_array()) {
    for (const Json& one : json["constraints"]) values.push_back(one);
  }
  for (const Json& one : values) {
    if (!one.is_number()) {
      output.complaint = "'" + printable(one.dump(-1, ' ', false, Json::error_handler_t::replace)) +
                         "' of the printed JSON object is not a number";
      return output;
    }
    output.numbers.push_back(one.get<double>());
  }
  check_count(output, count);
  return output;
}

// The last numbers of a text in which nothing says what they are.
ProgramOutput last_numbers(const std::vector<std::string_view>& lines, std::size_t count) {
  ProgramOutput output;
  for (auto line = lines.rbegin(); line != lines.rend() && output.numbers.size() < count; ++line) {
    const std::vector<Word> words = words_of(*line);
    const bool some = std::ranges::any_of(
        words, [](const Word& word) { return word.number || word.begins_like_one; });
    if (!some) continue;
    for (auto word = words.rbegin(); word != words.rend() && output.numbers.size() < count;
         ++word) {
      if (word->number) {
        output.numbers.insert(output.numbers.begin(), *word->number);
      } else if (word->begins_like_one) {
        output.complaint = no_number(word->text, *line);
      } else if (word == words.rbegin()) {
        output.complaint =
            quoted(word->text) + " follows the number in the output line " + quoted(*line) + advice;
      }
      if (!output.complaint.empty()) return output;
    }
    output.line = printable(*line);
  }
  if (output.numbers.size() < count) output.complaint = too_few(count);
  return output;
}

}  // namespace

ProgramOutput read_output(std::string_view text, std::size_t count) {
  const std::vector<std::string_view> lines = lines_of(text);
  std::optional<ProgramOutput> found = json_value(trimmed(text), count);
  for (auto line = lines.rbegin(); line != lines.rend() && !found; ++line) {
    if (const auto value = behind(*line, "value")) {
      found = named_value(lines, *line, *value, count);
    } else {
      found = json_value(*line, count);
    }
  }
  if (!found) found = last_numbers(lines, count);
  if (!found->complaint.empty()) found->numbers.clear();
  return *std::move(found);
}

}  // namespace kiln::problems::detail
