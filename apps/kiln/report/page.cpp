// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "report/page.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "kiln/version.hpp"

#include "report/content_hash.hpp"

namespace kiln::cli {

Page::Page(std::string title) : title_(std::move(title)) {}

void Page::header(std::string_view title, std::string_view subtitle, std::string_view body) {
  body_ += fmt::format("<header>\n<h1>{}</h1>\n<p class=\"subtitle\">{}</p>\n{}</header>\n",
                       html(title), subtitle, body);
}

void Page::section(std::string_view id, std::string_view title, std::string_view content,
                   bool folded) {
  if (content.empty()) return;
  sections_.emplace_back(id);
  headings_.emplace_back(title);
  if (folded) {
    body_ += fmt::format(
        "<section id=\"{}\"><details><summary><h2>{}</h2></summary>\n{}</details></section>\n", id,
        html(title), content);
  } else {
    body_ +=
        fmt::format("<section id=\"{}\"><h2>{}</h2>\n{}</section>\n", id, html(title), content);
  }
}

std::string Page::finish() && {
  std::string links;
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    links += fmt::format("<a href=\"#{}\">{}</a>", sections_[i], html(headings_[i]));
  }
  const std::string policy = fmt::format(
      "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
      policy_hash(page_style), policy_hash(page_script));
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"generator\" content=\"kiln {}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n"
      "<style>{}</style>\n</head>\n<body>\n"
      "<nav><span>{}</span><button id=\"theme\" type=\"button\">light / dark</button></nav>\n"
      "<main>\n{}</main>\n<footer>Written by Kiln {}.</footer>\n"
      "<div id=\"tip\" hidden></div>\n<script>{}</script>\n</body>\n</html>\n",
      policy, version(), html(title_), page_style, links, body_, version(), page_script);
}

std::string data_html(std::string_view field, double value, std::string_view shown) {
  return fmt::format("<data data-field=\"{}\" value=\"{}\">{}</data>", field, value, html(shown));
}

std::string tile_html(std::string_view label, std::string_view value, std::string_view note) {
  return fmt::format("<div class=\"tile\"><span class=\"name\">{}</span><b>{}</b>{}</div>\n",
                     html(label), value,
                     note.empty() ? std::string() : fmt::format("<small>{}</small>", note));
}

std::string table_html(const std::vector<std::vector<std::string>>& rows,
                       std::size_t first_number) {
  if (rows.size() < 2) return {};
  std::string text = "<div class=\"wide\"><table>\n<thead>";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const char* const cell = r == 0 ? "th" : "td";
    text += "<tr>";
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      text += fmt::format("<{}{}>{}</{}>", cell, c >= first_number ? " class=\"n\"" : "",
                          rows[r][c], cell);
    }
    text += r == 0 ? "</tr></thead>\n<tbody>\n" : "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string figures_html(const std::vector<std::string>& figures) {
  std::string text;
  for (const std::string& figure : figures) text += figure;
  return text.empty() ? text : "<div class=\"figures\">\n" + text + "</div>\n";
}

std::string capitalized(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return text;
}

std::string duration_text(double seconds) {
  if (seconds > 0 && seconds < 1e-3) return fmt::format("{:.4g} µs", 1e6 * seconds);
  if (seconds > 0 && seconds < 1) return fmt::format("{:.4g} ms", 1e3 * seconds);
  return fmt::format("{:.4g} s", seconds);
}

std::string short_number(double value) {
  return std::isnan(value) ? "-" : fmt::format("{:.6g}", value);
}

}  // namespace kiln::cli
