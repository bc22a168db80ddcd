// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "front/svg_canvas.hpp"

namespace kiln::cli {

/// The largest report: what mail programs pass on.
inline constexpr std::size_t max_report_bytes = 500'000;

/// A report as one HTML file: style sheet and script are within it, and its content policy allows
/// these two by their hashes and nothing else.
class Page {
 public:
  /// @param title  a text, not HTML; the same of all titles and headings below
  explicit Page(std::string title);

  /// The beginning of the page.
  /// @param subtitle, body  HTML
  void header(std::string_view title, std::string_view subtitle, std::string_view body);
  /// A section with a heading; nothing where the content is empty.
  /// @param id  of letters and dashes
  /// @param content  HTML
  /// @param folded  shown on request
  void section(std::string_view id, std::string_view title, std::string_view content,
               bool folded = false);
  /// The ids of the sections so far.
  const std::vector<std::string>& sections() const { return sections_; }
  std::string finish() &&;

 private:
  std::string title_, body_;
  std::vector<std::string> sections_, headings_;
};

/// A text as HTML: svg_escaped().
inline std::string html(std::string_view text) { return svg_escaped(text); }

/// A number for people, with the number of the file as its value for programs.
/// @param field  where the file has it, as "objective.best"
std::string data_html(std::string_view field, double value, std::string_view shown);

/// A paragraph of a label and HTML.
std::string tile_html(std::string_view label, std::string_view value, std::string_view note = {});

/// A table in a box that scrolls where it is too wide.
/// @param rows  HTML of the cells; the first row has the names of the columns
/// @param first_number  from this column on cells stand right
std::string table_html(const std::vector<std::vector<std::string>>& rows, std::size_t first_number);

/// Figures side by side where there is room; "" for none.
std::string figures_html(const std::vector<std::string>& figures);

/// Up to six significant digits; "-" for NaN.
std::string short_number(double value);

/// Seconds in a unit that fits: 28.65 µs, 473.8 ms, 6.093 s.
std::string duration_text(double seconds);

/// The text with a capital at its beginning.
std::string capitalized(std::string text);

extern const std::string_view page_style, page_script;

}  // namespace kiln::cli
