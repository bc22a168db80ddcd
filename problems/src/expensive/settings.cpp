// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <algorithm>

#include "kiln/errors.hpp"

#include "readers/csv.hpp"
#include "readers/text_reader.hpp"

namespace kiln::problems::detail {

std::string setting_or(const ProblemSettings& settings, const std::string& name,
                       const std::string& otherwise) {
  const auto found = settings.find(name);
  return found == settings.end() ? otherwise : found->second;
}

std::vector<std::string> split_list(const std::string& text, char separator) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    const std::size_t first = text.find_first_not_of(' ', at);
    if (first < end) {
      words.push_back(text.substr(first, text.find_last_not_of(' ', end - 1) - first + 1));
    }
    at = end + 1;
  }
  return words;
}

std::vector<std::string> list_of(const ProblemSettings& settings, const std::string& name) {
  const std::string text = setting_or(settings, name, "");
  const auto cells = csv_cells(text, ',');
  if (!cells) return split_list(text, ',');
  std::vector<std::string> words;
  for (const CsvCell& cell : *cells) {
    if (!cell.text.empty()) words.push_back(cell.text);
  }
  return words;
}

Sense sense_of(const ProblemSettings& settings, Sense otherwise) {
  const auto found = settings.find("sense");
  if (found == settings.end()) return otherwise;
  const std::string& text = found->second;
  if (text == "minimize" || text == "minimise") return Sense::minimize;
  if (text == "maximize" || text == "maximise") return Sense::maximize;
  throw InvalidArgument("problem.sense",
                        "--sense " + printable(text) + " is neither minimize nor maximize", {},
                        "--sense minimize");
}

}  // namespace kiln::problems::detail
