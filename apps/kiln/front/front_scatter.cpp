// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "front/front_drawing.hpp"
#include "output/wording.hpp"

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
         shortened(without_units(drawing.names)[objective], 12, 110);
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
  static constexpr double mark_size = 10;    // across
  static constexpr double beside = 16;       // a label that is no farther needs no leader
  static constexpr double taken_cost = 1e6;  // of a label over another one, or over a mark
  static constexpr double struck_cost = 0.5 * taken_cost;  // of a leader that is no help

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
    const bool is_line = reference_is_line(drawing_);
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
    const std::string text = fmt::format("{} point{} beyond the axes, drawn at the border",
                                         beyond.size(), beyond.size() == 1 ? "" : "s");
    const double width = text_width(text, 10);
    taken_.push_back({area_.x + area_.width - 6 - width, area_.y + 4, width, 13});
    canvas.text({area_.x + area_.width - 6, area_.y + 14}, text,
                {.color = faint_ink, .size = 10, .anchor = "end", .halo = true});
  }

  static void draw_mark(SvgCanvas& canvas, const Mark& mark, const Pixel& place) {
    const auto open = [&](std::string_view color) {
      canvas.open_group(fmt::format("fill=\"{}\" stroke=\"#ffffff\" stroke-width=\"1\"", color));
    };
    if (!mark.best_in.empty()) {
      open(extreme_color);
      canvas.circle(place, 5.5);
      canvas.close_group();
    }
    if (!mark.chosen) return;
    open(knee_color);
    canvas.diamond(place, 7);
    canvas.close_group();
  }

  void draw_marks(SvgCanvas& canvas) {
    points_ = places_of(drawing_.points);
    reference_ = places_of(drawing_.reference);
    for (const Mark& mark : drawing_.marks) {
      const Pixel place = place_of(drawing_.points[mark.point]);
      taken_.push_back({place.x - 6, place.y - 6, 12, 12});
      draw_mark(canvas, mark, place);
    }
    std::vector<Label> all = labels();
    arrange(all);
    for (const Label& label : all) draw_label(canvas, label);
  }

  /// What is said of marks that lie on each other.
  struct Label {
    Pixel at;
    bool chosen = false;
    std::vector<std::size_t> best_in;  // objectives
    PixelBox box{};
  };

  std::vector<Label> labels() const {
    std::vector<Label> all;
    for (const Mark& mark : drawing_.marks) {
      const Pixel at = place_of(drawing_.points[mark.point]);
      const auto near = [&](const Label& one) {
        return std::hypot(one.at.x - at.x, one.at.y - at.y) < mark_size;
      };
      const auto known = std::find_if(all.begin(), all.end(), near);
      Label& label = known != all.end() ? *known : all.emplace_back(Label{at, false, {}, {}});
      label.chosen = label.chosen || mark.chosen;
      label.best_in.insert(label.best_in.end(), mark.best_in.begin(), mark.best_in.end());
    }
    for (Label& label : all) std::sort(label.best_in.begin(), label.best_in.end());
    return all;
  }

  /// Its names, on one line if they fit, else one name a line.
  std::vector<std::string> lines_of(const Label& label) const {
    std::vector<std::string> lines;
    if (label.chosen) lines.emplace_back(drawing_.chosen_name);
    for (const std::size_t k : label.best_in) lines.push_back(best_text(drawing_, k));
    const std::string all = fmt::format("{}", fmt::join(lines, ", "));
    if (lines.size() > 1 && text_width(all, label_size) <= area_.width / 2) return {all};
    return lines;
  }

  /// Each label finds a place beside those before it: other orders are tried until no leader
  /// strikes out a text, and that of least cost is taken.
  void arrange(std::vector<Label>& all) {
    const std::vector<PixelBox> marks = taken_;
    std::vector<Label> best = all;
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    double least = std::numeric_limits<double>::infinity();
    do {
      taken_ = marks;
      pointed_out_ = marks;
      double cost = 0;
      for (const std::size_t i : order) cost += place(all[i]);
      if (cost < least) best = all;
      least = std::min(least, cost);
    } while (least >= struck_cost && std::next_permutation(order.begin(), order.end()));
    all = best;
  }

  /// Puts the label where it hides least, not far from its mark. Returns what it costs there.
  double place(Label& label) {
    const std::vector<std::string> lines = lines_of(label);
    label.box = {0, 0, 0, line_height * static_cast<double>(lines.size())};
    for (const std::string& line : lines) {
      label.box.width = std::max(label.box.width, text_width(line, label_size) + 4);
    }
    const double cost = put_near(label.at, label.box);
    const Pixel end = nearest_in(label.box, label.at);
    if (is_apart(label.at, end)) {
      for (const Pixel& at : between(label.at, end)) taken_.push_back({at.x - 1, at.y - 1, 2, 2});
    }
    taken_.push_back(label.box);
    pointed_out_.push_back(label.box);
    return cost;
  }

  /// A line leads to what is not beside its mark.
  void draw_label(SvgCanvas& canvas, const Label& label) const {
    const std::vector<std::string> lines = lines_of(label);
    const PixelBox& box = label.box;
    const Pixel end = nearest_in(box, label.at);
    if (is_apart(label.at, end)) {
      canvas.open_group("stroke=\"#a0a0a0\" stroke-width=\"1\"");
      canvas.line(end, label.at);
      canvas.close_group();
    }
    const bool before = box.x + box.width < label.at.x;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      canvas.text({before ? box.x + box.width - 2 : box.x + 2,
                   box.y + line_height * static_cast<double>(i) + 12},
                  lines[i],
                  {.color = label.chosen ? knee_color : "#a4540a",
                   .size = label_size,
                   .anchor = before ? "end" : "start",
                   .halo = true});
    }
  }

  static Pixel nearest_in(const PixelBox& box, const Pixel& at) {
    return {std::clamp(at.x, box.x, box.x + box.width),
            std::clamp(at.y, box.y, box.y + box.height)};
  }
  static bool is_apart(const Pixel& at, const Pixel& end) {
    return std::hypot(end.x - at.x, end.y - at.y) > beside;
  }
  /// Places along a leader, outside of its mark.
  static std::vector<Pixel> between(const Pixel& at, const Pixel& end) {
    std::vector<Pixel> places;
    const double length = std::hypot(end.x - at.x, end.y - at.y);
    for (double d = mark_size; d < length; d += 3) {
      places.push_back({at.x + d / length * (end.x - at.x), at.y + d / length * (end.y - at.y)});
    }
    return places;
  }

  /// Of places around a mark, nearer ones first, that which costs least.
  double put_near(const Pixel& at, PixelBox& box) const {
    constexpr int directions = 32;
    double least = std::numeric_limits<double>::infinity();
    PixelBox one = box;
    for (const double distance : {9.0, 14.0, 24.0, 36.0, 50.0, 66.0, 84.0, 120.0, 180.0}) {
      for (int i = 0; i < directions; ++i) {
        const double angle = (i - 4) * 2 * std::numbers::pi / directions;  // right and above first
        const double right = std::cos(angle), down = std::sin(angle);
        one.x = at.x + right * distance - side_of(right) * box.width;
        one.y = at.y + down * distance - side_of(down) * box.height;
        const Pixel end = nearest_in(one, at);
        double cost = cost_of(one) + distance / 5;
        if (is_apart(at, end)) cost += leader_cost(at, end);
        if (cost >= least) continue;
        least = cost;
        box = one;
      }
    }
    return least;
  }
  /// Which share of a label lies before the place in that direction: all, half or nothing.
  static double side_of(double direction) {
    return direction > 0.1 ? 0 : direction < -0.1 ? 1 : 0.5;
  }

  // At most what a label farther away would cost, but where it goes through another label or mark,
  // or is so long that nobody follows it.
  double leader_cost(const Pixel& at, const Pixel& end) const {
    constexpr double longest = 128;
    double cost = 0;
    bool is_bad = std::hypot(end.x - at.x, end.y - at.y) > longest;
    for (const Pixel& place : between(at, end)) {
      const auto meets = [&](const PixelBox& other) { return other.holds(place); };
      if (std::ranges::any_of(taken_, meets)) cost = std::min(cost + 12, 20.0);
      is_bad |= std::ranges::any_of(pointed_out_, meets);
    }
    return 2 + cost + (is_bad ? struck_cost : 0);
  }

  double cost_of(const PixelBox& box) const {
    double cost = area_.holds(box) ? 0 : 1e3 * taken_cost;
    for (const PixelBox& other : taken_) cost += box.overlaps(other) ? taken_cost : 0;
    const auto hidden = [&](const std::vector<Pixel>& places) {
      return static_cast<double>(
          std::ranges::count_if(places, [&](const Pixel& place) { return box.holds(place); }));
    };
    // However many points a label hides, another label counts more.
    return cost + std::min(3 * hidden(points_) + 0.1 * hidden(reference_), 0.9 * struck_cost);
  }

  const FrontDrawing& drawing_;
  std::size_t across_, up_;
  PlotScale y_;
  PixelBox area_;
  PlotScale x_;
  std::vector<PixelBox> taken_;        // by marks, their labels and what is said of points beyond
  std::vector<PixelBox> pointed_out_;  // of them, the marks and labels
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
