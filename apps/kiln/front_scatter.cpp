// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "front_drawing.hpp"

namespace kiln::cli {
namespace {

std::string axis_name(const FrontDrawing& drawing, std::size_t objective, double width) {
  const std::string_view suffix = drawing.maximized[objective] ? " (maximised)" : "";
  return shortened(drawing.names[objective], name_size, width - text_width(suffix, name_size)) +
         std::string(suffix);
}

double point_radius(std::size_t n_points) {
  return n_points <= 60 ? 4 : n_points <= 300 ? 3 : n_points <= 3000 ? 2 : 1.5;
}

/// "least cost", "greatest profit"
std::string best_text(const FrontDrawing& drawing, std::size_t objective) {
  return (drawing.maximized[objective] ? "greatest " : "least ") +
         shortened(drawing.names[objective], 12, 110);
}

/// A reference front of so many points is drawn as a line, with gaps where its points have some.
constexpr std::size_t dense = 60;

/// Places of a front in two objectives as the pieces of a line: it ends where the next place is
/// much farther than usual.
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

std::vector<std::vector<Pixel>> dots_of(const std::vector<Pixel>& places) {
  std::vector<std::vector<Pixel>> dots;
  dots.reserve(places.size());
  for (const Pixel& place : places) dots.push_back({place});
  return dots;
}

/// Two of the objectives against each other.
class ScatterPanel {
 public:
  /// @param cell  what the panel may fill, axes and names included.
  ScatterPanel(const FrontDrawing& drawing, std::size_t across, std::size_t up,
               const PixelBox& cell)
      : drawing_(drawing),
        across_(across),
        up_(up),
        y_(scale_for(drawing, up, cell.y + cell.height - 48, cell.y + 8, 5)),
        area_(area_in(cell)),
        x_(scale_for(drawing, across, area_.x, area_.x + area_.width, area_.width < 400 ? 5 : 6)) {}

  void draw(SvgCanvas& canvas) {
    draw_axes(canvas);
    draw_reference(canvas);
    draw_points(canvas);
    draw_marks(canvas);
  }

 private:
  static constexpr double label_size = 12, line_height = 16;
  static constexpr double taken_cost = 1e6;  // of a label over another one, or over a mark

  // A front of two objectives has no points that are bad in both.
  static PlotScale scale_for(const FrontDrawing& drawing, std::size_t objective, double first,
                             double last, int about_ticks) {
    const auto scale = drawing.objectives() == 2 ? scale_of : focused_scale_of;
    return scale(drawing, objective, first, last, about_ticks);
  }
  double label_width() const {
    double width = 0;
    for (const double tick : y_.ticks()) {
      width = std::max(width, text_width(y_.label(tick), tick_size));
    }
    return width;
  }
  PixelBox area_in(const PixelBox& cell) const {
    const double left = name_size + 14 + label_width();
    return {cell.x + left, cell.y + 8, cell.width - left - 10, cell.height - 56};
  }

  // What lies beyond an axis has its place at the border.
  Pixel place_of(const std::vector<double>& point) const {
    return {std::clamp(x_(point[across_]), area_.x, area_.x + area_.width),
            std::clamp(y_(point[up_]), area_.y, area_.y + area_.height)};
  }
  bool is_beyond(const std::vector<double>& point) const {
    const Pixel place = place_of(point);
    return place.x != x_(point[across_]) || place.y != y_(point[up_]);
  }
  std::vector<Pixel> places_of(const Points& points) const {
    std::vector<Pixel> places;
    for (const std::vector<double>& point : points) places.push_back(place_of(point));
    return places;
  }

  void draw_axes(SvgCanvas& canvas) const {
    const double right = area_.x + area_.width, bottom = area_.y + area_.height;
    canvas.open_group("stroke=\"#e9e9e9\" stroke-width=\"1\"");
    for (const double tick : x_.ticks()) canvas.line({x_(tick), area_.y}, {x_(tick), bottom});
    for (const double tick : y_.ticks()) canvas.line({area_.x, y_(tick)}, {right, y_(tick)});
    canvas.close_group();
    canvas.open_group("fill=\"none\" stroke=\"#b5b5b5\" stroke-width=\"1\"");
    canvas.rectangle(area_);
    canvas.close_group();
    double end = -std::numeric_limits<double>::infinity();  // of the label before
    for (const double tick : x_.ticks()) {
      const double half = text_width(x_.label(tick), tick_size) / 2;
      if (x_(tick) - half < end + 4) continue;
      end = x_(tick) + half;
      canvas.text({x_(tick), bottom + 16}, x_.label(tick), {faint_ink, tick_size, "middle"});
    }
    for (const double tick : y_.ticks()) {
      canvas.text({area_.x - 6, y_(tick) + 4}, y_.label(tick), {faint_ink, tick_size, "end"});
    }
    canvas.text({area_.x + area_.width / 2, bottom + 36}, axis_name(drawing_, across_, area_.width),
                {ink, name_size, "middle"});
    canvas.text({area_.x - label_width() - 14, area_.y + area_.height / 2},
                axis_name(drawing_, up_, area_.height),
                {.color = ink, .size = name_size, .anchor = "middle", .upwards = true});
  }

  void draw_reference(SvgCanvas& canvas) const {
    if (drawing_.reference.empty()) return;
    const bool is_line = drawing_.objectives() == 2 && drawing_.reference.size() >= dense;
    canvas.open_group(fmt::format(
        "fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" "
        "stroke-linecap=\"round\" stroke-opacity=\"{}\"",
        reference_color, is_line ? "1.3" : "2.4", drawing_.objectives() == 2 ? "1" : "0.5"));
    canvas.path(is_line ? pieces_of(places_of(drawing_.reference))
                        : dots_of(places_of(thinned(drawing_.reference, 2000))));
    canvas.close_group();
  }

  void draw_points(SvgCanvas& canvas) {
    const double radius = point_radius(drawing_.points.size());
    canvas.open_group(fmt::format("fill=\"{}\" fill-opacity=\"0.75\"", point_color));
    std::vector<Pixel> beyond;
    for (const std::vector<double>& point : drawing_.points) {
      if (is_beyond(point)) {
        beyond.push_back(place_of(point));
      } else {
        canvas.circle(place_of(point), radius);
      }
    }
    canvas.close_group();
    if (beyond.empty()) return;
    canvas.open_group(fmt::format("fill=\"#ffffff\" stroke=\"{}\"", point_color));
    for (const Pixel& place : beyond) canvas.circle(place, radius);
    canvas.close_group();
    const std::string text = fmt::format("{} beyond the axes, at the border", beyond.size());
    const double width = text_width(text, 10);
    taken_.push_back({area_.x + area_.width - 6 - width, area_.y + 4, width, 13});
    canvas.text({area_.x + area_.width - 6, area_.y + 14}, text,
                {.color = faint_ink, .size = 10, .anchor = "end", .halo = true});
  }

  void draw_marks(SvgCanvas& canvas) {
    points_ = places_of(drawing_.points);
    reference_ = places_of(drawing_.reference);
    for (const Mark& mark : drawing_.marks) {
      const Pixel place = place_of(drawing_.points[mark.point]);
      taken_.push_back({place.x - 6, place.y - 6, 12, 12});
      canvas.open_group(fmt::format("fill=\"{}\" stroke=\"#ffffff\" stroke-width=\"1\"",
                                    mark.knee ? knee_color : extreme_color));
      if (mark.knee) {
        canvas.diamond(place, 7);
      } else {
        canvas.circle(place, 5.5);
      }
      canvas.close_group();
    }
    for (const Mark& mark : drawing_.marks) draw_label(canvas, mark);
  }

  /// The names of a mark, on one line if they fit, else one name a line.
  std::vector<std::string> label_of(const Mark& mark) const {
    std::vector<std::string> lines;
    if (mark.knee) lines.emplace_back("knee");
    for (const std::size_t k : mark.best_in) lines.push_back(best_text(drawing_, k));
    const std::string all = fmt::format("{}", fmt::join(lines, ", "));
    if (lines.size() > 1 && text_width(all, label_size) <= area_.width / 2) return {all};
    return lines;
  }

  /// Puts the label where it hides least: beside its mark, or else anywhere in the area, with a
  /// line to the mark.
  void draw_label(SvgCanvas& canvas, const Mark& mark) {
    const std::vector<std::string> lines = label_of(mark);
    if (lines.empty()) return;
    const Pixel at = place_of(drawing_.points[mark.point]);
    PixelBox box{0, 0, 0, line_height * static_cast<double>(lines.size())};
    for (const std::string& line : lines) {
      box.width = std::max(box.width, text_width(line, label_size) + 4);
    }
    if (!put_beside(at, box)) {
      put_anywhere(at, box);
      draw_leader(canvas, at, box);
    }
    taken_.push_back(box);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      canvas.text({box.x + 2, box.y + line_height * static_cast<double>(i) + 12}, lines[i],
                  {.color = mark.knee ? knee_color : "#a4540a", .size = label_size, .halo = true});
    }
  }

  /// Whether there is room beside a mark.
  bool put_beside(const Pixel& at, PixelBox& box) const {
    const double width = box.width, height = box.height;
    double least = taken_cost;
    for (const double distance : {9.0, 20.0, 34.0}) {
      for (const auto& [right, down] : {std::pair{1.0, -1.0},
                                        {1.0, 1.0},
                                        {-1.0, -1.0},
                                        {-1.0, 1.0},
                                        {1.0, 0.0},
                                        {-1.0, 0.0},
                                        {0.0, -1.0},
                                        {0.0, 1.0}}) {
        const PixelBox one{at.x + right * distance + (right - 1) / 2 * width,
                           at.y + down * (distance + height / 2 - line_height / 2) - height / 2,
                           width, height};
        const double cost = cost_of(one) + distance / 10;
        if (cost >= least) continue;
        least = cost;
        box = one;
      }
    }
    return least < taken_cost;
  }

  void put_anywhere(const Pixel& at, PixelBox& box) const {
    double least = std::numeric_limits<double>::infinity();
    PixelBox one = box;
    for (one.y = area_.y; one.y + one.height <= area_.y + area_.height; one.y += 4) {
      for (one.x = area_.x; one.x + one.width <= area_.x + area_.width; one.x += 6) {
        const double away = std::hypot(one.x + one.width / 2 - at.x, one.y + one.height / 2 - at.y);
        const double cost = cost_of(one) + away / 10;
        if (cost >= least) continue;
        least = cost;
        box = one;
      }
    }
  }

  /// From a label that is not beside its mark.
  static void draw_leader(SvgCanvas& canvas, const Pixel& at, const PixelBox& box) {
    canvas.open_group("stroke=\"#a0a0a0\" stroke-width=\"1\"");
    canvas.line(
        {std::clamp(at.x, box.x, box.x + box.width), std::clamp(at.y, box.y, box.y + box.height)},
        at);
    canvas.close_group();
  }

  double cost_of(const PixelBox& box) const {
    double cost = area_.holds(box) ? 0 : 1e3 * taken_cost;
    for (const PixelBox& other : taken_) cost += box.overlaps(other) ? taken_cost : 0;
    const auto hidden = [&](const std::vector<Pixel>& places) {
      return static_cast<double>(
          std::ranges::count_if(places, [&](const Pixel& place) { return box.holds(place); }));
    };
    // However many points a label hides, another label counts more.
    return cost + std::min(hidden(points_) + 0.1 * hidden(reference_), 0.5 * taken_cost);
  }

  const FrontDrawing& drawing_;
  std::size_t across_, up_;
  PlotScale y_;
  PixelBox area_;
  PlotScale x_;
  std::vector<PixelBox> taken_;  // by marks, their labels and what is said of points beyond
  std::vector<Pixel> points_, reference_;
};

}  // namespace

std::string scatter_svg(const FrontDrawing& drawing) {
  const std::size_t objectives = drawing.objectives();
  const std::size_t columns = objectives == 2 ? 1 : 3, rows = objectives == 4 ? 2 : 1;
  const double width = objectives == 2 ? 680 : 360, height = objectives == 2 ? 500 : 350;
  const double whole_width = static_cast<double>(columns) * width + picture_margin;
  SvgCanvas canvas(whole_width, header_height + static_cast<double>(rows) * height + 8,
                   drawing.title);
  draw_header(canvas, drawing, whole_width);
  std::size_t panel = 0;
  for (std::size_t across = 0; across < objectives; ++across) {
    for (std::size_t up = across + 1; up < objectives; ++up, ++panel) {
      const std::size_t row = panel / columns, column = panel % columns;
      const PixelBox cell{picture_margin / 2 + static_cast<double>(column) * width,
                          header_height + static_cast<double>(row) * height, width, height};
      ScatterPanel(drawing, across, up, cell).draw(canvas);
    }
  }
  return std::move(canvas).finish();
}

}  // namespace kiln::cli
