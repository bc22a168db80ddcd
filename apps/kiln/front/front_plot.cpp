// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "front/front_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "front/front_drawing.hpp"

namespace kiln::cli {
namespace {

/// An axis for each objective, best values below; a point is a line across them.
class ParallelAxes {
 public:
  explicit ParallelAxes(const FrontDrawing& drawing)
      : drawing_(drawing),
        spacing_(std::clamp(900 / static_cast<double>(drawing.objectives()), 64.0, 150.0)) {
    for (std::size_t k = 0; k < drawing.objectives(); ++k) {
      const bool turned = drawing.maximized[k];
      scales_.push_back(scale_of(drawing, k, turned ? top : bottom, turned ? bottom : top, 5));
    }
  }

  double width() const { return x_of(drawing_.objectives() - 1) + 64; }
  static constexpr double height() { return bottom + 48; }

  void draw(SvgCanvas& canvas) const {
    draw_lines(canvas, thinned(drawing_.reference, 300), reference_color, 0.7, 0.35);
    const std::size_t n = drawing_.points.size();
    draw_lines(canvas, drawing_.points, point_color, 1.2, n <= 60 ? 0.7 : n <= 400 ? 0.4 : 0.15);
    Points ends, chosen;
    for (const Mark& mark : drawing_.marks) {
      (mark.chosen ? chosen : ends).push_back(drawing_.points[mark.point]);
    }
    draw_lines(canvas, ends, extreme_color, 1.8, 1);
    draw_lines(canvas, chosen, knee_color, 3, 1);
    for (std::size_t k = 0; k < drawing_.objectives(); ++k) draw_axis(canvas, k);
    canvas.text({picture_margin, height() - 10},
                "better values are nearer to the bottom on every axis", {faint_ink, 12});
  }

 private:
  static constexpr double top = header_height + 40, bottom = header_height + 400;

  double x_of(std::size_t objective) const {
    return 76 + static_cast<double>(objective) * spacing_;
  }

  void draw_axis(SvgCanvas& canvas, std::size_t k) const {
    canvas.open_group("stroke=\"#777777\" stroke-width=\"1\"");
    canvas.line({x_of(k), top}, {x_of(k), bottom});
    for (const double tick : scales_[k].ticks()) {
      canvas.line({x_of(k) - 4, scales_[k](tick)}, {x_of(k), scales_[k](tick)});
    }
    canvas.close_group();
    for (const double tick : scales_[k].ticks()) {
      canvas.text({x_of(k) - 7, scales_[k](tick) + 4}, scales_[k].label(tick),
                  {.color = faint_ink, .size = 10, .anchor = "end", .halo = true});
    }
    canvas.text({x_of(k), top - 16}, shortened(drawing_.names[k], name_size, spacing_ - 10),
                {ink, name_size, "middle"});
    if (drawing_.maximized[k]) {
      canvas.text({x_of(k), bottom + 16}, "maximised", {faint_ink, 10, "middle"});
    }
  }

  void draw_lines(SvgCanvas& canvas, const Points& points, std::string_view color, double width,
                  double opacity) const {
    if (points.empty()) return;
    canvas.open_group(
        fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-opacity=\"{}\"", color,
                    width, opacity));
    for (const std::vector<double>& point : points) {
      std::vector<Pixel> line;
      for (std::size_t k = 0; k < point.size(); ++k)
        line.push_back({x_of(k), scales_[k](point[k])});
      canvas.path({line});
    }
    canvas.close_group();
  }

  const FrontDrawing& drawing_;
  double spacing_;
  std::vector<PlotScale> scales_;
};

std::string parallel_svg(const FrontDrawing& drawing) {
  const ParallelAxes axes(drawing);
  const double width = std::max(axes.width(), 640.0);
  SvgCanvas canvas(width, ParallelAxes::height(), drawing.title);
  draw_header(canvas, drawing, width);
  axes.draw(canvas);
  return std::move(canvas).finish();
}

}  // namespace

std::string front_svg(const FrontPlot& plot) {
  const FrontDrawing drawing = drawing_of(plot);
  return drawing.objectives() <= 4 ? scatter_svg(drawing) : parallel_svg(drawing);
}

}  // namespace kiln::cli
