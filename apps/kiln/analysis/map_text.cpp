// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/map_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "output/text.hpp"
#include "output/wording.hpp"

namespace kiln::cli {
namespace {

using Links = std::vector<const InformationLink*>;
using Rows = std::vector<std::vector<std::string>>;

// More than fill a screen; of those the strongest are shown.
constexpr std::size_t max_rows = 40, shown_rows = 20;
constexpr std::size_t blanks = 2, min_name = 8;

/// The numbers of a link, in the columns that the map has.
class NumberColumns {
 public:
  NumberColumns(const InformationMap& map, const Links& links, InformationUnit unit)
      : unit_(unit), lags_(has_lags(map)), tested_(is_tested(map)) {
    spreads_ = std::ranges::any_of(
        links, [](const InformationLink* link) { return !std::isnan(link->estimate.spread); });
  }

  std::vector<std::string> header() const {
    std::vector<std::string> cells;
    if (lags_) cells.emplace_back("lag");
    cells.emplace_back("value");
    if (spreads_) cells.emplace_back("spread");
    if (tested_) cells.insert(cells.end(), {"effective", "p", "q"});
    return cells;
  }

  std::vector<std::string> cells_of(const InformationLink& link) const {
    const InformationEstimate& estimate = link.estimate;
    std::vector<std::string> cells;
    if (lags_) cells.push_back(fmt::format("{}", link.lag));
    cells.push_back(value_text(estimate.value, unit_));
    if (spreads_) cells.push_back(value_text(estimate.spread, unit_));
    if (tested_) {
      cells.push_back(value_text(estimate.effective, unit_));
      cells.push_back(probability_text(estimate.p_value));
      cells.push_back(probability_text(link.q_value));
    }
    return cells;
  }

 private:
  InformationUnit unit_;
  bool lags_, tested_, spreads_ = false;
};

/// How wide names may be.
struct NameWidths {
  std::size_t source = 0, target = 0;
};

NameWidths widths_of(const InformationMap& map, const Links& links) {
  NameWidths widths;
  for (const InformationLink* link : links) {
    widths.source = std::max(widths.source, display_width(column_name(map, link->source)));
    widths.target = std::max(widths.target, display_width(column_name(map, link->target)));
  }
  return widths;
}

/// The widths that leave room for the numbers. What one side does not need goes to the other.
NameWidths narrowed(const NameWidths& needed, std::size_t room, bool pairs) {
  if (!pairs) return {0, std::min(needed.target, std::max(room, min_name))};
  const std::size_t half = std::max(room / 2, min_name);
  const auto share = [&](std::size_t mine, std::size_t other) {
    return std::min(mine, std::max(half, room > other ? room - other : 0));
  };
  return {share(needed.source, needed.target), share(needed.target, needed.source)};
}

std::vector<std::string> name_cells(const InformationMap& map, const InformationLink& link,
                                    const NameWidths& widths) {
  const std::string mark = link.significant ? "* " : "  ";
  const std::string target = shortened_name(column_name(map, link.target), widths.target);
  if (!has_source(map.measure)) return {mark + target};
  const std::string source = shortened_name(column_name(map, link.source), widths.source);
  return {mark + source, (is_symmetric(map) ? "<-> " : "-> ") + target};
}

std::vector<std::string> name_header(const InformationMap& map) {
  if (!has_source(map.measure)) return {"  column"};
  if (is_symmetric(map)) return {"  column", "    column"};
  return {"  source", "   target"};
}

Rows rows_of(const InformationMap& map, const Links& links, const NumberColumns& numbers,
             const NameWidths& widths) {
  const auto joined = [](std::vector<std::string> names, std::vector<std::string> cells) {
    names.insert(names.end(), std::make_move_iterator(cells.begin()),
                 std::make_move_iterator(cells.end()));
    return names;
  };
  Rows rows{joined(name_header(map), numbers.header())};
  for (const InformationLink* link : links) {
    rows.push_back(joined(name_cells(map, *link, widths), numbers.cells_of(*link)));
  }
  return rows;
}

std::size_t width_of_table(const Rows& rows) {
  std::size_t width = 0;
  for (std::size_t column = 0; column < rows.front().size(); ++column) {
    std::size_t widest = 0;
    for (const auto& row : rows) widest = std::max(widest, display_width(row[column]));
    width += widest + (column == 0 ? 0 : blanks);
  }
  return width;
}

/// The table with remarks behind its rows, or below them where one would not fit.
std::string with_remarks(const std::string& table, const InformationMap& map, const Links& links,
                         std::size_t width, std::size_t columns) {
  std::vector<std::string> remarks;
  std::size_t widest = 0;
  for (const InformationLink* link : links) {
    // A name within a remark may be as long as a line.
    remarks.push_back(shortened_name(remark_of(map, *link), columns > 14 ? columns - 6 : 8));
    widest = std::max(widest, display_width(remarks.back()));
  }
  const bool beside = width + 3 + widest <= columns;
  std::string text;
  std::size_t begin = 0;
  for (std::size_t line = 0; begin < table.size(); ++line) {
    const std::size_t end = table.find('\n', begin);
    text += table.substr(begin, end - begin);
    if (line > 0 && !remarks[line - 1].empty()) {
      text += (beside ? "   " : "\n      ") + remarks[line - 1];
    }
    text += '\n';
    begin = end + 1;
  }
  return text;
}

std::string table_of(const InformationMap& map, const Links& links, const MapTextOptions& options) {
  const bool pairs = has_source(map.measure);
  const NumberColumns numbers(map, links, options.unit);
  NameWidths widths = widths_of(map, links);
  Rows rows = rows_of(map, links, numbers, widths);
  std::size_t width = width_of_table(rows);
  if (width > options.columns) {
    const std::size_t rest = width - widths.target - (pairs ? widths.source : 0);
    widths = narrowed(widths, options.columns > rest ? options.columns - rest : 0, pairs);
    rows = rows_of(map, links, numbers, widths);
    width = width_of_table(rows);
  }
  return with_remarks(spaced_table(rows, name_header(map).size(), blanks), map, links, width,
                      options.columns);
}

std::string heading(const InformationMap& map, const MapTextOptions& options) {
  std::string text =
      fmt::format("measure      {} in {}\n", words_of(map.measure), name_of(options.unit));
  text += fmt::format("data         {}\n", basis_words(map));
  const char* const label = has_source(map.measure) ? "links" : "estimates";
  text += fmt::format("{:<13}{}", label, count_words(map));
  if (is_tested(map)) text += fmt::format(" (*) at {}", rate_words(map));
  return text + "\n";
}

std::string rest_text(const InformationMap& map, std::size_t left_out,
                      const MapTextOptions& options) {
  if (left_out == 0) return {};
  std::string text =
      fmt::format("... and {} weaker {}{}: ", left_out,
                  has_source(map.measure) ? "link" : "estimate", left_out == 1 ? "" : "s");
  if (options.file.empty()) return text + "--map shows all, and -o DIR writes map.csv\n";
  return text + fmt::format("{} lists all\n", clean(options.file));
}

}  // namespace

std::string map_text(const InformationMap& map, const MapTextOptions& options) {
  Links links = ranked_links(map);
  const std::size_t all = links.size();
  if (!options.whole && all > max_rows) links.resize(shown_rows);
  std::string text = heading(map, options);
  if (!links.empty()) text += "\n" + table_of(map, links, options);
  text += rest_text(map, all - links.size(), options);
  if (!map.notes.empty()) text += "\n";
  for (const std::string& note : map.notes) text += fmt::format("note         {}\n", clean(note));
  return text;
}

}  // namespace kiln::cli
