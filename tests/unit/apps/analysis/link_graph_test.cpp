// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Graphs of significant links: which are drawn, from where to where, and where names stand.
#include "analysis/link_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/link_layout.hpp"
#include "map_fixtures.hpp"
#include "svg_document.hpp"

namespace kiln::cli::link_graph_test {
namespace {

using test::infinite;
using test::SvgElement;
using test::SvgPlace;
using test::tested_link;

double distance(const SvgPlace& a, const SvgPlace& b) { return std::hypot(a.x - b.x, a.y - b.y); }

/// A box that a text may take, with a font wider than most.
struct NameBox {
  std::string text;
  double left = 0, right = 0, top = 0, bottom = 0;

  bool overlaps(const NameBox& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

/// A picture as a reader sees it.
struct SeenGraph {
  std::map<std::string, SvgPlace> nodes;
  struct Link {
    std::string from, to;
    double width = 0;
    bool dashed = false, arrow = false;
  };
  std::vector<Link> links;
  std::vector<NameBox> names;
  double width = 0, height = 0;

  std::string node_at(const SvgPlace& place) const {
    const auto nearest = std::ranges::min_element(
        nodes, {}, [&](const auto& node) { return distance(node.second, place); });
    return nearest != nodes.end() && distance(nearest->second, place) < 13 ? nearest->first : "?";
  }
  const Link* link(const std::string& from, const std::string& to) const {
    const auto found = std::ranges::find_if(
        links, [&](const Link& link) { return link.from == from && link.to == to; });
    return found == links.end() ? nullptr : &*found;
  }
};

NameBox box_of(const SvgElement& element) {
  const double size = element.number("font-size"), x = element.number("x");
  const double length = 0.6 * size * static_cast<double>(element.text.size());
  const std::string anchor = element.value("text-anchor");
  const double left = anchor == "end" ? x - length : anchor == "middle" ? x - length / 2 : x;
  return {element.text, left, left + length, element.number("y") - 0.8 * size,
          element.number("y") + 0.25 * size};
}

/// The names of nodes are those texts that the map has; each is nearest to its node.
SeenGraph seen_in(const std::string& svg, const InformationMap& map) {
  SeenGraph seen;
  const std::vector<SvgElement> elements = test::svg_elements(svg);
  seen.width = elements.front().number("width");
  seen.height = elements.front().number("height");
  std::vector<SvgPlace> circles;
  for (const SvgElement& element : elements) {
    if (element.name == "circle") circles.push_back({element.number("cx"), element.number("cy")});
  }
  std::size_t next = 0;  // names are in the order of their nodes
  for (const SvgElement& element : elements) {
    if (element.name != "text" || element.value("aria-hidden") == "true") continue;
    const bool known = std::ranges::any_of(
        map.names, [&](const std::string& name) { return element.text == name; });
    if (!known) continue;
    seen.names.push_back(box_of(element));
    seen.nodes[element.text] = circles.at(next++);
  }
  EXPECT_EQ(next, circles.size());
  for (const SvgElement& element : elements) {
    if (element.name != "path") continue;
    const auto piece = test::pieces_of_path(element.value("d")).at(0);
    if (element.value("fill") == "none") {
      // An arrow head, if any, goes on to the node.
      seen.links.push_back({seen.node_at(piece.front()), seen.node_at(piece.back()),
                            element.number("stroke-width"),
                            !element.value("stroke-dasharray").empty()});
    } else {
      seen.links.back().to = seen.node_at(piece.front());
      seen.links.back().arrow = true;
    }
  }
  return seen;
}

TEST(LinkGraph, HasAnArrowFromSourceToTargetForEachSignificantLink) {
  const InformationMap map = test::chain_map();
  const std::string svg = link_graph_svg(map, InformationUnit::nats);
  EXPECT_EQ(test::complaint_about(svg), "");
  const SeenGraph seen = seen_in(svg, map);
  EXPECT_EQ(seen.nodes.size(), 3u);
  ASSERT_EQ(seen.links.size(), 2u);
  ASSERT_NE(seen.link("x", "y"), nullptr);
  ASSERT_NE(seen.link("y", "z"), nullptr);
  EXPECT_TRUE(seen.link("x", "y")->arrow);
  // 1.2 pixels for nothing, 6.2 for the strongest.
  EXPECT_NEAR(seen.link("y", "z")->width, 6.2, 0.01);
  EXPECT_NEAR(seen.link("x", "y")->width, 1.2 + 5 * 0.1346 / 0.2246, 0.01);
}

TEST(LinkGraph, HasEveryLinkOfALargeGraph) {
  for (const std::int32_t n : {12, 16, 30, 64}) {
    const InformationMap map = test::dense_map(n, n / 2, "s");
    const SeenGraph seen = seen_in(link_graph_svg(map, InformationUnit::nats), map);
    std::set<std::pair<std::string, std::string>> expected, drawn;
    for (const InformationLink& link : map.links) {
      if (!link.significant) continue;
      expected.emplace(map.names[static_cast<std::size_t>(link.source)],
                       map.names[static_cast<std::size_t>(link.target)]);
    }
    for (const SeenGraph::Link& link : seen.links) drawn.emplace(link.from, link.to);
    EXPECT_EQ(drawn, expected) << n;
    EXPECT_GT(expected.size(), 8u);
  }
}

TEST(LinkGraph, HasLinesWithoutArrowsForASymmetricMap) {
  const InformationMap map =
      test::map_of(InformationMeasure::mutual_information, {"a", "b", "c"},
                   {tested_link(1, 0, 0, 0.3, true), tested_link(0, 1, 0, 0.3, true),
                    tested_link(0, 2, 0, 0.02, false)},
                   200);
  const std::string svg = link_graph_svg(map, InformationUnit::nats);
  const SeenGraph seen = seen_in(svg, map);
  ASSERT_EQ(seen.links.size(), 1u);
  EXPECT_FALSE(seen.links[0].arrow);
  EXPECT_EQ(seen.links[0].from + seen.links[0].to, "ba");
  EXPECT_EQ(test::count_of(svg, "Arrows"), 0);
}

TEST(LinkGraph, DrawsBothDirectionsApartAndTheStrongestLag) {
  const InformationMap map =
      test::map_of(InformationMeasure::transfer_entropy, {"a", "b"},
                   {tested_link(1, 0, 1, 0.2, true), tested_link(0, 1, 1, 0.1, true),
                    tested_link(0, 1, 2, 0.4, true), tested_link(0, 0, 1, 0.9, true)},
                   200);
  const std::string svg = link_graph_svg(map, InformationUnit::nats);
  const SeenGraph seen = seen_in(svg, map);
  ASSERT_EQ(seen.links.size(), 2u) << "and none from a column to itself";
  EXPECT_NEAR(seen.link("a", "b")->width, 6.2, 0.01);
  std::vector<SvgPlace> middles;
  for (const SvgElement& element : test::svg_elements(svg)) {
    if (element.name != "path" || element.value("fill") != "none") continue;
    const auto piece = test::pieces_of_path(element.value("d")).at(0);
    middles.push_back(piece[piece.size() / 2]);
  }
  ASSERT_EQ(middles.size(), 2u);
  EXPECT_GT(distance(middles[0], middles[1]), 15);
}

TEST(LinkGraph, DashesWhatIsInfinite) {
  InformationMap map = test::chain_map();
  map.links[2].estimate.value = map.links[2].estimate.effective = infinite;
  const std::string svg = link_graph_svg(map, InformationUnit::nats);
  const SeenGraph seen = seen_in(svg, map);
  EXPECT_TRUE(seen.link("x", "y")->dashed);
  EXPECT_FALSE(seen.link("y", "z")->dashed);
  EXPECT_EQ(test::count_of(svg, ">infinite: a copy</text>"), 1);
}

TEST(LinkGraph, SaysWhyItHasNoLinks) {
  InformationMap map = test::chain_map();
  for (InformationLink& link : map.links) link.significant = false;
  EXPECT_EQ(test::count_of(link_graph_svg(map, InformationUnit::nats),
                           "No link is significant at a false discovery rate of 5 %."),
            1);
  map.surrogates = 0;
  EXPECT_EQ(test::count_of(link_graph_svg(map, InformationUnit::nats), "without surrogates"), 1);
  EXPECT_EQ(seen_in(link_graph_svg(map, InformationUnit::nats), map).nodes.size(), 3u);
}

// With names of 16 and 17 characters, in a font that is wider than most.
TEST(LinkGraph, NamesOverlapNeitherEachOtherNorNodesNorTheEdge) {
  for (std::int32_t n = 2; n <= 40; ++n) {
    for (const std::int32_t every : {2, 4}) {
      const InformationMap map = test::dense_map(n, every * std::max(n / 8, 1), "name of sensor ");
      const SeenGraph seen = seen_in(link_graph_svg(map, InformationUnit::nats), map);
      ASSERT_GE(seen.names.size(), 2u);
      for (std::size_t i = 0; i < seen.names.size(); ++i) {
        const NameBox& name = seen.names[i];
        for (std::size_t j = 0; j < i; ++j) {
          EXPECT_FALSE(name.overlaps(seen.names[j])) << n << name.text << seen.names[j].text;
        }
        for (const auto& [other, place] : seen.nodes) {
          const NameBox node{other, place.x - 7, place.x + 7, place.y - 7, place.y + 7};
          EXPECT_FALSE(name.overlaps(node)) << n << name.text << other;
        }
        EXPECT_GE(name.left, 0);
        EXPECT_LE(name.right, seen.width);
        EXPECT_LE(name.bottom, seen.height - 24) << "above the legend";
        EXPECT_GE(name.top, 55) << "below the heading";
      }
    }
  }
}

TEST(LinkGraph, HasTheStrongestOfTooManyLinks) {
  const InformationMap map = test::dense_map(64, 1, "s");
  const std::string svg = link_graph_svg(map, InformationUnit::nats);
  EXPECT_EQ(seen_in(svg, map).links.size(), max_graph_links);
  EXPECT_EQ(test::count_of(svg, "The strongest 200 of 4032 links."), 1);
  EXPECT_EQ(link_graph_svg(map, InformationUnit::nats), svg);
}

TEST(LinkGraph, IsSoundForExtremeMaps) {
  std::vector<InformationMap> maps{
      test::map_of(InformationMeasure::transfer_entropy, {}, {}, 200),
      test::map_of(InformationMeasure::transfer_entropy, {"a"}, {tested_link(0, 0, 1, 1, true)},
                   200),
      test::map_of(InformationMeasure::transfer_entropy, {"a", "b"},
                   {tested_link(0, 1, 0, -0.5, true)}, 200),
      test::map_of(InformationMeasure::transfer_entropy, {"a"}, {tested_link(7, 9, 0, 1, true)},
                   200),
      test::map_of(InformationMeasure::transfer_entropy, {"a", "b"},
                   {tested_link(0, 1, 0, test::not_known, true)}, 200)};
  maps.push_back(test::hostile_map());
  for (const InformationMap& map : maps) {
    const std::string svg = link_graph_svg(map, InformationUnit::nats);
    EXPECT_EQ(test::complaint_about(svg), "");
    EXPECT_EQ(test::count_of(svg, "nan") + test::count_of(svg, "=\"inf"), 0);
    EXPECT_EQ(test::count_of(svg, "<script"), 0);
  }
}

TEST(LinkLayout, PutsLinkedNodesNearerThanOthers) {
  // Two cliques of ten, joined by one edge.
  const std::vector<NodeRoom> rooms(20, NodeRoom{20, 20, 20, 20});
  std::vector<LayoutEdge> edges{{0, 1, 0.1}};
  for (std::size_t i = 0; i < 20; ++i) {
    for (std::size_t j = i + 2; j < 20; j += 2) edges.push_back({i, j, 1});
  }
  const PixelBox area{0, 0, 800, 600};
  const std::vector<Pixel> places = force_places(rooms, edges, area);
  ASSERT_EQ(places.size(), 20u);
  double inside = 0, outside = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_TRUE(area.holds(rooms[i].around(places[i])));
    for (std::size_t j = 0; j < i; ++j) {
      const double away = std::hypot(places[i].x - places[j].x, places[i].y - places[j].y);
      ((i - j) % 2 == 0 ? inside : outside) += away / ((i - j) % 2 == 0 ? 90 : 100);
      EXPECT_FALSE(rooms[i].around(places[i]).overlaps(rooms[j].around(places[j])));
    }
  }
  EXPECT_LT(2 * inside, outside);
}

TEST(LinkLayout, BeginsTheCircleAtTheTop) {
  const std::vector<Pixel> places = circle_places(4, {100, 100}, 50);
  ASSERT_EQ(places.size(), 4u);
  EXPECT_NEAR(places[0].y, 50, 1e-9);
  EXPECT_NEAR(places[1].x, 150, 1e-9);
  EXPECT_NEAR(places[2].y, 150, 1e-9);
  EXPECT_NEAR(places[3].x, 50, 1e-9);
  EXPECT_TRUE(force_places({}, {}, {0, 0, 10, 10}).empty());
}

}  // namespace
}  // namespace kiln::cli::link_graph_test
