// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <algorithm>
#include <iterator>

#include "kiln/errors.hpp"

#include "readers/csv.hpp"
#include "readers/text_reader.hpp"

namespace kiln::problems::detail {

std::vector<std::string> texts_of(const ProblemSettings& settings, const std::string& name) {
  const auto found = settings.find(name);
  return found == settings.end() ? std::vector<std::string>{} : found->second;
}

std::string setting_or(const ProblemSettings& settings, const std::string& name,
                       const std::string& otherwise) {
  const std::vector<std::string> texts = texts_of(settings, name);
  return texts.empty() ? otherwise : texts.back();
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
  std::vector<std::string> words;
  for (const std::string& text : texts_of(settings, name)) {
    const auto cells = csv_cells(text, ',');
    if (!cells) {
      std::ranges::copy(split_list(text, ','), std::back_inserter(words));
      continue;
    }
    for (const CsvCell& cell : *cells) {
      if (!cell.text.empty()) words.push_back(cell.text);
    }
  }
  return words;
}

Sense sense_of(const ProblemSettings& settings, Sense otherwise) {
  const std::vector<std::string> texts = texts_of(settings, "sense");
  if (texts.empty()) return otherwise;
  const std::string& text = texts.back();
  if (text == "minimize" || text == "minimise") return Sense::minimize;
  if (text == "maximize" || text == "maximise") return Sense::maximize;
  throw InvalidArgument("problem.sense",
                        "--sense " + printable(text) + " is neither minimize nor maximize", {},
                        "--sense minimize");
}

}  // namespace kiln::problems::detail
