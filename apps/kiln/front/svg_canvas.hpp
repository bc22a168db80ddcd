// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::cli {

/// A place on a drawing, in pixels from its upper left corner.
struct Pixel {
  double x = 0, y = 0;
};

/// A rectangle on a drawing, in pixels.
struct PixelBox {
  double x = 0, y = 0, width = 0, height = 0;

  bool holds(const Pixel& at) const {
    return at.x >= x && at.x <= x + width && at.y >= y && at.y <= y + height;
  }
  bool holds(const PixelBox& other) const {
    return holds(Pixel{other.x, other.y}) &&
           holds(Pixel{other.x + other.width, other.y + other.height});
  }
  bool overlaps(const PixelBox& other) const {
    return other.x < x + width && x < other.x + other.width && other.y < y + height &&
           y < other.y + other.height;
  }
};

/// How a text stands.
struct TextStyle {
  std::string_view color = "#333333";  ///< "": as its group or the style sheet of a page says
  double size = 12;                    ///< pixels
  std::string_view anchor = "start";   ///< of its place: start, middle or end
  bool bold = false;
  bool upwards = false;  ///< turned by a quarter
  bool halo = false;     ///< readable over whatever is below
};

/// An SVG text that grows element by element; coordinates are rounded to a hundredth of a pixel.
class SvgCanvas {
 public:
  /// A whole document on a white ground, which needs no script, style sheet or font.
  /// @param title  what programs that read pages out say.
  SvgCanvas(double width, double height, std::string_view title);
  /// A picture within a page, as wide as its place, without a ground: the page has the style sheet.
  /// @param attributes  of the element `svg`, taken as they are
  static SvgCanvas within_page(double width, double height, std::string_view title,
                               std::string_view attributes);

  /// Attributes are of SVG, as `stroke="#888888"`, and are taken as they are.
  void open_group(std::string_view attributes);
  void close_group();
  void line(const Pixel& from, const Pixel& to);
  void rectangle(const PixelBox& box);
  void circle(const Pixel& center, double radius);
  /// A square that stands on its corner.
  void diamond(const Pixel& center, double radius);
  /// Lines through each of the pieces; pieces of one place are dots if line ends are round.
  void path(const std::vector<std::vector<Pixel>>& pieces);
  void text(const Pixel& at, std::string_view text, const TextStyle& style);

  /// The whole document.
  std::string finish() &&;

 private:
  SvgCanvas() = default;

  std::string text_;
};

/// The text without what could steer a terminal, and fit for a place between tags or in quotes.
std::string svg_escaped(std::string_view text);

/// How wide a text is drawn, roughly: fonts differ.
double text_width(std::string_view text, double size);

/// The text, shortened to fit into so many pixels.
std::string shortened(std::string_view text, double size, double width);

/// A range of values laid along a line of pixels, with ticks at round values.
class PlotScale {
 public:
  /// The range is widened a little so that no value lies on an edge.
  /// @param low, high  finite, low at most high.
  /// @param first, last  the pixels of both ends.
  /// @param margin  by which share of the range it is widened at each end
  PlotScale(double low, double high, double first, double last, int about_ticks,
            double margin = 0.04);

  double operator()(double value) const {
    return first_ + (value - low_) / (high_ - low_) * (last_ - first_);
  }
  const std::vector<double>& ticks() const { return ticks_; }
  /// As few digits as tell the ticks apart.
  std::string label(double tick) const;

 private:
  double low_ = 0, high_ = 1, first_ = 0, last_ = 1;
  int exponent_ = 0;  // ticks are multiples of 10^exponent_
  std::vector<double> ticks_;
};

}  // namespace kiln::cli
