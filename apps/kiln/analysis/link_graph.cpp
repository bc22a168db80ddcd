// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/link_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "analysis/link_layout.hpp"
#include "analysis/map_figure.hpp"
#include "front/front_drawing.hpp"
#include "front/svg_canvas.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t max_on_circle = 12;
constexpr double node_radius = 8, label_size = 13, min_graph_width = 480;
constexpr double thinnest = 1.2, widest = 6.2, legend_height = 34;

double length_of(const Pixel& vector) {
  return std::sqrt(vector.x * vector.x + vector.y * vector.y);
}

Pixel difference(const Pixel& a, const Pixel& b) { return {a.x - b.x, a.y - b.y}; }

/// The place on the way from `from` towards `to`.
Pixel towards(const Pixel& from, const Pixel& to, double distance) {
  const Pixel way = difference(to, from);
  const double length = std::max(length_of(way), 1e-9);
  return {from.x + way.x / length * distance, from.y + way.y / length * distance};
}

Pixel between(const Pixel& a, const Pixel& b, double share) {
  return {a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)};
}

/// A quadratic curve.
struct Curve {
  Pixel from, control, to;

  Pixel at(double share) const {
    return between(between(from, control, share), between(control, to, share), share);
  }
  std::vector<Pixel> line(bool straight) const {
    const int pieces = straight ? 1 : 12;
    std::vector<Pixel> places;
    for (int i = 0; i <= pieces; ++i) places.push_back(at(static_cast<double>(i) / pieces));
    return places;
  }
};

/// A graph with the places of its parts.
class LinkGraph {
 public:
  LinkGraph(const InformationMap& map, InformationUnit unit) : map_(map), unit_(unit) {
    choose_links();
    choose_columns();
    for (const InformationLink* link : links_) {
      if (std::isfinite(strength_of(*link))) top_ = std::max(top_, strength_of(*link));
    }
    if (on_circle_) {
      place_on_circle();
    } else {
      place_by_forces();
    }
  }

  double width() const { return width_; }
  double height() const { return height_; }
  const FigureHeading& heading() const { return heading_; }

  void draw(SvgCanvas& canvas) const {
    draw_heading(canvas, heading_);
    // The strongest are drawn last, above the others.
    for (std::size_t i = links_.size(); i-- > 0;) draw_link(canvas, *links_[i]);
    draw_nodes(canvas);
    draw_legend(canvas);
  }

  std::vector<FigureTip> tips() const {
    std::vector<FigureTip> tips;
    for (const InformationLink* link : links_) {
      tips.push_back({curve_of(*link).at(0.5), tip_text(map_, *link, unit_)});
    }
    return tips;
  }

 private:
  void choose_links() {
    std::set<std::pair<std::int32_t, std::int32_t>> drawn;
    for (const InformationLink* link : ranked_links(map_)) {
      if (!link->significant || link->source == link->target || link->source < 0) continue;
      if (!drawn.emplace(link->source, link->target).second) continue;
      if (drawn.size() > max_graph_links) {
        ++links_left_out_;
      } else {
        links_.push_back(link);
      }
    }
  }

  void choose_columns() {
    std::set<std::int32_t> all, linked;
    for (const InformationLink& link : map_.links) {
      if (link.source >= 0) all.insert(link.source);
      all.insert(link.target);
    }
    for (const InformationLink* link : links_) linked.insert({link->source, link->target});
    const std::set<std::int32_t>& shown = all.size() <= max_on_circle ? all : linked;
    columns_.assign(shown.begin(), shown.end());
    columns_left_out_ = all.size() - shown.size();
    on_circle_ = columns_.size() <= max_on_circle;
  }

  std::string words() const {
    if (!is_tested(map_)) {
      return "Which links are significant is not known without surrogates (--surrogates 200).";
    }
    std::string text = links_.empty()
                           ? fmt::format("No link is significant at {}.", rate_words(map_))
                           : fmt::format("Links that are significant at {}.", rate_words(map_));
    if (!links_.empty() && !is_symmetric(map_)) text += " Arrows point to the target.";
    if (links_left_out_ > 0) {
      text += fmt::format(" The strongest {} of {} links.", links_.size(),
                          links_.size() + links_left_out_);
    }
    if (columns_left_out_ > 0 && !links_.empty()) {
      text += fmt::format(" {} column{} without a significant link {} left out.", columns_left_out_,
                          columns_left_out_ == 1 ? "" : "s", columns_left_out_ == 1 ? "is" : "are");
    }
    return text;
  }

  void set_size(double content_width, double content_height) {
    width_ = std::max(content_width, min_graph_width);
    heading_ = figure_heading(strength_words(map_), words(), width_);
    height_ = heading_.height + content_height + legend_height;
  }

  void place_on_circle() {
    const std::size_t n = columns_.size();
    double label = 0;
    for (const std::int32_t column : columns_)
      label = std::max(label, drawn_width(map_, column, label_size));
    const double radius = n <= 1 ? 0 : std::max(100.0, 17.0 * static_cast<double>(n));
    const double beside = node_radius + 6 + label;
    set_size(2 * (radius + beside + picture_margin), n == 0 ? 0 : 2 * (radius + 44));
    places_ = circle_places(n, {width_ / 2, heading_.height + radius + 44}, radius);
  }

  void place_by_forces() {
    std::vector<NodeRoom> rooms;
    double taken = 0;
    for (const std::int32_t column : columns_) {
      const double half = std::max(node_radius, drawn_width(map_, column, label_size) / 2) + 6;
      const double name_side = node_radius + label_size + 8;  // the name may be above or below
      rooms.push_back({half, half, name_side, name_side});
      taken += 2 * half * (rooms.back().above + rooms.back().below);
    }
    const double area_width = std::max(620.0, std::sqrt(7 * taken));
    const double area_height = 0.75 * area_width;
    set_size(area_width + 2 * picture_margin, area_height);
    std::vector<LayoutEdge> edges;
    for (const InformationLink* link : links_) {
      edges.push_back({place_of(link->source), place_of(link->target), share_of(*link)});
    }
    places_ =
        force_places(rooms, edges, {picture_margin, heading_.height, area_width, area_height});
  }

  std::size_t place_of(std::int32_t column) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(columns_, column) - columns_.begin());
  }

  /// 0 .. 1
  double share_of(const InformationLink& link) const {
    const double strength = strength_of(link);
    if (!std::isfinite(strength)) return strength > 0 ? 1 : 0;
    return top_ > 0 ? std::clamp(strength / top_, 0.0, 1.0) : 0;
  }
  double stroke_of(double share) const { return thinnest + (widest - thinnest) * share; }

  bool is_answered(const InformationLink& link) const {
    return std::ranges::any_of(links_, [&](const InformationLink* other) {
      return other->source == link.target && other->target == link.source;
    });
  }

  /// How far the middle of a link is from the straight line, to the right of its direction: links
  /// of both directions are apart, and no link runs through a third node.
  double bend_of(const InformationLink& link) const {
    const Pixel from = places_[place_of(link.source)], to = places_[place_of(link.target)];
    const Pixel way = difference(to, from);
    const double length = std::max(length_of(way), 1e-9);
    if (is_answered(link)) return std::clamp(0.12 * length, 10.0, 44.0);
    double bend = 0, nearest = 2.2 * node_radius;
    for (std::size_t i = 0; !on_circle_ && i < places_.size(); ++i) {
      if (columns_[i] == link.source || columns_[i] == link.target) continue;
      const Pixel other = difference(places_[i], from);
      const double along = (other.x * way.x + other.y * way.y) / length;
      if (along < 0 || along > length) continue;
      const double aside = (other.y * way.x - other.x * way.y) / length;  // to the right
      if (std::abs(aside) >= nearest) continue;
      nearest = std::abs(aside);
      bend = (aside > 0 ? -1 : 1) * std::clamp(0.25 * length, 30.0, 44.0);
    }
    const double y = (from.y + to.y) / 2 + bend * way.x / length;
    return y < heading_.height || y > height_ - legend_height ? -bend : bend;
  }

  Curve curve_of(const InformationLink& link) const {
    const Pixel from = places_[place_of(link.source)], to = places_[place_of(link.target)];
    const Pixel way = difference(to, from);
    const double length = std::max(length_of(way), 1e-9), bend = bend_of(link);
    const Pixel middle = between(from, to, 0.5);
    const Pixel control{middle.x - 2 * bend * way.y / length, middle.y + 2 * bend * way.x / length};
    return {towards(from, control, node_radius + 2), control,
            towards(to, control, node_radius + 2)};
  }

  void draw_link(SvgCanvas& canvas, const InformationLink& link) const {
    const bool directed = !is_symmetric(map_), infinite = std::isinf(strength_of(link));
    const double stroke = stroke_of(share_of(link));
    Curve curve = curve_of(link);
    const Pixel tip = curve.to;
    const double head = 8 + 1.4 * stroke, half = 3.5 + 0.8 * stroke;
    if (directed) curve.to = towards(curve.to, curve.control, head - 1);
    canvas.open_group(
        fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"{:.3g}\" stroke-opacity=\"0.85\"{}",
                    point_color, stroke, infinite ? " stroke-dasharray=\"9 4\"" : ""));
    canvas.path({curve.line(bend_of(link) == 0)});
    canvas.close_group();
    if (!directed) return;
    const Pixel base = towards(tip, curve.control, head);
    const Pixel back = difference(base, tip);
    const Pixel side{-back.y / head * half, back.x / head * half};
    canvas.open_group(fmt::format("fill=\"{}\" fill-opacity=\"0.95\"", point_color));
    canvas.path({{tip, {base.x + side.x, base.y + side.y}, {base.x - side.x, base.y - side.y}}});
    canvas.close_group();
  }

  /// Whether fewer links leave a node upwards than downwards, where names usually are.
  bool is_above(std::size_t node) const {
    int up = 0, down = 0;
    for (const InformationLink* link : links_) {
      const bool from = columns_[node] == link->source;
      if (!from && columns_[node] != link->target) continue;
      const Curve curve = curve_of(*link);
      const Pixel way = difference(curve.control, places_[node]);
      if (std::abs(way.x) > 1.5 * std::abs(way.y)) continue;
      ++(way.y < 0 ? up : down);
    }
    return up < down;
  }

  void draw_nodes(SvgCanvas& canvas) const {
    canvas.open_group(
        fmt::format("fill=\"{}\" stroke=\"{}\" stroke-width=\"2\"", ground_color, ink));
    for (const Pixel& place : places_) canvas.circle(place, node_radius - 1);
    canvas.close_group();
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const Pixel& place = places_[i];
      TextStyle style{.color = ink, .size = label_size, .anchor = "middle", .halo = !on_circle_};
      Pixel at{place.x, place.y + node_radius + label_size};
      if (on_circle_ && places_.size() > 1) {
        // Away from the middle.
        const double x = place.x - width_ / 2;
        if (std::abs(x) > 1) {
          style.anchor = x > 0 ? "start" : "end";
          at = {place.x + (x > 0 ? 1 : -1) * (node_radius + 6), place.y + 0.35 * label_size};
        } else if (i == 0) {
          at.y = place.y - node_radius - 7;
        } else {
          at.y += 3;
        }
      } else if (is_above(i)) {
        at.y = place.y - node_radius - 5;
      }
      canvas.text(at, drawn_name(map_, columns_[i], label_size), style);
    }
  }

  void draw_legend(SvgCanvas& canvas) const {
    if (links_.empty()) return;
    const double y = height_ - 18;
    double x = picture_margin;
    const auto add = [&](double stroke, bool dashed, const std::string& text) {
      canvas.open_group(fmt::format("stroke=\"{}\" stroke-width=\"{:.3g}\"{}", point_color, stroke,
                                    dashed ? " stroke-dasharray=\"9 4\"" : ""));
      canvas.line({x, y}, {x + 30, y});
      canvas.close_group();
      canvas.text({x + 37, y + 4}, text, {faint_ink, 12});
      x += 37 + 1.1 * text_width(text, 12) + 20;
    };
    if (top_ > 0) {
      for (const double share : {0.1, 0.5, 1.0}) {
        add(stroke_of(share), false,
            fmt::format("{:.2g}{}{}", in_unit(share * top_, unit_), share == 1.0 ? " " : "",
                        share == 1.0 ? name_of(unit_) : ""));
      }
    }
    const bool infinite = std::ranges::any_of(
        links_, [](const InformationLink* link) { return std::isinf(strength_of(*link)); });
    if (infinite) add(widest, true, "infinite: a copy");
  }

  const InformationMap& map_;
  InformationUnit unit_;
  std::vector<const InformationLink*> links_;  // strongest first
  std::vector<std::int32_t> columns_;
  std::size_t links_left_out_ = 0, columns_left_out_ = 0;
  bool on_circle_ = true;
  double top_ = 0, width_ = 0, height_ = 0;
  FigureHeading heading_;
  std::vector<Pixel> places_;
};

}  // namespace

bool has_graph(InformationMeasure measure) noexcept {
  // Of a conditional entropy it is the smallest value that shows a dependence.
  return has_source(measure) && measure != InformationMeasure::conditional_entropy;
}

std::string link_graph_svg(const InformationMap& map, InformationUnit unit) {
  return figure_document(LinkGraph(map, unit));
}

std::string link_graph_element(const InformationMap& map, InformationUnit unit) {
  return figure_element(LinkGraph(map, unit));
}

}  // namespace kiln::cli
