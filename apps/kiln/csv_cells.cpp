// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "csv_cells.hpp"

#include <charconv>
#include <system_error>

namespace kiln::cli {

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

std::vector<std::string> cells_in(const std::string& line) {
  std::vector<std::string> cells(1);
  bool within = false, was_quoted = false;
  const auto end_cell = [&] {
    if (!was_quoted) cells.back() = trimmed(cells.back());
    was_quoted = false;
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      if (within && i + 1 < line.size() && line[i + 1] == '"') {
        cells.back() += line[i++];
        continue;
      }
      within = !within;
      if (within && trimmed(cells.back()).empty()) cells.back().clear();
      was_quoted = true;
    } else if (c == ',' && !within) {
      end_cell();
      cells.emplace_back();
    } else if (within || !was_quoted) {
      cells.back() += c;  // what stands between a quote and a comma is left out
    }
  }
  end_cell();
  return cells;
}

std::string quoted_cell(const std::string& text) {
  if (text.find_first_of(",\"\n#") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::optional<double> number_in_cell(const std::string& cell) {
  double value = 0;
  const char* const end = cell.data() + cell.size();
  const auto [rest, error] = std::from_chars(cell.data(), end, value);
  if (cell.empty() || error != std::errc() || rest != end) return std::nullopt;
  return value;
}

}  // namespace kiln::cli
