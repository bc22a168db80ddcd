// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "report/axis_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kiln::cli {
namespace {

constexpr double least_factor = 4;  // of a logarithmic axis

AxisRange on_line(const AxisRange& range, bool logarithmic) {
  if (!logarithmic) return range;
  return {std::log10(range.low), std::log10(range.high), true, range.margin};
}

PlotScale scale_of(const AxisRange& range, double first, double last, int about_ticks) {
  return {range.low, range.high, first, last, about_ticks, range.margin};
}

}  // namespace

AxisScale::AxisScale(const AxisRange& range, double first, double last, int about_ticks)
    : logarithmic_(range.logarithmic && range.low > 0 && range.high >= least_factor * range.low),
      linear_(scale_of(on_line(range, logarithmic_), first, last, about_ticks)) {
  if (logarithmic_) choose_decades(range.low, range.high, about_ticks);
}

// Powers of ten, or every so many of them, and with few of them 2 and 5 in between.
void AxisScale::choose_decades(double low, double high, int about_ticks) {
  const int from = static_cast<int>(std::floor(std::log10(low)));
  const int to = static_cast<int>(std::ceil(std::log10(high)));
  const int step = std::max((to - from + about_ticks - 1) / about_ticks, 1);
  const bool few = std::log10(high / low) < 2.5;
  for (int decade = from; decade <= to; ++decade) {
    if (decade % step != 0) continue;
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && !few) continue;
      const double tick = factor * std::pow(10.0, decade);
      if (tick >= 0.999 * low && tick <= 1.001 * high) decades_.push_back(tick);
    }
  }
}

double AxisScale::operator()(double value) const {
  return linear_(logarithmic_ ? std::log10(value) : value);
}

const std::vector<double>& AxisScale::ticks() const {
  return logarithmic_ ? decades_ : linear_.ticks();
}

std::string AxisScale::label(double tick) const {
  if (!logarithmic_) return linear_.label(tick);
  if (tick >= 0.00099 && tick < 1e5) return fmt::format("{:g}", tick);
  const int decade = static_cast<int>(std::floor(std::log10(tick) + 1e-9));
  return fmt::format("{:.0f}e{}", tick / std::pow(10.0, decade), decade);
}

std::vector<Pixel> thinned_to_pixels(const std::vector<Pixel>& places) {
  std::vector<Pixel> kept;
  for (std::size_t begin = 0; begin < places.size();) {
    const double column = std::floor(places[begin].x);
    std::size_t end = begin, low = begin, high = begin;
    for (; end < places.size() && std::floor(places[end].x) == column; ++end) {
      if (places[end].y < places[low].y) low = end;
      if (places[end].y > places[high].y) high = end;
    }
    std::array<std::size_t, 4> chosen{begin, low, high, end - 1};
    std::ranges::sort(chosen);
    const auto last = std::unique(chosen.begin(), chosen.end());
    for (auto at = chosen.begin(); at != last; ++at) kept.push_back(places[*at]);
    begin = end;
  }
  return kept;
}

}  // namespace kiln::cli
