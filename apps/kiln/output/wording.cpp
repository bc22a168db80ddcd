// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/wording.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "output/text.hpp"

namespace kiln::cli {

const char* option_of(Sense sense) noexcept {
  return sense == Sense::maximize ? "maximize" : "minimize";
}

std::string aim_text(const Problem& problem) {
  if (!problem.objectives) {
    return fmt::format("{} {}", verb_of(problem.units.sense), clean(problem.units.value_name));
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

std::size_t display_width(std::string_view text) {
  // Blanks that bring the text to the width of its bytes, which no character exceeds.
  return 2 * text.size() - fmt::formatted_size("{:<{}}", text, text.size());
}

std::string shortened_name(std::string_view text, std::size_t width) {
  constexpr std::string_view gap = "...";
  if (display_width(text) <= width) return std::string(text);
  const auto continues = [&](std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
  };
  const std::size_t room = width - gap.size(), tail_room = room / 2;
  std::size_t rest = text.size();
  for (std::size_t at = rest; at > 0;) {
    do --at;
    while (at > 0 && continues(at));
    if (display_width(text.substr(at)) > tail_room) break;
    rest = at;
  }
  std::size_t cut = 0;
  for (std::size_t at = 0; at < rest;) {
    do ++at;
    while (continues(at));
    if (display_width(text.substr(0, at)) > room - tail_room) break;
    cut = at;
  }
  return fmt::format("{}{}{}", text.substr(0, cut), gap, text.substr(rest));
}

std::string spaced_table(const std::vector<std::vector<std::string>>& rows,
                         std::size_t first_number, std::size_t blanks) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
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

std::string stacked_table(const std::vector<std::vector<std::string>>& rows,
                          std::size_t first_number, std::size_t columns) {
  constexpr std::size_t blanks = 3, indent = 2;
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  // Where each line begins.
  std::vector<std::size_t> begins{0};
  std::size_t width = widths.front();
  for (std::size_t i = 1; i < widths.size(); ++i) {
    width += blanks + widths[i];
    if (width <= columns) continue;
    begins.push_back(i);
    width = indent + widths[i];
  }
  if (begins.size() == 1) return spaced_table(rows, first_number, blanks);
  begins.push_back(widths.size());
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t line = 0; line + 1 < begins.size(); ++line) {
      std::string cells(line == 0 ? 0 : indent, ' ');
      for (std::size_t i = begins[line]; i < begins[line + 1]; ++i) {
        const std::string gap(i == begins[line] ? 0 : blanks, ' ');
        cells += gap + (i < first_number ? fmt::format("{:<{}}", row[i], widths[i])
                                         : fmt::format("{:>{}}", row[i], widths[i]));
      }
      cells.erase(cells.find_last_not_of(' ') + 1);
      text += fitted(cells, columns) + "\n";
    }
  }
  return text;
}

std::string values_text(std::string_view label,
                        const std::vector<std::pair<std::string, std::string>>& values,
                        std::string_view rest, std::size_t columns) {
  constexpr std::size_t max_lines = 2;
  std::vector<std::string> lines{fmt::format("{:<7}", label)};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool last = i + 1 == values.size();
    const std::string cell =
        fmt::format("{} = {}{}", clean(values[i].first), clean(values[i].second), last ? "" : ",");
    const std::string more =
        last ? "" : fmt::format(" ... and {} more{}", values.size() - i - 1, rest);
    const auto fits = [&](const std::string& after) {
      return lines.back().size() + 1 + cell.size() + after.size() <= columns;
    };
    if (!fits("") && lines.size() < max_lines) lines.emplace_back(7, ' ');
    // On the last line there must be room for how many are left out, too.
    if (lines.size() == max_lines && !fits(more) && lines.back().size() > 7) {
      lines.back() += fmt::format(" ... and {} more{}", values.size() - i, rest);
      break;
    }
    lines.back() += (lines.back().size() > 7 ? " " : "") + cell;
  }
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace kiln::cli
