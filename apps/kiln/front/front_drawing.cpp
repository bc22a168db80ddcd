// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "front/front_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/fronts/indicators.hpp"

namespace kiln::cli {
namespace {

bool can_be_drawn(const std::vector<double>& point) {
  return std::all_of(point.begin(), point.end(), [](double x) { return std::abs(x) <= 1e300; });
}

void require_dimensions(const FrontPlot& plot) {
  const std::size_t objectives = plot.names.size();
  const auto fits = [&](const std::vector<double>& point) { return point.size() == objectives; };
  const bool all_fit = std::all_of(plot.points.begin(), plot.points.end(), fits) &&
                       std::all_of(plot.reference.begin(), plot.reference.end(), fits) &&
                       (plot.maximized.empty() || plot.maximized.size() == objectives);
  if (objectives < 2 || !all_fit) {
    throw InvalidArgument("front.dimension",
                          "a picture of a front needs two or more objectives; names, points and "
                          "senses must have the same number of objectives");
  }
}

/// The compromise and the ends; a point that is several of them has one mark.
std::vector<Mark> marks_of(const Points& points) {
  std::vector<Mark> marks;
  if (points.size() < 2) return marks;
  const auto mark_at = [&](std::size_t point) -> Mark& {
    const auto known = std::find_if(marks.begin(), marks.end(), [&](const Mark& mark) {
      return points[mark.point] == points[point];
    });
    return known != marks.end() ? *known : marks.emplace_back(Mark{point, false, {}});
  };
  const std::vector<std::size_t> extremes = extreme_points(points);
  for (std::size_t k = 0; k < extremes.size(); ++k) mark_at(extremes[k]).best_in.push_back(k);
  mark_at(compromise_point(points)).chosen = true;
  return marks;
}

std::pair<double, double> range_of(const FrontDrawing& drawing, std::size_t objective) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Points* const points : {&drawing.points, &drawing.reference}) {
    for (const std::vector<double>& point : *points) {
      low = std::min(low, point[objective]);
      high = std::max(high, point[objective]);
    }
  }
  if (low > high) return {0, 1};  // there are no points
  return {low, high};
}

/// What stands for a reference front in the legend: as it is drawn below, a line or dots.
void draw_reference_key(SvgCanvas& canvas, const Pixel& at, bool is_line) {
  if (is_line) {
    canvas.open_group(fmt::format("stroke=\"{}\" stroke-width=\"2\"", reference_color));
    canvas.line({at.x - 7, at.y}, {at.x + 7, at.y});
  } else {
    canvas.open_group(fmt::format("fill=\"{}\"", reference_color));
    for (const double shift : {-6, 0, 6}) canvas.circle({at.x + shift, at.y}, 1.2);
  }
  canvas.close_group();
}

void draw_legend_text(SvgCanvas& canvas, double& x, const std::string& text) {
  canvas.text({x + 10, header_height - 12}, text, {faint_ink, 12});
  x += 10 + text_width(text, 12) + 28;
}

}  // namespace

FrontDrawing drawing_of(const FrontPlot& plot) {
  require_dimensions(plot);
  FrontDrawing drawing;
  drawing.title = plot.title;
  drawing.names = plot.names;
  drawing.maximized = plot.maximized;
  drawing.maximized.resize(plot.names.size(), false);
  const auto take = [&](const Points& from, Points& to) {
    std::copy_if(from.begin(), from.end(), std::back_inserter(to), can_be_drawn);
  };
  take(plot.points, drawing.points);
  take(plot.reference, drawing.reference);
  drawing.left_out = plot.points.size() - drawing.points.size();
  drawing.marks = marks_of(drawing.points);
  if (!drawing.points.empty() && !has_knee(drawing.points)) drawing.chosen_name = "solution";
  for (Points* const points : {&drawing.points, &drawing.reference}) {
    for (std::vector<double>& point : *points) {
      for (std::size_t k = 0; k < point.size(); ++k) {
        if (drawing.maximized[k]) point[k] = 0.0 - point[k];
      }
    }
  }
  return drawing;
}

PlotScale scale_of(const FrontDrawing& drawing, std::size_t objective, double first, double last,
                   int about_ticks) {
  const auto [low, high] = range_of(drawing, objective);
  return {low, high, first, last, about_ticks};
}

PlotScale focused_scale_of(const FrontDrawing& drawing, std::size_t objective, double first,
                           double last, int about_ticks) {
  auto [low, high] = range_of(drawing, objective);
  std::vector<double> values;
  for (const std::vector<double>& point : drawing.points) values.push_back(point[objective]);
  const bool maximized = drawing.maximized[objective];
  const std::size_t worst = values.size() / 20;
  if (worst > 0) {
    // Of those that stay, the worst.
    const std::size_t end = maximized ? worst : values.size() - 1 - worst;
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(end),
                     values.end());
    const double last_shown = values[end];
    const double shown = maximized ? high - last_shown : last_shown - low;
    const double beyond = maximized ? last_shown - low : high - last_shown;
    if (shown > 0 && beyond > shown) (maximized ? low : high) = last_shown;
  }
  return {low, high, first, last, about_ticks};
}

void draw_header(SvgCanvas& canvas, const FrontDrawing& drawing, double width) {
  canvas.text({picture_margin, 30}, shortened(drawing.title, 17, width - 2 * picture_margin),
              {.color = ink, .size = 17, .bold = true});
  const double y = header_height - 16;
  double x = picture_margin + 6;
  canvas.open_group(fmt::format("fill=\"{}\"", point_color));
  canvas.circle({x, y}, 4);
  canvas.close_group();
  std::string count =
      fmt::format("{} point{}", drawing.points.size(), drawing.points.size() == 1 ? "" : "s");
  if (drawing.left_out > 0)
    count += fmt::format(" ({} more points cannot be drawn)", drawing.left_out);
  draw_legend_text(canvas, x, count);
  if (!drawing.reference.empty()) {
    draw_reference_key(canvas, {x - 1, y}, reference_is_line(drawing));
    draw_legend_text(canvas, x, "reference front");
  }
  if (drawing.marks.empty()) return;
  canvas.open_group(fmt::format("fill=\"{}\"", knee_color));
  canvas.diamond({x, y}, 6);
  canvas.close_group();
  draw_legend_text(canvas, x, drawing.chosen_name);
  canvas.open_group(fmt::format("fill=\"{}\"", extreme_color));
  canvas.circle({x, y}, 5);
  canvas.close_group();
  draw_legend_text(canvas, x, "best in an objective");
}

std::vector<std::vector<Pixel>> pieces_of(std::vector<Pixel> places) {
  const auto before = [](const Pixel& a, const Pixel& b) {
    return a.x != b.x ? a.x < b.x : a.y < b.y;
  };
  std::sort(places.begin(), places.end(), before);
  std::vector<double> gaps;
  for (std::size_t i = 1; i < places.size(); ++i) {
    gaps.push_back(std::hypot(places[i].x - places[i - 1].x, places[i].y - places[i - 1].y));
  }
  std::vector<double> sorted = gaps;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2),
                   sorted.end());
  const double longest = std::max(8 * sorted[gaps.size() / 2], 14.0);
  std::vector<std::vector<Pixel>> pieces{{places.front()}};
  for (std::size_t i = 1; i < places.size(); ++i) {
    if (gaps[i - 1] > longest) pieces.emplace_back();
    pieces.back().push_back(places[i]);
  }
  return pieces;
}

Points thinned(const Points& points, std::size_t most) {
  if (points.size() <= most) return points;
  Points chosen;
  for (std::size_t i = 0; i < most; ++i) chosen.push_back(points[i * points.size() / most]);
  return chosen;
}

}  // namespace kiln::cli
