// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "worker_lines.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "readers/text_reader.hpp"

namespace kiln::problems::detail {
namespace {

using Json = nlohmann::json;
using Answer = WorkerAnswer;

constexpr std::size_t longest_quote = 200;

std::string in_quotes(std::string_view line) {
  return "'" + printable(line.substr(0, longest_quote)) +
         (line.size() > longest_quote ? "...'" : "'");
}

Answer no_answer(std::int64_t id, std::string_view line) {
  return {Answer::Kind::no_answer,
          {},
          "the worker printed " + in_quotes(line) + ", which is no answer to request " +
              std::to_string(id)};
}

// Numbers of an answer with the right id.
Answer judged(std::vector<double> numbers, std::string_view line, std::size_t count) {
  if (numbers.size() != count) {
    return {Answer::Kind::failed,
            {},
            "the answer " + in_quotes(line) + " has " + std::to_string(numbers.size()) +
                " numbers; expected " + std::to_string(count)};
  }
  if (!std::isfinite(numbers.front())) {
    return {Answer::Kind::failed, {}, "the value of the answer is not a finite number"};
  }
  return {Answer::Kind::values, std::move(numbers), {}};
}

Answer reported_failure(const std::string& reason) {
  return {Answer::Kind::failed,
          {},
          "the worker reported a failure" + (reason.empty() ? "" : ": " + printable(reason))};
}

Answer read_json(std::int64_t id, std::string_view line, std::size_t count) {
  constexpr int max_depth = 8;
  const auto is_shallow = [](int depth, Json::parse_event_t, const Json&) {
    return depth <= max_depth;
  };
  const Json json = Json::parse(line, is_shallow, false);
  if (!json.is_object() || !json.contains("id") || json["id"] != id) return no_answer(id, line);
  if (json.contains("failed")) {
    const Json& reason = json["failed"];
    return reported_failure(reason.is_string() ? reason.get<std::string>() : "");
  }
  if (!json.contains("value")) return no_answer(id, line);
  std::vector<Json> values{json["value"]};
  if (json.contains("constraints") && json["constraints"].is_array()) {
    for (const Json& one : json["constraints"]) values.push_back(one);
  }
  std::vector<double> numbers;
  for (const Json& one : values) {
    if (one.is_null()) return reported_failure("");
    if (!one.is_number()) return no_answer(id, line);
    numbers.push_back(one.get<double>());
  }
  return judged(std::move(numbers), line, count);
}

std::vector<std::string_view> split_words(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view separators = " \t\r";
  for (std::size_t at = line.find_first_not_of(separators); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(separators, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(separators, end);
  }
  return words;
}

Answer read_words(std::int64_t id, std::string_view line, std::size_t count) {
  const std::vector<std::string_view> words = split_words(line);
  if (words.size() < 2 || words[0] != std::to_string(id)) return no_answer(id, line);
  if (words[1] == "failed") {
    const std::size_t reason = line.find("failed") + 6;
    return reported_failure(std::string(line.substr(std::min(reason + 1, line.size()))));
  }
  std::vector<double> numbers;
  for (std::size_t w = 1; w < words.size(); ++w) {
    std::string_view word = words[w];
    if (word.starts_with('+')) word.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) return no_answer(id, line);
    numbers.push_back(value);
  }
  return judged(std::move(numbers), line, count);
}

}  // namespace

std::string request_line(WorkerForm form, std::int64_t id,
                         const std::vector<CommandVariable>& variables,
                         const std::vector<std::string>& values) {
  std::string line = std::to_string(id);
  if (form == WorkerForm::words) {
    for (const std::string& value : values) line += " " + value;
    return line + "\n";
  }
  std::string point;
  for (std::size_t v = 0; v < values.size(); ++v) {
    const auto text = [](const std::string& of) {
      return Json(of).dump(-1, ' ', false, Json::error_handler_t::replace);
    };
    const bool word = variables[v].kind == CommandVariable::Kind::category;
    point +=
        (v == 0 ? "" : ",") + text(variables[v].name) + ":" + (word ? text(values[v]) : values[v]);
  }
  return "{\"id\":" + line + ",\"point\":{" + point + "}}\n";
}

WorkerAnswer read_answer(WorkerForm form, std::int64_t id, std::string_view line,
                         std::size_t count) {
  return form == WorkerForm::json ? read_json(id, line, count) : read_words(id, line, count);
}

}  // namespace kiln::problems::detail
