// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Pictures of fronts, as texts.
#include "front/front_plot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/fronts/indicators.hpp"

#include "backends/cpu_queue.hpp"
#include "front/svg_canvas.hpp"
#include "svg_document.hpp"

namespace kiln::cli::front_plot_test {
namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

using test::complaint_about;

int count(const std::string& text, const std::string& part) { return test::count_of(text, part); }

/// Centers of the circles of a radius, in their order.
std::vector<Pixel> circles(const std::string& svg, const std::string& radius) {
  const std::string begin = "<circle cx=\"", middle = "\" cy=\"", end = "\" r=\"" + radius + "\"/>";
  std::vector<Pixel> centers;
  for (std::size_t at = svg.find(begin); at != std::string::npos; at = svg.find(begin, at + 1)) {
    const std::size_t y = svg.find(middle, at) + middle.size();
    if (svg.compare(svg.find('"', y), end.size(), end) != 0) continue;
    centers.push_back({std::stod(svg.substr(at + begin.size())), std::stod(svg.substr(y))});
  }
  return centers;
}

/// The middle of the diamond in the plot; that of the legend is smaller.
Pixel only_diamond(const std::string& svg) {
  const std::size_t end = svg.rfind("l7 7l-7 7l-7 -7z");
  const std::size_t x = svg.rfind('M', end) + 1, y = svg.find(' ', x) + 1;
  return {std::stod(svg.substr(x)), std::stod(svg.substr(y)) + 7};
}

/// 101 points of 1 - sqrt(x).
FrontPlot zdt1_plot() {
  FrontPlot plot{"zdt1", {"f1", "f2"}, {}, {}, {}};
  for (int i = 0; i <= 100; ++i) plot.points.push_back({i / 100.0, 1 - std::sqrt(i / 100.0)});
  return plot;
}

FrontPlot plot_of_directions(int objectives, std::int64_t n) {
  FrontPlot plot{"directions", {}, {}, reference_directions(objectives, n), {}};
  for (int k = 1; k <= objectives; ++k) plot.names.push_back("cost " + std::to_string(k));
  return plot;
}

TEST(FrontSvg, PutsPointsWhereTheyBelong) {
  const std::string svg = front_svg(zdt1_plot());
  EXPECT_EQ(complaint_about(svg), "");
  const std::vector<Pixel> points = circles(svg, "3");
  ASSERT_EQ(points.size(), 101U);
  for (std::size_t i = 0; i <= 100; ++i) {
    const double x = static_cast<double>(i) / 100;
    const auto share = [](double at, double from, double to) { return (at - from) / (to - from); };
    EXPECT_NEAR(share(points[i].x, points[0].x, points[100].x), x, 1e-4);
    EXPECT_NEAR(share(points[i].y, points[0].y, points[100].y), std::sqrt(x), 1e-4);
  }
  EXPECT_LT(points[0].x + 300, points[100].x);
  EXPECT_LT(points[0].y + 300, points[100].y);
}

TEST(FrontSvg, MarksAndNamesKneeAndEnds) {
  const std::string svg = front_svg(zdt1_plot());
  const std::vector<Pixel> points = circles(svg, "3"), ends = circles(svg, "5.5");
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_EQ(ends[0].x, points[0].x);
  EXPECT_EQ(ends[1].y, points[100].y);
  ASSERT_EQ(count(svg, "l7 7l-7 7l-7 -7z"), 1);
  EXPECT_EQ(only_diamond(svg).x, points[25].x);
  EXPECT_NEAR(only_diamond(svg).y, points[25].y, 0.011);
  for (const char* label : {">knee</text>", ">least f1</text>", ">least f2</text>", ">f1</text>",
                            ">f2</text>", ">zdt1</text>", ">101 points</text>", ">0.8</text>"}) {
    EXPECT_GE(count(svg, label), 1) << label;
  }
  EXPECT_EQ(count(svg, "reference front"), 0);
}

TEST(FrontSvg, HasOneMarkForAPointThatIsSeveral) {
  const std::string svg = front_svg({"", {"f1", "f2"}, {}, {{1, 2}, {5, 5}}, {}});
  EXPECT_EQ(circles(svg, "5.5").size(), 1U);
  EXPECT_EQ(count(svg, ">solution, least f1, least f2</text>"), 2);  // the text and its halo
  EXPECT_EQ(count(svg, "knee"), 0);
  EXPECT_EQ(count(front_svg({"", {"f1", "f2"}, {}, {{1, 2}}, {}}), "least"), 0);
}

// A front that bulges away from the ideal: of its points the nearest one to it.
TEST(FrontSvg, MarksTheSolutionOfAFrontWithoutAKnee) {
  FrontPlot plot{"", {"f1", "f2"}, {}, {}, {}};
  std::size_t nearest = 0;
  for (std::size_t i = 0; i <= 100; ++i) {
    const double x = static_cast<double>(i) / 100;
    plot.points.push_back({x, 1 - x * x * x});
    const auto far = [&](std::size_t at) {
      return std::max(plot.points[at][0], plot.points[at][1]);
    };
    if (far(i) < far(nearest)) nearest = i;
  }
  const std::string svg = front_svg(plot);
  EXPECT_EQ(complaint_about(svg), "");
  ASSERT_EQ(count(svg, "l7 7l-7 7l-7 -7z"), 1);
  EXPECT_GT(nearest, 0U);
  EXPECT_LT(nearest, 100U);
  EXPECT_EQ(only_diamond(svg).x, circles(svg, "3")[nearest].x);
  EXPECT_EQ(count(svg, ">solution</text>"), 3);  // the legend, the text and its halo
  EXPECT_EQ(count(svg, ">knee</text>"), 0);
}

TEST(FrontSvg, HasALegendThatLooksLikeItsReferenceFront) {
  FrontPlot line = zdt1_plot();
  line.reference = zdt1_plot().points;
  const auto key_of = [](const std::string& svg) {
    const std::size_t end = svg.find(">reference front<");
    const std::size_t begin = svg.rfind("<g ", end);
    return svg.substr(begin, end - begin);
  };
  EXPECT_EQ(count(key_of(front_svg(line)), "<line"), 1);
  FrontPlot dots = plot_of_directions(3, 100);
  dots.reference = das_dennis(3, 20);
  EXPECT_EQ(count(key_of(front_svg(dots)), "<line"), 0);
  EXPECT_EQ(circles(key_of(front_svg(dots)), "1.2").size(), 3U);
  FrontPlot lines = plot_of_directions(6, 100);
  lines.reference = das_dennis(6, 3);
  EXPECT_EQ(count(key_of(front_svg(lines)), "<line"), 1);
}

TEST(FrontSvg, ShowsMaximizedObjectivesAsUsersReadThem) {
  FrontPlot plot{"", {"weight", "profit"}, {false, true}, {}, {}};
  for (int i = 0; i <= 100; ++i) plot.points.push_back({i / 100.0, -1000 - 10 * std::sqrt(i)});
  const std::string svg = front_svg(plot);
  EXPECT_EQ(complaint_about(svg), "");
  const std::vector<Pixel> points = circles(svg, "3");
  ASSERT_EQ(points.size(), 101U);
  EXPECT_GT(points[0].y, points[100].y + 300);  // more profit is higher up
  for (const char* label : {">profit (maximised)</text>", ">greatest profit</text>",
                            ">least weight</text>", ">1100</text>"}) {
    EXPECT_GE(count(svg, label), 1) << label;
  }
  EXPECT_EQ(count(svg, ">-"), 0);
}

TEST(FrontSvg, DrawsAReferenceFrontAsALineThatEndsAtGaps) {
  FrontPlot plot = zdt1_plot();
  for (int i = 0; i <= 1000; ++i) {
    if (i > 300 && i < 500) continue;
    plot.reference.push_back({i / 1000.0, 1 - std::sqrt(i / 1000.0)});
  }
  const std::string svg = front_svg(plot);
  EXPECT_EQ(complaint_about(svg), "");
  EXPECT_EQ(count(svg, ">reference front</text>"), 1);
  const std::size_t begin = svg.find("<path", svg.find("stroke-linecap"));
  const std::string path = svg.substr(begin, svg.find("/>", begin) - begin);
  // Cut once; and perhaps where it is steep and places are far apart.
  EXPECT_LE(count(path, "M"), 4);
  EXPECT_GE(count(path, "M"), 2);
  EXPECT_EQ(count(path, "M") + count(path, "L"), 802);

  plot.reference = {{0, 1}, {1, 0}};
  EXPECT_EQ(count(front_svg(plot), "h.01"), 2);  // too few for a line
}

TEST(FrontSvg, HasAPanelForEachPairOfThreeAndFourObjectives) {
  for (const auto& [objectives, panels] : {std::pair{2, 1}, {3, 3}, {4, 6}}) {
    const FrontPlot plot = plot_of_directions(objectives, 100);
    const std::string svg = front_svg(plot);
    EXPECT_EQ(complaint_about(svg), "");
    EXPECT_EQ(count(svg, "<rect x="), panels);
    const std::string radius = plot.points.size() > 60 ? "3" : "4";
    const auto n = circles(svg, radius).size() - (radius == "4" ? 1 : 0);  // one is in the legend
    EXPECT_EQ(n, static_cast<std::size_t>(panels) * plot.points.size());
    for (const std::string& name : plot.names) {
      EXPECT_EQ(count(svg, ">" + name + "</text>"), objectives - 1) << name;
    }
  }
}

// A few points that are penalised by thousands must not make a line of all the others.
TEST(FrontSvg, DrawsAFewPointsThatAreFarWorseAtTheBorder) {
  FrontPlot plot{"disc", {"mass", "time", "lack"}, {}, {}, {}};
  for (int i = 0; i < 50; ++i) plot.points.push_back({i * 1.0, 50.0 - i, (i * 7) % 25 * 1.0});
  const std::vector<Pixel> plain = circles(front_svg(plot), "4");
  plot.points.push_back({10.5, 39.25, 18000});
  plot.points.push_back({20.5, 29.25, 9000});
  const std::string svg = front_svg(plot);

  EXPECT_EQ(complaint_about(svg), "");
  // Two of the three panels have the axis of what lacks.
  EXPECT_EQ(count(svg, ">2 points beyond the axes, drawn at the border</text>"),
            2 * 2);  // and their halos
  const std::vector<Pixel> drawn = circles(svg, "4");
  ASSERT_EQ(drawn.size(), plain.size() + 3 * 2);
  for (std::size_t panel = 1; panel < 3; ++panel) {
    // The legend has the first circle; each panel then draws its points, those beyond last.
    const std::size_t first = 1 + panel * 52;
    double low = 1e9, high = -1e9;
    for (std::size_t i = first; i < first + 50; ++i) {
      low = std::min(low, drawn[i].y);
      high = std::max(high, drawn[i].y);
    }
    EXPECT_GT(high - low, 200) << "of some 290 pixels";
    for (std::size_t i = first + 50; i < first + 52; ++i) EXPECT_LT(drawn[i].y, low);
  }
  // Every mark is named in every panel.
  for (const char* label : {"least lack", "least mass", "least time"}) {
    EXPECT_GE(count(svg, label), 3 * 2) << label;
  }
}

// Of the greatest values of what is maximised none is out of sight.
TEST(FrontSvg, NeverLeavesTheBestPointsOutOfItsAxes) {
  FrontPlot plot{"disc", {"a", "b", "c"}, {}, {}, {}};
  for (int i = 0; i < 50; ++i) plot.points.push_back({i * 1.0, 50.0 - i, 100.0 + (i * 7) % 25});
  plot.points.push_back({10, 30, -18000});
  EXPECT_EQ(count(front_svg(plot), "beyond the axes"), 0);
  plot.maximized = {false, false, true};  // the same point, seen from the other side
  EXPECT_EQ(count(front_svg(plot), "beyond the axes"), 0);
}

TEST(FrontSvg, HasALineForEachPointOfManyObjectives) {
  FrontPlot plot = plot_of_directions(6, 130);
  plot.maximized = {false, false, true, false, false, false};
  plot.reference = das_dennis(6, 8);
  const std::string svg = front_svg(plot);
  EXPECT_EQ(complaint_about(svg), "");
  // Those of the reference front are thinned out, those of marks drawn once more.
  const int n_marked = count(svg, "\"/>\n") - count(svg, "<line") - count(svg, "<rect") -
                       count(svg, "<circle") - 1 - 300 - static_cast<int>(plot.points.size());
  EXPECT_GE(n_marked, 1);
  EXPECT_LE(n_marked, 7);
  EXPECT_EQ(count(svg, ">better values are nearer to the bottom on every axis</text>"), 1);
  EXPECT_EQ(count(svg, ">maximised</text>"), 1);
  for (const std::string& name : plot.names) EXPECT_EQ(count(svg, ">" + name + "</text>"), 1);
}

TEST(FrontSvg, LeavesOutWhatCannotBeDrawnAndSaysSo) {
  FrontPlot plot = zdt1_plot();
  plot.points.push_back({not_known, 0});
  plot.points.push_back({0, -std::numeric_limits<double>::infinity()});
  plot.points.push_back({1e301, 0});
  const std::string svg = front_svg(plot);
  EXPECT_EQ(circles(svg, "3").size(), 101U);
  EXPECT_EQ(count(svg, ">101 points (3 more points cannot be drawn)</text>"), 1);
  EXPECT_EQ(count(svg, "nan") + count(svg, "inf"), 0);
}

TEST(FrontSvg, IsSoundForExtremeFronts) {
  const std::vector<Points> fronts{{},
                                   {{0, 0}},
                                   {{5, 5}, {5, 5}},
                                   {{1e300, -1e300}, {-1e300, 1e300}},
                                   {{1e-320, 0}, {0, 1e-320}},
                                   {{1e15, 1}, {1e15 + 1, 0}},
                                   {{-1e-12, 3}, {1e-12, 2.9999}}};
  for (const Points& points : fronts) {
    const std::string svg = front_svg({"", {"f1", "f2"}, {}, points, points});
    EXPECT_EQ(complaint_about(svg), "");
    EXPECT_EQ(count(svg, "nan") + count(svg, "inf"), 0);
    EXPECT_EQ(circles(svg, "4").size(), points.size() + 1);  // one is in the legend
    EXPECT_LT(svg.size(), 10'000U);
  }
}

TEST(FrontSvg, EscapesTexts) {
  const std::string evil = "</svg><script>x()</script> & \"'\x1b[31m \xff";
  FrontPlot plot = zdt1_plot();
  plot.title = evil;
  plot.names = {evil, "g\xc3\xbcte"};
  const std::string svg = front_svg(plot);
  EXPECT_EQ(complaint_about(svg), "");
  EXPECT_EQ(count(svg, "<script"), 0);
  EXPECT_EQ(count(svg, "\x1b") + count(svg, "\xff"), 0);
  EXPECT_GE(count(svg, "&lt;/svg&gt;&lt;script&gt;x()&lt;/script&gt; &amp; &quot;&#39;?[31m ?"), 1);
  EXPECT_GE(count(svg, ">g\xc3\xbcte</text>"), 1);
}

TEST(FrontSvg, NeedsPointsOfAsManyObjectivesAsNames) {
  const auto code_of = [](const FrontPlot& plot) {
    return test::code_of([&] { front_svg(plot); });
  };
  EXPECT_EQ(code_of({"", {"f1"}, {}, {{1}}, {}}), "front.dimension");
  EXPECT_EQ(code_of({"", {"f1", "f2"}, {}, {{1, 2, 3}}, {}}), "front.dimension");
  EXPECT_EQ(code_of({"", {"f1", "f2"}, {}, {}, {{1}}}), "front.dimension");
  EXPECT_EQ(code_of({"", {"f1", "f2"}, {true}, {}, {}}), "front.dimension");
  EXPECT_EQ(code_of({"", {"f1", "f2"}, {true, true}, {}, {}}), "accepted");
}

TEST(PlotScale, HasRoundTicksWithLabelsThatTellThemApart) {
  for (const auto& [low, high] : {std::pair{0.0, 1.0},
                                  {1.2e6, 1.5e6},
                                  {-3e-5, 8e-5},
                                  {0.0, 0.0},
                                  {5.0, 5.0},
                                  {-7.0, -7.0},
                                  {-1e300, 1e300},
                                  {1e15, 1e15 + 2},
                                  {99.5, 100.25},
                                  {1e-200, 3e-200},
                                  {-2.5, 999999.0}}) {
    for (const int about : {3, 5, 8}) {
      const PlotScale scale(low, high, 100, 600, about);
      EXPECT_GT(scale(low), 100);
      EXPECT_LT(scale(high), 600);
      const std::vector<double>& ticks = scale.ticks();
      EXPECT_GE(ticks.size(), 2U) << low << " " << high;
      EXPECT_LE(static_cast<int>(ticks.size()), 2 * about);
      std::set<std::string> labels;
      for (const double tick : ticks) {
        EXPECT_GE(scale(tick), 100 - 1e-6);
        EXPECT_LE(scale(tick), 600 + 1e-6);
        const std::string label = scale.label(tick);
        labels.insert(label);
        EXPECT_LE(label.size(), 18U);
        EXPECT_NEAR(scale(std::stod(label)), scale(tick), 0.01) << label;
      }
      EXPECT_EQ(labels.size(), ticks.size());
    }
  }
  const PlotScale unit(0, 1, 0, 100, 5);
  ASSERT_EQ(unit.ticks().size(), 6U);
  EXPECT_EQ(unit.label(unit.ticks()[0]), "0");
  EXPECT_EQ(unit.label(unit.ticks()[1]), "0.2");
  const PlotScale large(1.2e6, 1.5e6, 0, 100, 3);
  EXPECT_EQ(large.label(large.ticks()[0]), "1.2e6");
}

TEST(Shortened, FitsAndKeepsCharactersWhole) {
  EXPECT_EQ(shortened("cost", 10, 100), "cost");
  const std::string umlauts =
      "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x84\xc3\x96\xc3\x9c\xc3\x9f\xc3\xa4\xc3\xb6";
  for (double width = 20; width < 50; width += 1) {
    const std::string text = shortened(umlauts, 10, width);
    EXPECT_LE(text_width(text, 10), width);
    EXPECT_EQ(text.find('?'), std::string::npos);
    if (text != umlauts) {
      EXPECT_EQ(umlauts.substr(0, text.size() - 3) + "...", text);
      EXPECT_EQ(svg_escaped(text), text);  // which would show a broken character
    }
  }
}

}  // namespace
}  // namespace kiln::cli::front_plot_test
