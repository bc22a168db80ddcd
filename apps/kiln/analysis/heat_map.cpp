// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "analysis/heat_matrix.hpp"
#include "analysis/map_figure.hpp"
#include "front/front_drawing.hpp"
#include "front/svg_canvas.hpp"
#include "front/svg_theme.hpp"

namespace kiln::cli {
namespace {

constexpr int levels = 24;  // of the colour
// Above it texts have the colour of the ground: in both themes the contrast is higher.
constexpr int dark_level = 17;
constexpr double key_room = 92, key_width = 14, min_map_width = 420;
constexpr std::size_t max_tips = 400;

std::string hatch_style() {
  return fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"1\" stroke-opacity=\"0.45\"",
                     faint_ink);
}

double cell_size(std::size_t n) {
  return n <= 6 ? 52 : n <= 10 ? 42 : n <= 16 ? 30 : n <= 32 ? 20 : 14;
}

/// A heat map with the places of its parts.
class HeatMap {
 public:
  HeatMap(const InformationMap& map, InformationUnit unit)
      : map_(map), unit_(unit), matrix_(heat_matrix(map, max_heat_map_columns)) {
    size_ = cell_size(std::max(rows(), columns()));
    font_ = std::clamp(size_ - 3, 10.5, 13.0);
    const bool titled = has_source(map.measure) && !is_symmetric(map);
    area_.x = picture_margin + label_width(matrix_.sources) + (titled ? 22 : 0) + 8;
    area_.width = size_ * static_cast<double>(columns());
    area_.height = size_ * static_cast<double>(rows());
    width_ = std::max(area_.x + area_.width + key_room + picture_margin, min_map_width);
    heading_ = figure_heading(strength_words(map), words(), width_);
    const double above = label_width(matrix_.targets) + (titled ? 22 : 0) + 8;
    area_.y = heading_.height + above;
    height_ = area_.y + std::max(area_.height, key_height()) + legend_height + 16;
  }

  bool empty() const { return rows() == 0 || columns() == 0; }
  double width() const { return width_; }
  double height() const { return height_; }
  const FigureHeading& heading() const { return heading_; }

  void draw(SvgCanvas& canvas) const {
    draw_heading(canvas, heading_);
    if (empty()) return;
    draw_cells(canvas);
    draw_hatching(canvas);
    draw_grid(canvas);
    draw_values(canvas);
    draw_names(canvas);
    draw_key(canvas);
    draw_legend(canvas);
  }

  /// Names of the strongest cells, in pixels of their middle.
  std::vector<FigureTip> tips() const {
    std::vector<std::pair<const InformationLink*, Pixel>> shown;
    for_each_cell([&](const InformationLink& link, const PixelBox& box) {
      shown.emplace_back(&link, Pixel{box.x + box.width / 2, box.y + box.height / 2});
    });
    const auto rank = [](const auto& cell) {
      const double strength = strength_of(*cell.first);
      return std::isnan(strength) ? -1e300 : strength;
    };
    std::ranges::stable_sort(shown, std::ranges::greater(), rank);
    if (shown.size() > max_tips) shown.resize(max_tips);
    std::vector<FigureTip> tips;
    for (const auto& [link, at] : shown) tips.push_back({at, tip_text(map_, *link, unit_)});
    return tips;
  }

 private:
  static constexpr double legend_height = 46;

  std::size_t rows() const { return matrix_.sources.size(); }
  std::size_t columns() const { return matrix_.targets.size(); }
  /// A whole number of pixels for each level.
  double key_height() const {
    return levels * std::clamp(std::floor(area_.height / levels), 4.0, 10.0);
  }
  bool is_hatched(const InformationLink& link) const {
    return is_tested(map_) && !link.significant;
  }

  std::string words() const {
    std::string text = basis_words(map_) + ".";
    if (is_tested(map_)) text += " Not hatched: significant at " + rate_words(map_) + ".";
    if (has_several_lags(map_)) text += " Of several lags the strongest.";
    if (is_symmetric(map_) && rows() > 1 && columns() > 1) text += " Both halves are the same.";
    if (matrix_.left_out > 0) {
      text += fmt::format(" {} columns with weaker links are left out.", matrix_.left_out);
    }
    return text;
  }

  double label_width(const std::vector<std::int32_t>& names) const {
    double width = 0;
    for (const std::int32_t name : names) {
      if (name >= 0) width = std::max(width, drawn_width(map_, name, font_));
    }
    return std::ceil(width);
  }

  PixelBox box_of(std::size_t row, std::size_t column) const {
    return {area_.x + size_ * static_cast<double>(column),
            area_.y + size_ * static_cast<double>(row), size_, size_};
  }

  template <class Visit>
  void for_each_cell(const Visit& visit) const {
    for (std::size_t row = 0; row < rows(); ++row) {
      for (std::size_t column = 0; column < columns(); ++column) {
        const InformationLink* const link = matrix_.at(row, column);
        if (link != nullptr) visit(*link, box_of(row, column));
      }
    }
  }

  /// 0 .. levels; that of infinite values is the highest.
  int level_of(const InformationLink& link) const {
    const double strength = strength_of(link);
    if (std::isnan(strength) || strength <= 0) return 0;
    if (!std::isfinite(strength)) return levels;
    return std::clamp(static_cast<int>(std::lround(levels * (strength / matrix_.top))), 0, levels);
  }

  static std::string fill_of(int level) {
    return fmt::format("fill=\"{}\" fill-opacity=\"{:.3g}\"", point_color,
                       static_cast<double>(level) / levels);
  }

  static std::vector<Pixel> outline(const PixelBox& box) {
    return {{box.x, box.y},
            {box.x + box.width, box.y},
            {box.x + box.width, box.y + box.height},
            {box.x, box.y + box.height}};
  }

  void draw_cells(SvgCanvas& canvas) const {
    std::map<int, std::vector<std::vector<Pixel>>> boxes;
    for_each_cell([&](const InformationLink& link, const PixelBox& box) {
      boxes[level_of(link)].push_back(outline(box));
    });
    boxes.erase(0);
    for (const auto& [level, outlines] : boxes) {
      canvas.open_group(fill_of(level));
      canvas.path(outlines);
      canvas.close_group();
    }
  }

  /// Lines x + y = constant of the matrix, those of neighbours in one piece.
  void draw_hatching(SvgCanvas& canvas) const {
    const int per_cell = std::max(static_cast<int>(size_ / 7), 1);
    std::map<int, std::vector<std::pair<double, double>>> pieces;  // by line, from and to
    const double step = size_ / per_cell;
    for (std::size_t row = 0; row < rows(); ++row) {
      for (std::size_t column = columns(); column-- > 0;) {
        const InformationLink* const link = matrix_.at(row, column);
        if (link == nullptr || !is_hatched(*link)) continue;
        const int first = per_cell * static_cast<int>(row + column);
        const double left = size_ * static_cast<double>(column);
        for (int line = 1; line < 2 * per_cell; ++line) {
          const double from = std::max(0.0, line * step - size_);
          const double to = std::min(size_, line * step);
          std::vector<std::pair<double, double>>& on_line = pieces[first + line];
          if (!on_line.empty() && std::abs(on_line.back().first - (left + to)) < 1e-6) {
            on_line.back().first = left + from;  // goes on from the row above
          } else {
            on_line.emplace_back(left + from, left + to);
          }
        }
      }
    }
    std::vector<std::vector<Pixel>> lines;
    for (const auto& [line, on_line] : pieces) {
      for (const auto& [from, to] : on_line) {
        lines.push_back({{area_.x + from, area_.y + line * step - from},
                         {area_.x + to, area_.y + line * step - to}});
      }
    }
    if (lines.empty()) return;
    canvas.open_group(hatch_style());
    canvas.path(lines);
    canvas.close_group();
  }

  void draw_grid(SvgCanvas& canvas) const {
    canvas.open_group(fmt::format("stroke=\"{}\" stroke-width=\"1\"", grid_color));
    for (std::size_t row = 0; row <= rows(); ++row) {
      const double y = box_of(row, 0).y;
      canvas.line({area_.x, y}, {area_.x + area_.width, y});
    }
    for (std::size_t column = 0; column <= columns(); ++column) {
      const double x = box_of(0, column).x;
      canvas.line({x, area_.y}, {x, area_.y + area_.height});
    }
    canvas.close_group();
  }

  /// Values in large cells; what is infinite is marked in all.
  void draw_values(SvgCanvas& canvas) const {
    for_each_cell([&](const InformationLink& link, const PixelBox& box) {
      const double strength = strength_of(link);
      const Pixel at{box.x + box.width / 2, box.y + box.height / 2 + 4};
      const std::string_view color = level_of(link) > dark_level ? ground_color : ink;
      if (std::isinf(strength)) {
        canvas.text(at, "\xe2\x88\x9e", {.color = color, .size = 13, .anchor = "middle"});
      } else if (std::isnan(strength)) {
        canvas.text(at, "?", {.color = faint_ink, .size = 11, .anchor = "middle"});
      } else if (size_ >= 42 && !is_hatched(link)) {
        canvas.text(at, cell_text(in_unit(strength, unit_)),
                    {.color = color, .size = 11, .anchor = "middle"});
      }
    });
  }

  static std::string cell_text(double value) {
    if (std::abs(value) >= 9999.5) return fmt::format("{:.0e}", value);
    return fmt::format("{:.{}f}", value, std::abs(value) < 9.995 ? 2 : std::abs(value) < 99.95);
  }

  void draw_names(SvgCanvas& canvas) const {
    for (std::size_t row = 0; row < rows(); ++row) {
      if (matrix_.sources[row] < 0) continue;
      const PixelBox box = box_of(row, 0);
      canvas.text({area_.x - 6, box.y + size_ / 2 + 0.35 * font_},
                  drawn_name(map_, matrix_.sources[row], font_), {ink, font_, "end"});
    }
    for (std::size_t column = 0; column < columns(); ++column) {
      const PixelBox box = box_of(0, column);
      canvas.text({box.x + size_ / 2 + 0.35 * font_, area_.y - 6},
                  drawn_name(map_, matrix_.targets[column], font_),
                  {.color = ink, .size = font_, .upwards = true});
    }
    if (!has_source(map_.measure) || is_symmetric(map_)) return;
    canvas.text({picture_margin + 10, area_.y + area_.height / 2}, "source",
                {.color = faint_ink, .size = 12, .anchor = "middle", .upwards = true});
    canvas.text({area_.x + area_.width / 2, heading_.height + 12}, "target",
                {faint_ink, 12, "middle"});
  }

  /// The scale beside the matrix.
  void draw_key(SvgCanvas& canvas) const {
    const double left = area_.x + area_.width + 24, bottom = area_.y + key_height();
    const double part = key_height() / levels;
    for (int level = 1; level <= levels; ++level) {
      canvas.open_group(fill_of(level));
      canvas.rectangle({left, bottom - part * level, key_width, part});
      canvas.close_group();
    }
    canvas.open_group(fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"1\"", faint_ink));
    canvas.rectangle({left, area_.y, key_width, key_height()});
    canvas.close_group();
    if (!(matrix_.top > 0)) {
      canvas.text({left + key_width + 8, bottom + 4}, "0", {faint_ink, tick_size});
      return;
    }
    const PlotScale scale(0, in_unit(matrix_.top, unit_), bottom, area_.y, 4, 0);
    for (const double tick : scale.ticks()) {
      canvas.open_group(fmt::format("stroke=\"{}\" stroke-width=\"1\"", faint_ink));
      canvas.line({left + key_width, scale(tick)}, {left + key_width + 4, scale(tick)});
      canvas.close_group();
      canvas.text({left + key_width + 8, scale(tick) + 4}, scale.label(tick),
                  {faint_ink, tick_size});
    }
    canvas.text({left, bottom + 18}, name_of(unit_), {faint_ink, 12});
  }

  void draw_legend(SvgCanvas& canvas) const {
    double x = picture_margin;
    const double y = height_ - 26;
    const auto add = [&](const std::string& text) {
      canvas.text({x + 20, y + 10}, text, {faint_ink, 12});
      x += 20 + 1.1 * text_width(text, 12) + 22;
    };
    const auto frame = [&] {
      canvas.open_group(fmt::format("fill=\"none\" stroke=\"{}\"", faint_ink));
      canvas.rectangle({x, y, 13, 13});
      canvas.close_group();
    };
    if (is_tested(map_)) {
      canvas.open_group(hatch_style());
      canvas.path({{{x, y + 6.5}, {x + 6.5, y}},
                   {{x, y + 13}, {x + 13, y}},
                   {{x + 6.5, y + 13}, {x + 13, y + 6.5}}});
      canvas.close_group();
      frame();
      add("not significant");
    }
    bool infinite = false, unknown = false;
    for_each_cell([&](const InformationLink& link, const PixelBox&) {
      infinite = infinite || std::isinf(strength_of(link));
      unknown = unknown || std::isnan(strength_of(link));
    });
    if (infinite) {
      canvas.text({x + 2, y + 11}, "\xe2\x88\x9e", {ink, 14});
      add("infinite: a copy");
    }
    if (unknown) {
      canvas.text({x + 4, y + 11}, "?", {faint_ink, 12});
      add("not known");
    }
  }

  const InformationMap& map_;
  InformationUnit unit_;
  HeatMatrix matrix_;
  FigureHeading heading_;
  PixelBox area_;
  double size_ = 0, font_ = 0, width_ = 0, height_ = 0;
};

}  // namespace

std::string heat_map_svg(const InformationMap& map, InformationUnit unit) {
  return figure_document(HeatMap(map, unit));
}

std::string heat_map_element(const InformationMap& map, InformationUnit unit) {
  const HeatMap figure(map, unit);
  return figure.empty() ? std::string() : figure_element(figure);
}

}  // namespace kiln::cli
