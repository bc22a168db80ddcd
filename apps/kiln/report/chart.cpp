// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "output/text.hpp"

namespace kiln::cli {
namespace {

constexpr double chart_width = 460, chart_height = 248;
constexpr double above_area = 10, right_of_area = 12, below_area = 42;
constexpr double label_size = 12, title_size = 12;
// The script finds the nearest of them: more than one per three pixels nobody can point at.
constexpr std::size_t max_tips = 150;

struct Extent {
  double low = std::numeric_limits<double>::infinity(), high = -low;

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return !(low <= high); }
};

AxisRange range_of(const ChartAxis& axis, const Extent& data) {
  AxisRange range{axis.low.value_or(data.low), axis.high.value_or(data.high), axis.logarithmic};
  // Ends that are fixed stay where they are; values beyond them are cut off.
  if (axis.low || axis.high) range.margin = 0;
  if (axis.low && !axis.high) range.high += 0.04 * (range.high - range.low);
  if (!(range.low <= range.high)) std::swap(range.low, range.high);
  return range;
}

const char* color_class(int color) {
  constexpr const char* names[] = {"c0", "c1", "c2", "c3", "c4", "c5", "c6"};
  return names[std::clamp(color, 0, 6)];
}

}  // namespace

struct Chart::Frame {
  PixelBox area;
  AxisScale x, y;

  Pixel place(const ChartPoint& point) const {
    return {std::clamp(x(point.x), area.x, area.x + area.width),
            std::clamp(y(point.y), area.y, area.y + area.height)};
  }
};

Chart::Chart(std::string title, ChartAxis x, ChartAxis y)
    : title_(std::move(title)), x_(std::move(x)), y_(std::move(y)) {}

bool Chart::is_shown(const ChartPoint& point) const {
  const auto fits = [](const ChartAxis& axis, double value) {
    return std::abs(value) <= 1e300 && (!axis.logarithmic || value > 0);
  };
  return fits(x_, point.x) && fits(y_, point.y);
}

void Chart::add(Kind kind, const SeriesStyle& style, std::vector<ChartPoint> points,
                double extent) {
  std::erase_if(points, [&](const ChartPoint& point) { return !is_shown(point); });
  if (!points.empty()) series_.push_back({style, kind, std::move(points), extent});
}

void Chart::line(const SeriesStyle& style, std::vector<ChartPoint> points) {
  add(Kind::line, style, std::move(points));
}

void Chart::steps(const SeriesStyle& style, std::vector<ChartPoint> points, double end) {
  add(Kind::steps, style, std::move(points), end);
}

void Chart::dots(const SeriesStyle& style, std::vector<ChartPoint> points, bool diamond) {
  add(diamond ? Kind::diamonds : Kind::dots, style, std::move(points));
}

void Chart::bars(const SeriesStyle& style, std::vector<ChartPoint> points, double bar_width) {
  add(Kind::bars, style, std::move(points), bar_width);
}

// Both ends of each line, one after the other.
std::vector<ChartPoint> Chart::pairs_of(const std::vector<ChartPoint>& low,
                                        const std::vector<ChartPoint>& high) const {
  std::vector<ChartPoint> ends;
  for (std::size_t i = 0; i < std::min(low.size(), high.size()); ++i) {
    if (!is_shown(low[i]) || !is_shown(high[i])) continue;
    ends.push_back(low[i]);
    ends.push_back(high[i]);
  }
  return ends;
}

void Chart::spans(const SeriesStyle& style, const std::vector<ChartPoint>& low,
                  const std::vector<ChartPoint>& high) {
  add(Kind::spans, style, pairs_of(low, high));
}

void Chart::band(const SeriesStyle& style, const std::vector<ChartPoint>& low,
                 const std::vector<ChartPoint>& high) {
  add(Kind::band, style, pairs_of(low, high));
}

void Chart::rule(const std::string& name, double y) {
  if (is_shown({x_.logarithmic ? 1.0 : 0.0, y})) rules_.push_back({name, y});
}

void Chart::tip(const ChartPoint& at, std::string text) {
  if (is_shown(at)) tips_.push_back({at, std::move(text)});
}

bool Chart::empty() const { return series_.empty(); }

Chart::Frame Chart::frame() const {
  Extent across, up;
  for (const Series& series : series_) {
    const double half = series.kind == Kind::bars ? series.extent / 2 : 0;
    for (const ChartPoint& point : series.points) {
      across.add(point.x - half);
      across.add(point.x + half);
      up.add(point.y);
    }
    if (series.kind == Kind::steps) across.add(series.extent);
    if (series.kind == Kind::bars) up.add(0);
  }
  for (const Rule& rule : rules_) up.add(rule.y);
  const AxisScale y(range_of(y_, up), chart_height - below_area, above_area, 5);
  double label_width = 0;
  for (const double tick : y.ticks()) {
    label_width = std::max(label_width, text_width(y.label(tick), label_size));
  }
  // Fonts may be wider than text_width() takes them for.
  const double left = 1.2 * label_width + 32;
  const PixelBox area{left, above_area, chart_width - left - right_of_area,
                      chart_height - below_area - above_area};
  return {area, AxisScale(range_of(x_, across), area.x, area.x + area.width, 6), y};
}

// Labels of the horizontal axis, without those that would touch the one before.
void Chart::draw_labels(SvgCanvas& canvas, const Frame& frame) const {
  const double bottom = frame.area.y + frame.area.height;
  const double room =
      frame.area.width / static_cast<double>(std::max<std::size_t>(x_.names.size(), 1));
  for (std::size_t i = 0; i < x_.names.size(); ++i) {
    if (room < 40) break;
    canvas.text({frame.x(static_cast<double>(i + 1)), bottom + 17},
                shortened(x_.names[i], label_size, room - 8), {"", label_size, "middle"});
  }
  double end = -std::numeric_limits<double>::infinity();
  for (const double tick : frame.x.ticks()) {
    if (!x_.names.empty()) break;
    const std::string label = frame.x.label(tick);
    const double half = 1.2 * text_width(label, label_size) / 2;
    if (frame.x(tick) - half < end + 8 || frame.x(tick) + half > chart_width) continue;
    end = frame.x(tick) + half;
    canvas.text({frame.x(tick), bottom + 17}, label, {"", label_size, "middle"});
  }
}

void Chart::draw_axes(SvgCanvas& canvas, const Frame& frame) const {
  const PixelBox& area = frame.area;
  const double bottom = area.y + area.height;
  canvas.open_group("class=\"grid\"");
  for (const double tick : frame.y.ticks()) {
    canvas.line({area.x, frame.y(tick)}, {area.x + area.width, frame.y(tick)});
  }
  canvas.close_group();
  canvas.open_group("class=\"axis\"");
  canvas.line({area.x, bottom}, {area.x + area.width, bottom});
  for (const double tick : x_.names.empty() ? frame.x.ticks() : std::vector<double>{}) {
    canvas.line({frame.x(tick), bottom}, {frame.x(tick), bottom + 4});
  }
  canvas.close_group();
  canvas.open_group("class=\"label\"");
  draw_labels(canvas, frame);
  for (const double tick : frame.y.ticks()) {
    canvas.text({area.x - 6, frame.y(tick) + 4}, frame.y.label(tick), {"", label_size, "end"});
  }
  canvas.close_group();
  canvas.open_group("class=\"title\"");
  canvas.text({area.x + area.width / 2, chart_height - 6},
              shortened(x_.title, title_size, area.width), {"", title_size, "middle"});
  canvas.text({12, area.y + area.height / 2}, shortened(y_.title, title_size, area.height),
              {.color = "", .size = title_size, .anchor = "middle", .upwards = true});
  canvas.close_group();
}

// Steps are thinned before their corners are made, so that no step becomes a slope.
std::vector<Pixel> Chart::places_of(const Frame& frame, const Series& series) const {
  std::vector<Pixel> places;
  for (const ChartPoint& point : series.points) places.push_back(frame.place(point));
  places = thinned_to_pixels(places);
  if (series.kind != Kind::steps) return places;
  std::vector<Pixel> corners{places.front()};
  for (std::size_t i = 1; i < places.size(); ++i) {
    if (places[i].y != corners.back().y) corners.push_back({places[i].x, corners.back().y});
    corners.push_back(places[i]);
  }
  const double end =
      std::clamp(frame.x(series.extent), frame.area.x, frame.area.x + frame.area.width);
  if (end > corners.back().x) corners.push_back({end, corners.back().y});
  return corners;
}

// There along the lowest place of each column of pixels, and back along the highest.
std::vector<Pixel> Chart::outline_of(const Frame& frame, const Series& series) {
  std::vector<Pixel> there, back;
  for (std::size_t i = 0; i + 1 < series.points.size(); i += 2) {
    const Pixel low = frame.place(series.points[i]), high = frame.place(series.points[i + 1]);
    const bool same = !there.empty() && std::floor(there.back().x) == std::floor(low.x);
    if (same && low.y > there.back().y) there.back() = low;
    if (same && high.y < back.back().y) back.back() = high;
    if (same) continue;
    there.push_back(low);
    back.push_back(high);
  }
  there.insert(there.end(), back.rbegin(), back.rend());
  return there;
}

void Chart::draw(SvgCanvas& canvas, const Frame& frame, const Series& series) const {
  if (series.kind == Kind::band) {
    canvas.open_group(fmt::format("class=\"band {}\"", color_class(series.style.color)));
    canvas.path({outline_of(frame, series)});
    return canvas.close_group();
  }
  const bool stroked =
      series.kind == Kind::line || series.kind == Kind::steps || series.kind == Kind::spans;
  canvas.open_group(fmt::format("class=\"{} {}{}\"", stroked ? "line" : "mark",
                                color_class(series.style.color), series.style.thin ? " thin" : ""));
  const double zero = frame.y(0);
  const double radius = series.points.size() <= 60 ? 3 : series.points.size() <= 400 ? 2.2 : 1.6;
  if (series.kind == Kind::line || series.kind == Kind::steps) {
    canvas.path({places_of(frame, series)});
  }
  for (std::size_t i = 0; !stroked && i < series.points.size(); ++i) {
    const ChartPoint& point = series.points[i];
    const Pixel place = frame.place(point);
    if (series.kind == Kind::diamonds) canvas.diamond(place, 5.5);
    if (series.kind == Kind::dots) canvas.circle(place, radius);
    if (series.kind != Kind::bars) continue;
    const double from = frame.place({point.x - series.extent / 2, point.y}).x;
    const double to = frame.place({point.x + series.extent / 2, point.y}).x;
    const double gap = to - from > 4 ? 1 : 0;
    canvas.rectangle(
        {from, std::min(place.y, zero), std::max(to - from - gap, 0.5), std::abs(zero - place.y)});
  }
  for (std::size_t i = 0; series.kind == Kind::spans && i + 1 < series.points.size(); i += 2) {
    canvas.line(frame.place(series.points[i]), frame.place(series.points[i + 1]));
  }
  canvas.close_group();
}

std::string Chart::legend() const {
  std::string keys;
  std::set<std::string> named;
  for (const Series& series : series_) {
    if (series.style.name.empty() || !named.insert(series.style.name).second) continue;
    keys += fmt::format("<span class=\"key\"><i class=\"{}{}\"></i>{}</span>",
                        color_class(series.style.color), series.kind == Kind::band ? " wide" : "",
                        svg_escaped(series.style.name));
  }
  for (const Rule& rule : rules_) {
    if (rule.name.empty()) continue;
    keys += fmt::format("<span class=\"key\"><i class=\"dashed\"></i>{}</span>",
                        svg_escaped(rule.name));
  }
  return keys.empty() ? keys : "<div class=\"legend\">" + keys + "</div>\n";
}

// [[x, y, "text"], ...] in pixels; of many in a row every so many, and the last.
std::string Chart::tips_text(const Frame& frame) const {
  nlohmann::json list = nlohmann::json::array();
  const std::size_t every = by_point_ ? 1 : (tips_.size() + max_tips - 1) / max_tips;
  const auto rounded = [](double pixel) { return std::round(pixel * 10) / 10; };
  for (std::size_t i = 0; i < tips_.size(); ++i) {
    if (i % every != 0 && i + 1 != tips_.size()) continue;
    const Pixel place = frame.place(tips_[i].at);
    list.push_back({rounded(place.x), rounded(place.y), clean(tips_[i].text)});
  }
  return svg_escaped(list.dump());
}

std::string Chart::figure() const {
  if (empty()) return {};
  const Frame place = frame();
  std::string attributes = "class=\"chart\"";
  if (!tips_.empty()) {
    attributes += fmt::format(" data-near=\"{}\" data-tips=\"{}\"", by_point_ ? "point" : "x",
                              tips_text(place));
  }
  SvgCanvas canvas = SvgCanvas::within_page(chart_width, chart_height, title_, attributes);
  draw_axes(canvas, place);
  for (const Rule& rule : rules_) {
    canvas.open_group("class=\"rule\"");
    const double y = place.place({0, rule.y}).y;
    canvas.line({place.area.x, y}, {place.area.x + place.area.width, y});
    canvas.close_group();
  }
  for (const Series& series : series_) draw(canvas, place, series);
  return fmt::format(
      "<figure{}{}>\n<figcaption>{}</figcaption>\n{}{}{}</figure>\n",
      attributes_.empty() ? "" : " ", attributes_, svg_escaped(title_), legend(),
      std::move(canvas).finish(),
      caption_.empty() ? "" : "<p class=\"note\">" + svg_escaped(caption_) + "</p>\n");
}

}  // namespace kiln::cli
