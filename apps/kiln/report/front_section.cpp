// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/fronts/front.hpp"

#include "front/front_drawing.hpp"
#include "front/front_plot.hpp"
#include "front/svg_theme.hpp"
#include "output/text.hpp"
#include "report/page.hpp"
#include "report/sections.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::json;

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// A front as result.json has it, in the units of users.
struct ReadFront {
  std::vector<std::string> names;
  std::vector<bool> maximized;
  Points points;
};

/// Nothing where names, senses and points do not fit together.
std::optional<ReadFront> read_front(const Json& front) {
  ReadFront read;
  const Json &names = member_at(front, {"objectives"}), &senses = member_at(front, {"senses"}),
             &points = member_at(front, {"points"});
  if (!names.is_array() || !senses.is_array() || !points.is_array()) return std::nullopt;
  if (names.size() < 2 || senses.size() != names.size() || points.empty()) return std::nullopt;
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (!names[k].is_string()) return std::nullopt;
    read.names.push_back(clean(names[k].get<std::string>()));
    read.maximized.push_back(senses[k] == "maximize");
  }
  for (const Json& point : points) {
    if (!point.is_array() || point.size() != names.size()) return std::nullopt;
    std::vector<double> values;
    for (const Json& value : point) {
      values.push_back(value.is_number() ? value.get<double>() : no_number);
    }
    read.points.push_back(std::move(values));
  }
  return read;
}

/// An index of a member; nothing where it is none.
std::optional<std::size_t> member_index(const Json& json, std::size_t count) {
  if (!json.is_number_unsigned()) return std::nullopt;
  const auto index = json.get<std::size_t>();
  return index < count ? std::optional(index) : std::nullopt;
}

/// The members that are pointed out: the chosen one and the ends.
std::vector<std::pair<std::string, std::size_t>> pointed_out(const Json& front,
                                                             const ReadFront& read) {
  std::vector<std::pair<std::string, std::size_t>> members;
  if (const auto chosen = member_index(member_at(front, {"chosen"}), read.points.size())) {
    members.emplace_back(member_at(front, {"knee"}).is_null() ? "solution" : "knee", *chosen);
  }
  const Json& extremes = member_at(front, {"extremes"});
  for (std::size_t k = 0; extremes.is_array() && k < std::min(extremes.size(), read.names.size());
       ++k) {
    if (const auto member = member_index(extremes[k], read.points.size())) {
      members.emplace_back((read.maximized[k] ? "greatest " : "least ") + read.names[k], *member);
    }
  }
  return members;
}

/// So few members that all panels together stay small; those that are pointed out are among them.
Points drawn_points(const Json& front, const ReadFront& read) {
  const std::size_t objectives = read.names.size();
  const std::size_t panels = objectives > 4 ? objectives / 2 : objectives * (objectives - 1) / 2;
  Points points = thinned(read.points, 1800 / panels);
  for (const auto& [name, member] : pointed_out(front, read)) points.push_back(read.points[member]);
  for (std::vector<double>& point : points) {
    for (std::size_t k = 0; k < objectives; ++k) {
      if (read.maximized[k]) point[k] = 0.0 - point[k];
    }
  }
  std::ranges::sort(points);
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

std::string picture(const Json& front, const ReadFront& read, const std::string& title) {
  FrontPlot plot;
  plot.title = title;
  plot.names = read.names;
  plot.maximized = read.maximized;
  plot.points = drawn_points(front, read);
  try {
    return "<div class=\"scroll\">" + themed(front_svg(plot)) + "</div>\n";
  } catch (const Error&) {
    return {};
  }
}

std::string front_tiles(const Json& result, const ReadFront& read) {
  std::string tiles;
  if (const auto volume = number_at(result, {"front", "hypervolume"})) {
    const auto half = number_at(result, {"front", "half_width"}).value_or(0);
    tiles +=
        tile_html("hypervolume", data_html("front.hypervolume", *volume, short_number(*volume)),
                  half > 0 ? fmt::format("&plusmn; {:.2g}", half) : std::string());
  }
  tiles += tile_html("members", fmt::format("{}", read.points.size()));
  for (const auto& [name, label] : {std::pair{"igd", "IGD"},
                                    {"igd_plus", "IGD+"},
                                    {"epsilon", "additive epsilon"},
                                    {"spread", "spread"}}) {
    const auto value = number_at(result, {"diagnostics", name});
    if (value) {
      tiles += tile_html(
          label, data_html(fmt::format("diagnostics.{}", name), *value, short_number(*value)));
    }
  }
  return "<div class=\"tiles\">\n" + tiles + "</div>\n";
}

std::vector<std::string> row_of(const std::string& label, const std::vector<double>& values) {
  std::vector<std::string> row{html(label)};
  for (const double value : values) row.push_back(short_number(value));
  return row;
}

}  // namespace

std::string front_html(const Json& result) {
  const Json& front = member_at(result, {"front"});
  const std::optional<ReadFront> read = read_front(front);
  if (!read) return {};
  const std::string title =
      fmt::format("{}, {}", text_at(result, {"problem", "name"}).value_or("?"),
                  text_at(result, {"schedule", "name"}).value_or("?"));
  std::vector<std::vector<std::string>> rows{{"member"}};
  for (const std::string& name : read->names) rows.front().push_back(html(name));
  for (const auto& [label, member] : pointed_out(front, *read)) {
    rows.push_back(row_of(label, read->points[member]));
  }
  for (const auto& [name, label] :
       {std::pair{"reference", "reference point"}, {"ideal", "ideal"}}) {
    const Json& values = member_at(front, {name});
    if (!values.is_array() || values.size() != read->names.size()) continue;
    std::vector<double> numbers;
    for (const Json& value : values) {
      numbers.push_back(value.is_number() ? value.get<double>() : no_number);
    }
    rows.push_back(row_of(label, numbers));
  }
  return front_tiles(result, *read) + picture(front, *read, title) + table_html(rows, 1) +
         "<p class=\"note\">front.csv has all members with their variables.</p>\n";
}

}  // namespace kiln::cli
