// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "front/front_plot.hpp"
#include "front/svg_canvas.hpp"

// What all pictures of fronts share.
namespace kiln::cli {

inline constexpr std::string_view ink = "#333333", faint_ink = "#666666";
inline constexpr std::string_view point_color = "#2f6db3", reference_color = "#8a8a8a";
inline constexpr std::string_view knee_color = "#c2272d", extreme_color = "#d9730d";
inline constexpr double picture_margin = 24, header_height = 64, tick_size = 11, name_size = 13;

/// A point of the front that is pointed out.
struct Mark {
  std::size_t point = 0;
  bool chosen = false;               ///< compromise_point() of indicators.hpp
  std::vector<std::size_t> best_in;  ///< objectives
};

/// A front whose points can all be drawn, in the units of users.
struct FrontDrawing {
  std::string title;
  std::vector<std::string> names;
  std::vector<bool> maximized;
  Points points, reference;
  std::size_t left_out = 0;  ///< of the points
  std::vector<Mark> marks;
  const char* chosen_name = "knee";  ///< "solution" where the front has no knee

  std::size_t objectives() const { return names.size(); }
};

/// @throws InvalidArgument as front_svg().
FrontDrawing drawing_of(const FrontPlot& plot);

/// For all values of an objective, the pixels of the lowest and of the highest given.
PlotScale scale_of(const FrontDrawing& drawing, std::size_t objective, double first, double last,
                   int about_ticks);

/// The same for most values: where the worst twentieth of the points would take more than half of
/// the axis, it ends before them.
PlotScale focused_scale_of(const FrontDrawing& drawing, std::size_t objective, double first,
                           double last, int about_ticks);

/// A reference front of two objectives and so many points is drawn as a line, with gaps where its
/// points have some; parallel coordinates have lines only.
inline constexpr std::size_t dense_reference = 60;
inline bool reference_is_line(const FrontDrawing& drawing) {
  return drawing.objectives() > 4 ||
         (drawing.objectives() == 2 && drawing.reference.size() >= dense_reference);
}

/// Title and legend; nothing else is drawn above header_height.
void draw_header(SvgCanvas& canvas, const FrontDrawing& drawing, double width);

/// Places of a front in two objectives as the pieces of a line: it ends where the next place is
/// much farther than usual.
std::vector<std::vector<Pixel>> pieces_of(std::vector<Pixel> places);

/// Not more than `most` points, evenly chosen.
Points thinned(const Points& points, std::size_t most);

/// The picture for two, three or four objectives.
std::string scatter_svg(const FrontDrawing& drawing);

}  // namespace kiln::cli
