// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "wording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "text.hpp"

namespace kiln::cli {

const char* option_of(Sense sense) noexcept {
  return sense == Sense::maximize ? "maximize" : "minimize";
}

std::string aim_text(const Problem& problem) {
  if (!problem.objectives) {
    return fmt::format("{} {}", verb_of(problem.sense), clean(problem.value_name));
  }
  const Objectives& objectives = *problem.objectives;
  std::string text;
  for (std::size_t k = 0; k < objectives.count(); ++k) {
    const bool said = k > 0 && objectives.maximized[k] == objectives.maximized[k - 1];
    const Sense sense = objectives.maximized[k] ? Sense::maximize : Sense::minimize;
    text += fmt::format("{}{}{}", k == 0 ? "" : ", ",
                        said ? std::string() : verb_of(sense) + std::string(" "),
                        clean(objectives.names[k]));
  }
  return text;
}

NamedUnit named_unit(const std::string& text) {
  const std::size_t at = text.rfind(" [");
  if (at == std::string::npos || at == 0 || text.back() != ']') return {text, {}};
  return {text.substr(0, at), text.substr(at + 2, text.size() - at - 3)};
}

std::vector<std::string> without_units(const std::vector<std::string>& names) {
  std::vector<std::string> bare;
  for (const std::string& name : names) bare.push_back(named_unit(name).name);
  std::map<std::string, int> count;
  for (const std::string& name : bare) ++count[name];
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (count[bare[i]] > 1) bare[i] = names[i];
  }
  return bare;
}

std::string spaced_table(const std::vector<std::vector<std::string>>& rows,
                         std::size_t first_number, std::size_t blanks) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool last = i + 1 == row.size();
      const std::string cell = i < first_number ? row[i] : fmt::format("{:>{}}", row[i], widths[i]);
      text += last ? cell + "\n" : fmt::format("{:<{}}", cell, widths[i] + blanks);
    }
  }
  return text;
}

}  // namespace kiln::cli
