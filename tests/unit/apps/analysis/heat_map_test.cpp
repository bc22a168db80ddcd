// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Heat maps of information: what each cell shows, read from the picture.
#include "analysis/heat_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/heat_matrix.hpp"
#include "map_fixtures.hpp"
#include "svg_document.hpp"

namespace kiln::cli::heat_map_test {
namespace {

using test::infinite;
using test::SvgElement;
using test::SvgPlace;
using test::tested_link;

/// A picture as a reader sees it: names beside rows and above columns, and the colour of cells.
struct SeenMap {
  std::map<std::string, double> rows, columns;      // name to the middle of it
  std::map<std::pair<int, int>, double> opacities;  // by the middle of a cell, of coloured ones
  std::vector<std::pair<SvgPlace, SvgPlace>> hatching;
  double size = 0;  // of a cell

  double opacity(const std::string& source, const std::string& target) const {
    const auto found =
        opacities.find({static_cast<int>(columns.at(target)), static_cast<int>(rows.at(source))});
    return found == opacities.end() ? 0 : found->second;
  }
  bool is_hatched(const std::string& source, const std::string& target) const {
    const double x = columns.at(target), y = rows.at(source);
    return std::ranges::any_of(hatching, [&](const auto& line) {
      const auto& [from, to] = line;
      if (x < std::min(from.x, to.x) || x > std::max(from.x, to.x)) return false;
      const double at = from.y + (x - from.x) / (to.x - from.x) * (to.y - from.y);
      return std::abs(at - y) < 0.4 * size;
    });
  }
};

SeenMap seen_in(const std::string& svg) {
  SeenMap seen;
  for (const SvgElement& element : test::svg_elements(svg)) {
    if (element.name == "path" && !element.value("fill-opacity").empty()) {
      for (const auto& corners : test::pieces_of_path(element.value("d"))) {
        seen.size = corners[1].x - corners[0].x;
        const std::pair<int, int> middle{static_cast<int>((corners[0].x + corners[2].x) / 2),
                                         static_cast<int>((corners[0].y + corners[2].y) / 2)};
        seen.opacities[middle] = element.number("fill-opacity");
      }
    }
    if (element.name == "path" && !element.value("stroke-opacity").empty()) {
      for (const auto& ends : test::pieces_of_path(element.value("d"))) {
        seen.hatching.emplace_back(ends[0], ends[1]);
      }
    }
  }
  // A text stands a little below the middle of what it names.
  for (const SvgElement& element : test::svg_elements(svg)) {
    if (element.name != "text") continue;
    const double shift = 0.35 * element.number("font-size");
    if (element.value("text-anchor") == "end") {
      seen.rows[element.text] = std::round(element.number("y") - shift);
    } else if (!element.value("transform").empty() && element.value("text-anchor").empty()) {
      seen.columns[element.text] = std::round(element.number("x") - shift);
    }
  }
  return seen;
}

TEST(HeatMap, HasEachLinkInTheRowOfItsSourceAndTheColumnOfItsTarget) {
  const InformationMap map = test::chain_map();
  const std::string svg = heat_map_svg(map, InformationUnit::nats);
  EXPECT_EQ(test::complaint_about(svg), "");
  const SeenMap seen = seen_in(svg);
  ASSERT_EQ(seen.rows.size(), 3u);
  ASSERT_EQ(seen.columns.size(), 3u);
  EXPECT_EQ(seen.size, 52);
  EXPECT_NEAR(seen.opacity("y", "z"), 1, 1e-9);
  EXPECT_NEAR(seen.opacity("x", "y"), 0.1346 / 0.2246, 0.5 / 24 + 1e-3);
  EXPECT_LT(seen.opacity("z", "y"), 0.05);
  EXPECT_LT(seen.opacity("y", "x"), 0.05);
  EXPECT_FALSE(seen.is_hatched("y", "z"));
  EXPECT_FALSE(seen.is_hatched("x", "y"));
  for (const auto& [source, target] : {std::pair{"x", "z"}, {"z", "x"}, {"y", "x"}, {"z", "y"}}) {
    EXPECT_TRUE(seen.is_hatched(source, target)) << source << target;
  }
  for (const char* name : {"x", "y", "z"}) EXPECT_FALSE(seen.is_hatched(name, name));
  for (const char* text : {">source</text>", ">target</text>", ">nats</text>", ">0.22</text>",
                           ">0.13</text>", ">not significant</text>", ">0.10</text>", ">0</text>",
                           ">Effective transfer entropy</text>"}) {
    EXPECT_EQ(test::count_of(svg, text), 1) << text;
  }
}

TEST(HeatMap, ShowsTheHatchingOfEachCellOfALargeMap) {
  const InformationMap map = test::dense_map(20, 3, "s");
  const SeenMap seen = seen_in(heat_map_svg(map, InformationUnit::nats));
  int hatched = 0;
  for (const InformationLink& link : map.links) {
    const std::string source = map.names[static_cast<std::size_t>(link.source)];
    const std::string target = map.names[static_cast<std::size_t>(link.target)];
    EXPECT_EQ(seen.is_hatched(source, target), !link.significant) << source << " " << target;
    hatched += seen.is_hatched(source, target) ? 1 : 0;
  }
  EXPECT_GT(hatched, 100);
}

TEST(HeatMap, ShowsTheLagWithTheLargestEffectiveValue) {
  const InformationMap map =
      test::map_of(InformationMeasure::transfer_entropy, {"a", "b", "c"},
                   {tested_link(0, 1, 1, 0.11, true), tested_link(0, 1, 2, 0.41, true),
                    tested_link(0, 1, 3, 0.02, false), tested_link(2, 1, 1, 0.21, true)},
                   200);
  const HeatMatrix matrix = heat_matrix(map, 64);
  EXPECT_EQ(matrix.sources, (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(matrix.targets, (std::vector<std::int32_t>{1}));
  ASSERT_NE(matrix.at(0, 0), nullptr);
  EXPECT_EQ(matrix.at(0, 0)->lag, 2);
  EXPECT_DOUBLE_EQ(matrix.top, 0.40);
  const SeenMap seen = seen_in(heat_map_svg(map, InformationUnit::nats));
  EXPECT_NEAR(seen.opacity("a", "b"), 1, 1e-9);
  EXPECT_NEAR(seen.opacity("c", "b"), 0.5, 1e-3);
}

TEST(HeatMap, ShowsBothHalvesOfASymmetricMap) {
  const InformationMap map =
      test::map_of(InformationMeasure::mutual_information, {"a", "b", "c"},
                   {tested_link(0, 1, 0, 0.81, true), tested_link(0, 2, 0, 0.41, true),
                    tested_link(1, 2, 0, 0.05, false)},
                   200);
  const std::string svg = heat_map_svg(map, InformationUnit::bits);
  const SeenMap seen = seen_in(svg);
  for (const auto& [a, b] : {std::pair{"a", "b"}, {"a", "c"}, {"b", "c"}}) {
    EXPECT_EQ(seen.opacity(a, b), seen.opacity(b, a));
    EXPECT_EQ(seen.is_hatched(a, b), seen.is_hatched(b, a));
  }
  EXPECT_NEAR(seen.opacity("b", "a"), 1, 1e-9);
  EXPECT_EQ(test::count_of(svg, ">source</text>"), 0);
  EXPECT_EQ(test::count_of(svg, ">bits</text>"), 1);
  EXPECT_EQ(test::count_of(svg, ">1.15</text>"), 2) << "0.80 nats";
}

TEST(HeatMap, MarksWhatIsInfiniteAndScalesByTheRest) {
  InformationMap map = test::chain_map();
  map.links[0].estimate.value = map.links[0].estimate.effective = infinite;
  map.links[1].estimate.value = map.links[1].estimate.effective = test::not_known;
  const std::string svg = heat_map_svg(map, InformationUnit::nats);
  EXPECT_EQ(test::count_of(svg, ">\xe2\x88\x9e</text>"), 2) << "in the cell and in the legend";
  EXPECT_EQ(test::count_of(svg, ">?</text>"), 2);
  EXPECT_EQ(test::count_of(svg, "nan") + test::count_of(svg, ">inf<"), 0);
  const SeenMap seen = seen_in(svg);
  EXPECT_EQ(seen.opacity("y", "x"), 1);
  EXPECT_NEAR(seen.opacity("x", "y"), 0.1346 / 0.2246, 0.5 / 24 + 1e-3);
}

TEST(HeatMap, KeepsTheStrongestOfTooManyColumns) {
  InformationMap map = test::dense_map(70, 1000000, "s");
  for (std::size_t i = 0; i < map.links.size(); ++i) {
    InformationLink& link = map.links[i];
    if (link.source < 64 && link.target < 64) link.estimate.effective = 0.2;
  }
  const HeatMatrix matrix = heat_matrix(map, 64);
  ASSERT_EQ(matrix.sources.size(), 64u);
  ASSERT_EQ(matrix.targets.size(), 64u);
  EXPECT_EQ(matrix.left_out, 12u);
  for (std::int32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(matrix.sources[static_cast<std::size_t>(i)], i);
    EXPECT_EQ(matrix.targets[static_cast<std::size_t>(i)], i);
  }
  const std::string svg = heat_map_svg(map, InformationUnit::nats);
  EXPECT_EQ(test::count_of(svg, "12 columns with weaker links are left out"), 1);
  EXPECT_LT(svg.size(), 300'000u);
}

TEST(HeatMap, IsSoundForExtremeMaps) {
  std::vector<InformationMap> maps{
      test::map_of(InformationMeasure::transfer_entropy, {}, {}, 0),
      test::map_of(InformationMeasure::entropy, {"a"}, {test::plain_link(-1, 0, 0.5)}, 0),
      test::map_of(InformationMeasure::transfer_entropy, {"a", "b"},
                   {test::plain_link(0, 1, 0), test::plain_link(1, 0, -0.5)}, 0),
      test::map_of(InformationMeasure::transfer_entropy, {"a", "b"},
                   {test::plain_link(0, 1, infinite)}, 0),
      test::map_of(InformationMeasure::transfer_entropy, {"a", "b"},
                   {test::plain_link(0, 1, 1e300), test::plain_link(1, 0, 1e-300)}, 0),
      test::map_of(InformationMeasure::transfer_entropy, {"a"}, {test::plain_link(7, 9, 1)}, 0)};
  maps.push_back(test::hostile_map());
  for (const InformationMap& map : maps) {
    const std::string svg = heat_map_svg(map, InformationUnit::nats);
    EXPECT_EQ(test::complaint_about(svg), "");
    EXPECT_EQ(test::count_of(svg, "=\"nan") + test::count_of(svg, "=\"inf"), 0);
    EXPECT_EQ(test::count_of(svg, "<script"), 0);
    EXPECT_EQ(heat_map_svg(map, InformationUnit::nats), svg);
  }
}

// Names do not run into each other or out of the picture.
TEST(HeatMap, HasRoomForNames) {
  for (const std::int32_t n : {1, 4, 8, 16, 64}) {
    const InformationMap map = test::dense_map(std::max(n, 2), 3, "a rather long name ");
    const std::string svg = heat_map_svg(map, InformationUnit::nats);
    const double width = test::svg_elements(svg).front().number("width");
    double last_row = -100, last_column = -100;
    for (const SvgElement& element : test::svg_elements(svg)) {
      if (element.name != "text") continue;
      const double size = element.number("font-size"), x = element.number("x");
      const double length = 0.6 * size * static_cast<double>(element.text.size());
      if (element.value("text-anchor") == "end") {
        EXPECT_GE(element.number("y") - last_row, size);
        EXPECT_GE(x - length, 0) << element.text;
        last_row = element.number("y");
      } else if (!element.value("transform").empty() && element.value("text-anchor").empty()) {
        EXPECT_GE(x - last_column, size);
        EXPECT_GE(element.number("y") - length, 44) << element.text;
        EXPECT_LE(x, width);
        last_column = x;
      }
    }
  }
}

TEST(HeatMap, HasTwoThemes) {
  const std::string svg = heat_map_svg(test::chain_map(), InformationUnit::nats);
  EXPECT_EQ(test::count_of(svg, "@media screen and (prefers-color-scheme: dark)"), 1);
  EXPECT_EQ(test::count_of(svg, "var("), 0) << "programs that know no variables show it, too";
  // Each colour of the picture has another one in the dark theme.
  for (const SvgElement& element : test::svg_elements(svg)) {
    for (const char* attribute : {"fill", "stroke"}) {
      const std::string color = element.value(attribute);
      if (color.empty() || color == "none") continue;
      EXPECT_EQ(test::count_of(svg, "\n[" + std::string(attribute) + "=\"" + color + "\"]"), 1)
          << color;
    }
  }
}

}  // namespace
}  // namespace kiln::cli::heat_map_test
