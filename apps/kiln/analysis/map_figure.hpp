// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/map_links.hpp"
#include "front/svg_canvas.hpp"
#include "front/svg_theme.hpp"

// What the heat map and the graph share.
namespace kiln::cli {

/// The name of a column as pictures have it, so short that it is at most max_name_width wide.
std::string drawn_name(const InformationMap& map, std::int32_t column, double size);
/// How wide it is drawn, in pixels, whatever the font.
double drawn_width(const InformationMap& map, std::int32_t column, double size);
inline constexpr double max_name_width = 170;

/// A title and, below it, a sentence or two in lines.
struct FigureHeading {
  std::string title;
  std::vector<std::string> lines;
  double height = 0;  ///< pixels from the top; nothing else is drawn above
};

/// @param width  of the picture
FigureHeading figure_heading(const std::string& title, const std::string& words, double width);
void draw_heading(SvgCanvas& canvas, const FigureHeading& heading);

/// A text that a page shows when the pointer is near.
struct FigureTip {
  Pixel at;
  std::string text;
};

/// "x -> y, lag 1", the estimate, and what is said of it.
std::string tip_text(const InformationMap& map, const InformationLink& link, InformationUnit unit);

/// The attributes of a picture on a page, of its natural size.
std::string page_attributes(double width, double height, const std::vector<FigureTip>& tips);

/// A figure as a file. It has width(), height(), heading() and draw().
template <class Figure>
std::string figure_document(const Figure& figure) {
  SvgCanvas canvas(figure.width(), figure.height(), figure.heading().title);
  figure.draw(canvas);
  return with_dark_theme(std::move(canvas).finish());
}

/// A figure within a page. It also has tips().
template <class Figure>
std::string figure_element(const Figure& figure) {
  SvgCanvas canvas =
      SvgCanvas::within_page(figure.width(), figure.height(), figure.heading().title,
                             page_attributes(figure.width(), figure.height(), figure.tips()));
  figure.draw(canvas);
  return "<div class=\"scroll\">" + themed(std::move(canvas).finish()) + "</div>\n";
}

}  // namespace kiln::cli
