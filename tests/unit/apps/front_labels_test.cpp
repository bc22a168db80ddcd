// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Where the texts of pictures of fronts stand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kiln/fronts/indicators.hpp"

#include "front/front_plot.hpp"
#include "front/svg_canvas.hpp"

namespace kiln::cli::front_labels_test {
namespace {

/// What a text that can be seen covers, from its attributes. A capital is 0.72 of the size high,
/// and characters are 0.5 of it wide on average.
struct Label {
  std::string text;
  PixelBox box;
};

std::string attribute(const std::string& element, const std::string& name) {
  const std::size_t at = element.find(" " + name + "=\"");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size() + 3;
  return element.substr(begin, element.find('"', begin) - begin);
}

std::vector<Label> labels_in(const std::string& svg) {
  std::vector<Label> labels;
  for (std::size_t at = svg.find("<text "); at != std::string::npos;
       at = svg.find("<text ", at + 1)) {
    const std::size_t end = svg.find('>', at);
    const std::string element = svg.substr(at, end - at);
    if (!attribute(element, "aria-hidden").empty()) continue;  // the halo of the next one
    Label label{svg.substr(end + 1, svg.find('<', end) - end - 1), {}};
    const double size = std::stod(attribute(element, "font-size"));
    const double width = 0.5 * size * static_cast<double>(label.text.size());
    const std::string anchor = attribute(element, "text-anchor");
    const double before = anchor == "middle" ? width / 2 : anchor == "end" ? width : 0;
    const double x = std::stod(attribute(element, "x")), y = std::stod(attribute(element, "y"));
    const double height = 0.72 * size;
    label.box = attribute(element, "transform").empty()
                    ? PixelBox{x - before, y - height, width, height}
                    : PixelBox{x - height, y - width / 2, height, width};
    labels.push_back(std::move(label));
  }
  return labels;
}

/// Pairs of texts that are printed over each other, and those that leave the picture.
std::string overprinted(const std::string& svg) {
  const PixelBox picture{0, 0, std::stod(attribute(svg, "width")),
                         std::stod(attribute(svg, "height"))};
  const std::vector<Label> labels = labels_in(svg);
  std::string all;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (!picture.holds(labels[i].box)) all += labels[i].text + " leaves the picture\n";
    for (std::size_t j = 0; j < i; ++j) {
      if (labels[i].box.overlaps(labels[j].box)) {
        all += labels[i].text + " over " + labels[j].text + "\n";
      }
    }
  }
  return all;
}

TEST(FrontSvg, PrintsNoLabelOverAnother) {
  // A disc brake as NSGA-II finds it: the knee beside an end, and 18000 for a few.
  FrontPlot brake{"re:33", {"mass", "stopping time", "violation"}, {}, {}, {}};
  for (int i = 0; i < 60; ++i) {
    const double x = i / 59.0;
    brake.points.push_back({0.2 + 2.5 * x, 3 + 12 * (1 - x) * (1 - x), x < 0.9 ? 0.0 : 25 * x});
  }
  brake.points.push_back({0.19, 18, 18000});
  brake.points.push_back({0.18, 19, 9000});
  brake.points.push_back({0.17, 20, 4000});
  EXPECT_EQ(overprinted(front_svg(brake)), "");

  // Ends that lie on each other in one panel, in the middle and in a corner.
  for (const double corner : {0.0, 0.5, 1.0}) {
    FrontPlot alike{"alike", {"cost", "weight of it", "time"}, {}, {}, {}};
    for (int k = 0; k < 3; ++k) {
      std::vector<double> end{corner, corner, corner};
      end[static_cast<std::size_t>(k)] -= 1e-6;
      end[static_cast<std::size_t>((k + 1) % 3)] += 1e-6;
      alike.points.push_back(std::move(end));
    }
    alike.points.push_back({corner - 5e-7, corner - 5e-7, corner - 5e-7});
    EXPECT_EQ(overprinted(front_svg(alike)), "") << corner;
    alike.points.push_back({1, 0, 0.5});
    alike.points.push_back({0, 1, 0.5});
    alike.points.push_back({0.5, 0.5, 1});
    EXPECT_EQ(overprinted(front_svg(alike)), "") << corner;
  }

  // A point that is best in everything has many names, which are long; ticks have many digits.
  FrontPlot best{"best", {}, {}, {{1e-4, -3.25e-4, 100001}, {2e-4, 3e-4, 100002}}, {}};
  for (int k = 0; k < 3; ++k) best.names.push_back("a very long name " + std::to_string(k));
  EXPECT_EQ(overprinted(front_svg(best)), "");
  for (int k = 2; k < 5; ++k) {
    FrontPlot few{"directions", {}, {}, reference_directions(k, 20), {}};
    for (int i = 1; i <= k; ++i) few.names.push_back("cost " + std::to_string(i));
    EXPECT_EQ(overprinted(front_svg(few)), "") << k;
  }
}

/// What is pointed out in one panel, found anew from the picture and the points.
struct PanelMark {
  std::string name;
  Pixel at;
};
struct Line {
  Pixel from, to;
};

std::vector<std::string> elements(const std::string& svg, const std::string& begin) {
  std::vector<std::string> found;
  for (std::size_t at = svg.find(begin); at != std::string::npos; at = svg.find(begin, at + 1)) {
    found.push_back(svg.substr(at, svg.find("/>", at) - at));
  }
  return found;
}

double number_of(const std::string& element, const std::string& name) {
  return std::stod(attribute(element, name));
}

std::vector<Line> leaders_in(const std::string& svg) {
  std::vector<Line> lines;
  for (const std::string& one : elements(svg, "<g stroke=\"#a0a0a0\"")) {
    lines.push_back({{number_of(one, "x1"), number_of(one, "y1")},
                     {number_of(one, "x2"), number_of(one, "y2")}});
  }
  return lines;
}

double gap(const PixelBox& box, const Pixel& at) {
  return std::hypot(std::clamp(at.x, box.x, box.x + box.width) - at.x,
                    std::clamp(at.y, box.y, box.y + box.height) - at.y);
}

/// The lines of a label are one below the other: the box of all of them.
PixelBox block_of(const std::vector<Label>& labels, std::size_t line) {
  PixelBox box = labels[line].box;
  for (const Label& other : labels) {
    const bool beside = other.box.x < box.x + box.width && box.x < other.box.x + other.box.width;
    if (!beside || std::abs(other.box.y - labels[line].box.y) > 80) continue;
    if (std::abs(std::remainder(other.box.y - labels[line].box.y, 16)) > 0.02) continue;
    const double top = std::min(box.y, other.box.y);
    const double bottom = std::max(box.y + box.height, other.box.y + other.box.height);
    box = {box.x, top, box.width, bottom - top};
  }
  return box;
}

bool says(const std::string& text, const std::string& name) {
  return (", " + text + ",").find(", " + name + ",") != std::string::npos;
}

/// Why a label does not belong to its mark for everyone to see; nothing if it does. Marks that lie
/// on each other share a label.
std::string stray(const PanelMark& mark, const std::vector<PanelMark>& marks,
                  const std::vector<Label>& labels, const std::vector<Line>& leaders) {
  std::size_t line = 0;
  while (line < labels.size() && !says(labels[line].text, mark.name)) ++line;
  if (line == labels.size()) return mark.name + " has no label\n";
  const PixelBox block = block_of(labels, line);
  double nearest = 1e9;
  for (const PanelMark& other : marks) {
    if (std::hypot(other.at.x - mark.at.x, other.at.y - mark.at.y) > 10.1) continue;
    nearest = std::min(nearest, gap(block, other.at));
    for (const Line& leader : leaders) {
      const bool begins = std::hypot(leader.to.x - other.at.x, leader.to.y - other.at.y) < 0.1;
      const bool ends = gap(block, leader.from) < 8;
      const double length = std::hypot(leader.to.x - leader.from.x, leader.to.y - leader.from.y);
      if (begins && ends && length < 130) return {};
    }
  }
  return nearest <= 21 ? "" : mark.name + " is " + std::to_string(nearest) + " from its label\n";
}

std::string strays(const FrontPlot& plot) {
  const std::string svg = front_svg(plot);
  std::vector<Pixel> points;
  for (const std::string& one : elements(svg, "<circle ")) {
    if (number_of(one, "r") == 4) points.push_back({number_of(one, "cx"), number_of(one, "cy")});
  }
  points.erase(points.begin());  // of the legend
  const std::vector<std::size_t> ends = extreme_points(plot.points);
  const std::vector<std::string> panels = elements(svg, "<rect ");
  std::string all = overprinted(svg);
  for (std::size_t p = 1; p < panels.size(); ++p) {
    const PixelBox area{number_of(panels[p], "x"), number_of(panels[p], "y"),
                        number_of(panels[p], "width"), number_of(panels[p], "height")};
    std::vector<Label> labels;
    for (const Label& label : labels_in(svg)) {
      const bool is_name = label.text.find("least") == 0 || label.text.find("knee") == 0 ||
                           label.text.find("solution") == 0;
      if (is_name && area.holds(label.box)) labels.push_back(label);
    }
    std::vector<PanelMark> marks;
    const auto add = [&](const std::string& name, std::size_t point) {
      marks.push_back({name, points.at((p - 1) * plot.points.size() + point)});
    };
    for (std::size_t k = 0; k < ends.size(); ++k) add("least " + plot.names[k], ends[k]);
    add(has_knee(plot.points) ? "knee" : "solution", compromise_point(plot.points));
    for (const PanelMark& mark : marks) all += stray(mark, marks, labels, leaders_in(svg));
  }
  return all;
}

/// Texts that a leader of another one goes through. Lines of a label are 16 apart, and its own is
/// the nearest to where a leader ends.
std::string struck_out(const std::string& svg) {
  std::vector<Label> labels = labels_in(svg);
  std::erase_if(labels, [](const Label& label) {
    return label.text.find("least") != 0 && label.text.find("knee") != 0 &&
           label.text.find("solution") != 0;
  });
  const auto around = [&](std::size_t i) {
    const PixelBox& box = labels[i].box;
    return PixelBox{box.x - 2, box.y - 12 + box.height, box.width + 4, 16};
  };
  std::string all;
  for (const Line& leader : leaders_in(svg)) {
    std::size_t own = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (gap(around(i), leader.from) < gap(around(own), leader.from)) own = i;
    }
    const PixelBox block = block_of(labels, own);
    for (const Label& label : labels) {
      const PixelBox &box = label.box, inner{box.x + 2, box.y + 1, box.width - 4, box.height - 2};
      if (block.holds(Pixel{box.x + box.width / 2, box.y + box.height / 2})) continue;
      bool is_struck = false;
      for (int i = 0; i <= 200; ++i) {
        const double share = i / 200.0;
        is_struck |= gap(inner, {leader.from.x + share * (leader.to.x - leader.from.x),
                                 leader.from.y + share * (leader.to.y - leader.from.y)}) == 0;
      }
      if (is_struck) all += label.text + "\n";
    }
  }
  return all;
}

/// Points of spheres and simplices, some of them with ends that lie on each other in a panel.
FrontPlot random_front(std::uint32_t seed, std::size_t more = 0) {
  std::mt19937 bits(seed);
  const auto uniform = [&] { return static_cast<double>(bits()) / 4294967296.0; };
  const std::size_t objectives = 2 + bits() % 3, n = more + 3 + bits() % 17;
  const double power = 0.4 + 2.6 * uniform(), rough = 0.1 * uniform();
  const bool snaps = uniform() < 0.4;
  FrontPlot plot{"seed " + std::to_string(seed), {}, {}, {}, {}};
  for (std::size_t k = 1; k <= objectives; ++k) plot.names.push_back("f" + std::to_string(k));
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> point;
    double sum = 0;
    for (std::size_t k = 0; k < objectives; ++k)
      sum += point.emplace_back(-std::log(1 - uniform()));
    for (double& x : point) {
      x = std::pow(x / sum, power) + rough * uniform();
      if (snaps) x = std::round(4 * x) / 4 + 1e-3 * uniform();
    }
    plot.points.push_back(std::move(point));
  }
  return plot;
}

TEST(FrontSvg, PutsEachLabelByItsMarkOrLeadsThere) {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    EXPECT_EQ(strays(random_front(seed)), "") << "seed " << seed;
  }
}

TEST(FrontSvg, LeadsThroughNoOtherLabel) {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    EXPECT_EQ(struck_out(front_svg(random_front(seed, 80))), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace kiln::cli::front_labels_test
