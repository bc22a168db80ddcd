// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/axis_scale.hpp"

namespace kiln::cli {

/// A point of a chart, in the units of its axes. One that is not finite, or not above 0 on a
/// logarithmic axis, is a gap.
struct ChartPoint {
  double x = 0, y = 0;
};

/// What an axis shows.
struct ChartAxis {
  std::string title;  ///< with the unit: "time [s]"
  bool logarithmic = false;
  std::optional<double> low{}, high{};  ///< ends that are fixed; else those of the data
  std::vector<std::string> names{};     ///< of the places 1, 2, ..., instead of numbers
};

/// How points are drawn. Colours are those of a slot of the style sheet: 0 is the accent, 6 the
/// faint one.
struct SeriesStyle {
  std::string name;  ///< in the legend; "" for none
  int color = 0;
  bool thin = false;
};

/// A chart of a report: lines, dots and bars over two axes, as a figure with an inline SVG and a
/// legend. Lines are thinned to the pixel.
class Chart {
 public:
  Chart(std::string title, ChartAxis x, ChartAxis y);

  /// Straight lines between the points, which are in the order of x.
  void line(const SeriesStyle& style, std::vector<ChartPoint> points);
  /// The value of each point holds until the next; the last holds until `end`.
  void steps(const SeriesStyle& style, std::vector<ChartPoint> points, double end);
  /// @param diamond  larger marks on their corner, for few points that stand out
  void dots(const SeriesStyle& style, std::vector<ChartPoint> points, bool diamond = false);
  /// Bars from 0 to y, `width` wide in units of x, centred at x.
  void bars(const SeriesStyle& style, std::vector<ChartPoint> points, double width);
  /// Vertical lines from low[i].y to high[i].y.
  void spans(const SeriesStyle& style, const std::vector<ChartPoint>& low,
             const std::vector<ChartPoint>& high);
  /// The area between two curves of equal x, which are in the order of x: of each column of pixels
  /// the lowest and the highest place.
  void band(const SeriesStyle& style, const std::vector<ChartPoint>& low,
            const std::vector<ChartPoint>& high);
  /// A dashed line at a value.
  void rule(const std::string& name, double y);
  /// A text that is shown when the pointer is near the point.
  void tip(const ChartPoint& at, std::string text);
  /// Tips by distance in both directions, not by x alone.
  void tips_by_point() { by_point_ = true; }
  /// Further attributes of the figure, such as `data-counts="1,2"`, taken as they are.
  void attributes(std::string text) { attributes_ = std::move(text); }
  void caption(std::string text) { caption_ = std::move(text); }

  bool empty() const;
  /// The element `figure`; "" where no point can be drawn.
  std::string figure() const;

 private:
  enum class Kind { line, steps, dots, diamonds, bars, spans, band };
  struct Series {
    SeriesStyle style;
    Kind kind;
    std::vector<ChartPoint> points;
    double extent = 0;  // end of steps, width of bars
  };
  struct Rule {
    std::string name;
    double y;
  };
  struct Tip {
    ChartPoint at;
    std::string text;
  };
  struct Frame;

  bool is_shown(const ChartPoint& point) const;
  std::vector<ChartPoint> pairs_of(const std::vector<ChartPoint>& low,
                                   const std::vector<ChartPoint>& high) const;
  void add(Kind kind, const SeriesStyle& style, std::vector<ChartPoint> points, double extent = 0);
  Frame frame() const;
  void draw_axes(SvgCanvas& canvas, const Frame& frame) const;
  void draw_labels(SvgCanvas& canvas, const Frame& frame) const;
  void draw(SvgCanvas& canvas, const Frame& frame, const Series& series) const;
  static std::vector<Pixel> outline_of(const Frame& frame, const Series& series);
  std::vector<Pixel> places_of(const Frame& frame, const Series& series) const;
  std::string legend() const;
  std::string tips_text(const Frame& frame) const;

  std::string title_, caption_, attributes_;
  ChartAxis x_, y_;
  std::vector<Series> series_;
  std::vector<Rule> rules_;
  std::vector<Tip> tips_;
  bool by_point_ = false;
};

}  // namespace kiln::cli
