// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Where the texts of pictures of fronts stand.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "kiln/indicators.hpp"

#include "front_plot.hpp"
#include "svg_canvas.hpp"

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

}  // namespace
}  // namespace kiln::cli::front_labels_test
