// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "analysis/landscape.hpp"
#include "front/svg_canvas.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

constexpr double width = 760, height = 660;
constexpr PixelBox area{78, 66, 520, 520};
constexpr double scale_left = 626, scale_width = 18;
constexpr std::string_view ink = "#333333", faint_ink = "#666666", wall_color = "#d8d8d8";
constexpr std::int32_t max_cells = 256;   // along a side: finer ones nobody can see
constexpr std::size_t max_numbered = 40;  // marks with a number

// From dark to bright, so that they differ in grey and for all kinds of colour vision; the hue goes
// from blue to yellow.
constexpr std::array<std::string_view, 12> colors{"#08204f", "#1b3268", "#34456c", "#4a566c",
                                                  "#5f676f", "#747974", "#8a8b74", "#a29d70",
                                                  "#bab068", "#d2c45c", "#e8d84d", "#fdec3f"};

// The values at which a colour ends. Each colour has the same area, as far as values differ.
class Bands {
 public:
  explicit Bands(const Landscape& landscape) {
    std::vector<double> sorted;
    for (const double value : landscape.slice.value) {
      if (!std::isnan(value)) sorted.push_back(value);
    }
    std::ranges::sort(sorted);
    for (std::size_t i = 1; i < colors.size(); ++i) {
      ends_.push_back(sorted[i * sorted.size() / colors.size()]);
    }
  }
  const std::vector<double>& ends() const { return ends_; }
  std::size_t of(double value) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(ends_, value) - ends_.begin());
  }

 private:
  std::vector<double> ends_;
};

// Where a point of the grid lies on the drawing. Rows go upwards.
Pixel place_of(const Slice& slice, std::int32_t pixel) {
  const double cell = area.width / slice.resolution;
  return {area.x + (pixel % slice.resolution + 0.5) * cell,
          area.y + area.height - (pixel / slice.resolution + 0.5) * cell};
}

// Each row of cells as lines, one for each run of a colour, in units of cells: short texts.
void draw_values(SvgCanvas& canvas, const Landscape& landscape, const Bands& bands) {
  const Slice& slice = landscape.slice;
  const std::int32_t cells = std::min(slice.resolution, max_cells);
  std::array<std::vector<std::vector<Pixel>>, colors.size()> runs;
  for (std::int32_t row = 0; row < cells; ++row) {
    const double y = cells - row - 0.5;
    const auto band_of = [&](std::int32_t column) -> int {
      const std::int32_t r = row * slice.resolution / cells, c = column * slice.resolution / cells;
      const double value = slice.value[static_cast<std::size_t>(r * slice.resolution + c)];
      return std::isnan(value) ? -1 : static_cast<int>(bands.of(value));
    };
    for (std::int32_t begin = 0; begin < cells;) {
      const int band = band_of(begin);
      std::int32_t end = begin + 1;
      while (end < cells && band_of(end) == band) ++end;
      if (band >= 0) {
        runs[static_cast<std::size_t>(band)].push_back(
            {{static_cast<double>(begin), y}, {static_cast<double>(end), y}});
      }
      begin = end;
    }
  }
  canvas.open_group(fmt::format("fill=\"{}\"", wall_color));
  canvas.rectangle(area);
  canvas.close_group();
  // Lines are a little wider than cells: no ground shines through.
  canvas.open_group(fmt::format("transform=\"translate({} {}) scale({})\" stroke-width=\"1.1\"",
                                area.x, area.y, area.width / cells));
  for (std::size_t band = 0; band < colors.size(); ++band) {
    if (runs[band].empty()) continue;
    canvas.open_group(fmt::format("stroke=\"{}\"", colors[band]));
    canvas.path(runs[band]);
    canvas.close_group();
  }
  canvas.close_group();
}

void draw_axes(SvgCanvas& canvas, const Slice& slice) {
  const double half = area.width / slice.resolution / 2, bottom = area.y + area.height;
  const PlotScale x(slice.x.low, slice.x.high, area.x + half, area.x + area.width - half, 6, 0);
  const PlotScale y(slice.y.low, slice.y.high, bottom - half, area.y + half, 6, 0);
  canvas.open_group(fmt::format("stroke=\"{}\" fill=\"none\"", ink));
  canvas.rectangle(area);
  for (const double tick : x.ticks()) canvas.line({x(tick), bottom}, {x(tick), bottom + 5});
  for (const double tick : y.ticks()) canvas.line({area.x - 5, y(tick)}, {area.x, y(tick)});
  canvas.close_group();
  for (const double tick : x.ticks()) {
    canvas.text({x(tick), bottom + 19}, x.label(tick), {ink, 12, "middle"});
  }
  for (const double tick : y.ticks()) {
    canvas.text({area.x - 9, y(tick) + 4}, y.label(tick), {ink, 12, "end"});
  }
  canvas.text({area.x + area.width / 2, bottom + 44}, shortened(slice.x.name, 13, area.width),
              {ink, 13, "middle"});
  canvas.text({22, area.y + area.height / 2}, shortened(slice.y.name, 13, area.height),
              {.color = ink, .size = 13, .anchor = "middle", .upwards = true});
}

void draw_scale(SvgCanvas& canvas, const Landscape& landscape, const Bands& bands) {
  const Slice& slice = landscape.slice;
  const double side = area.height / static_cast<double>(colors.size());
  const auto label = [&](double y, double stored) {
    canvas.text({scale_left + scale_width + 8, y + 4},
                fmt::format("{:.4g}", slice.objective_of(stored) + 0.0), {ink, 12});
  };
  const double bottom = area.y + area.height;
  for (std::size_t band = 0; band < colors.size(); ++band) {
    canvas.open_group(fmt::format("fill=\"{}\"", colors[band]));
    const double top = bottom - static_cast<double>(band + 1) * side;
    canvas.rectangle({scale_left, top, scale_width, side});
    canvas.close_group();
  }
  label(bottom, landscape.least);
  for (std::size_t i = 0; i < bands.ends().size(); ++i) {
    label(bottom - static_cast<double>(i + 1) * side, bands.ends()[i]);
  }
  label(area.y, landscape.greatest);
  canvas.text({scale_left, bottom + 24}, shortened(slice.value_name, 12, width - scale_left - 8),
              {faint_ink, 12});
}

void draw_marks(SvgCanvas& canvas, const Landscape& landscape) {
  const std::vector<Basin>& basins = landscape.basins;
  const double size = basins.size() > max_numbered ? 2.5 : 4.5;
  canvas.open_group(fmt::format("fill=\"#ffffff\" stroke=\"#000000\" stroke-width=\"{}\"",
                                basins.size() > max_numbered ? 0.8 : 1.4));
  for (const Basin& basin : basins) {
    if (basin.barrier) canvas.diamond(place_of(landscape.slice, basin.saddle), size);
  }
  canvas.close_group();
  canvas.open_group(fmt::format("fill=\"#d81b60\" stroke=\"#ffffff\" stroke-width=\"{}\"",
                                basins.size() > max_numbered ? 0.8 : 1.4));
  for (const Basin& basin : basins) {
    canvas.circle(place_of(landscape.slice, basin.minimum), size + 0.5);
  }
  canvas.close_group();
  if (basins.size() > max_numbered) return;
  // A number stands on the side where there is room.
  const auto number_at = [&](std::int32_t pixel, const std::string& text, bool bold) {
    const Pixel at = place_of(landscape.slice, pixel);
    const bool left = at.x > area.x + area.width - 30;
    const double y = std::clamp(at.y - 7, area.y + 14, area.y + area.height - 4);
    canvas.text({left ? at.x - 8 : at.x + 8, y}, text,
                {.color = "#000000",
                 .size = bold ? 14.0 : 11.0,
                 .anchor = left ? "end" : "start",
                 .bold = bold,
                 .halo = true});
  };
  for (std::size_t i = 0; i < basins.size(); ++i) {
    number_at(basins[i].minimum, fmt::format("{}", i + 1), true);
    if (!basins[i].barrier) continue;
    number_at(basins[i].saddle, fmt::format("{}-{}", i + 1, basins[i].behind_it + 1), false);
  }
}

void draw_header(SvgCanvas& canvas, const Landscape& landscape) {
  canvas.text({area.x, 28}, shortened(landscape.slice.problem, 17, width - area.x - 16),
              {.color = ink, .size = 17, .bold = true});
  const double y = 48;
  const auto key = [&](double x, bool is_saddle, const std::string& text) {
    canvas.open_group(is_saddle ? "fill=\"#ffffff\" stroke=\"#000000\" stroke-width=\"1.4\""
                                : "fill=\"#d81b60\"");
    if (is_saddle) canvas.diamond({x, y - 4}, 5);
    if (!is_saddle) canvas.circle({x, y - 4}, 5);
    canvas.close_group();
    canvas.text({x + 11, y}, text, {faint_ink, 12});
  };
  const std::size_t count = landscape.basins.size();
  key(area.x + 5, false,
      fmt::format("{} {}", count, count == 1 ? "minimum" : "minima, the deepest is 1"));
  const auto has_saddle = [](const Basin& basin) { return basin.barrier.has_value(); };
  if (std::ranges::any_of(landscape.basins, has_saddle)) {
    key(area.x + 205, true, "saddle to a deeper basin");
  }
  if (landscape.slice.not_finite + landscape.slice.infeasible == 0) return;
  canvas.open_group(fmt::format("fill=\"{}\"", wall_color));
  canvas.rectangle({area.x + 395, y - 10, 12, 12});
  canvas.close_group();
  canvas.text({area.x + 413, y}, "no value", {faint_ink, 12});
}

}  // namespace

std::string landscape_svg(const Landscape& landscape) {
  const Slice& slice = landscape.slice;
  SvgCanvas canvas(width, height,
                   fmt::format("{} over {} and {}", clean(slice.problem), clean(slice.x.name),
                               clean(slice.y.name)));
  const Bands bands(landscape);
  draw_header(canvas, landscape);
  draw_values(canvas, landscape, bands);
  draw_axes(canvas, slice);
  draw_scale(canvas, landscape, bands);
  draw_marks(canvas, landscape);
  return std::move(canvas).finish();
}

}  // namespace kiln::cli
