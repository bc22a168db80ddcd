// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/map_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/heat_map.hpp"
#include "analysis/link_graph.hpp"
#include "output/text.hpp"
#include "output/wording.hpp"
#include "report/page.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t max_table_rows = 300, max_notes = 100, max_shown_text = 200;

/// A text of any length from a file or an argument, as HTML.
std::string short_html(std::string_view text) {
  return html(shortened_name(clean(text), max_shown_text));
}

std::string tiles_html(const InformationMap& map) {
  std::string tiles = tile_html("rows", fmt::format("{}", map.rows));
  tiles += tile_html("columns", fmt::format("{}", map.names.size()));
  tiles += tile_html(has_source(map.measure) ? "links" : "estimates",
                     fmt::format("{}", ranked_links(map).size()));
  if (is_tested(map)) {
    const auto links = ranked_links(map);
    tiles +=
        tile_html("significant",
                  fmt::format("{}", std::ranges::count_if(links, &InformationLink::significant)),
                  "at " + html(rate_words(map)));
    tiles += tile_html("surrogates", fmt::format("{}", map.surrogates),
                       has_source(map.measure) ? "of each link" : "of each column");
  }
  return "<div class=\"tiles\">\n" + tiles + "</div>\n";
}

bool has_remarks(const InformationMap& map) {
  return std::ranges::any_of(map.links, [](const InformationLink& link) {
    return link.estimate.status != InformationStatus::ok;
  });
}

std::vector<std::string> header_of(const InformationMap& map, InformationUnit unit) {
  std::vector<std::string> cells;
  if (has_source(map.measure)) cells.emplace_back("source");
  cells.emplace_back(has_source(map.measure) ? "target" : "column");
  if (has_remarks(map)) cells.emplace_back("remark");
  if (has_lags(map)) cells.emplace_back("lag");
  cells.push_back(fmt::format("value [{}]", name_of(unit)));
  cells.emplace_back("spread");
  if (is_tested(map)) cells.insert(cells.end(), {"effective", "p", "q", "significant"});
  return cells;
}

std::vector<std::string> row_of(const InformationMap& map, const InformationLink& link,
                                InformationUnit unit) {
  const InformationEstimate& estimate = link.estimate;
  std::vector<std::string> cells;
  if (has_source(map.measure)) cells.push_back(short_html(column_name(map, link.source)));
  cells.push_back(short_html(column_name(map, link.target)));
  if (has_remarks(map)) cells.push_back(short_html(remark_of(map, link)));
  if (has_lags(map)) cells.push_back(fmt::format("{}", link.lag));
  cells.push_back(value_text(estimate.value, unit));
  cells.push_back(value_text(estimate.spread, unit));
  if (is_tested(map)) {
    cells.push_back(value_text(estimate.effective, unit));
    cells.push_back(probability_text(estimate.p_value));
    cells.push_back(probability_text(link.q_value));
    cells.emplace_back(link.significant ? "yes" : "no");
  }
  return cells;
}

std::string links_html(const InformationMap& map, InformationUnit unit) {
  std::vector<const InformationLink*> links = ranked_links(map);
  const std::size_t all = links.size();
  links.resize(std::min(all, max_table_rows));
  std::vector<std::vector<std::string>> rows{header_of(map, unit)};
  for (const InformationLink* link : links) rows.push_back(row_of(map, *link, unit));
  std::string text =
      table_html(rows, (has_source(map.measure) ? 2u : 1u) + (has_remarks(map) ? 1 : 0));
  if (all > links.size()) {
    text += fmt::format("<p class=\"note\">The strongest {} of {}; map.csv lists all.</p>\n",
                        links.size(), all);
  }
  return text;
}

std::string notes_html(const InformationMap& map) {
  if (map.notes.empty()) return {};
  std::string text;
  for (std::size_t i = 0; i < std::min(map.notes.size(), max_notes); ++i) {
    text += fmt::format("<li>{}</li>\n", html(shortened_name(clean(map.notes[i]), 1000)));
  }
  return "<ul class=\"advice\">\n" + text + "</ul>\n";
}

std::string parameters_html(const MapOrigin& origin) {
  std::vector<std::vector<std::string>> rows{{"parameter", "value"}};
  for (const auto& [name, value] : origin.parameters) {
    rows.push_back({short_html(name), short_html(value)});
  }
  return table_html(rows, rows.front().size());
}

/// A page that never grows beyond what mail programs pass on.
class BoundedPage {
 public:
  explicit BoundedPage(const std::string& title) : page_(title) {}

  void header(std::string_view title, std::string_view subtitle, const std::string& body) {
    page_.header(title, subtitle, body);
  }
  void section(std::string_view id, std::string_view title, const std::string& content,
               std::string_view file) {
    const bool fits = content.size() <= room_;
    if (fits) room_ -= content.size();
    page_.section(
        id, title,
        fits ? content
             : fmt::format("<p class=\"note\">Too large for the page: see {}.</p>\n", file));
  }
  std::string finish() && { return std::move(page_).finish(); }

 private:
  Page page_;
  // The frame takes some 15 kB.
  std::size_t room_ = max_report_bytes - 40'000;
};

}  // namespace

std::string map_page(const InformationMap& map, const MapOrigin& origin, InformationUnit unit) {
  const std::string name = shortened_name(clean(origin.name), max_shown_text);
  BoundedPage page("Kiln: " + name);
  page.header(name,
              html(capitalized(fmt::format("{} in {}: {}", words_of(map.measure), name_of(unit),
                                           basis_words(map)))),
              tiles_html(map));
  page.section("notes", "Notes", notes_html(map), "information.json");
  if (has_graph(map.measure)) {
    page.section("graph", "Graph", link_graph_element(map, unit), "graph.svg");
  }
  page.section("heat-map", "Heat map", heat_map_element(map, unit), "heat_map.svg");
  page.section("links", has_source(map.measure) ? "Links" : "Columns", links_html(map, unit),
               "map.csv");
  page.section("parameters", "Parameters", parameters_html(origin), "information.json");
  return std::move(page).finish();
}

}  // namespace kiln::cli
