// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "front_curves.hpp"

#include <algorithm>
#include <cmath>

#include "kiln/fronts/indicators.hpp"

namespace kiln::problems::detail {
namespace {

/// The place in [low, high] where `beyond` turns from false to true: at most so far above it.
double turning_point(double low, double high, double accuracy,
                     const std::function<bool(double)>& beyond) {
  while (high - low > accuracy) {
    const double middle = 0.5 * (low + high);
    (beyond(middle) ? high : low) = middle;
  }
  return high;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return std::sqrt(sum);
}

/// The lengths of a piece of a curve up to equally spaced values of its parameter, from 0.
std::vector<double> lengths(const Piece& piece, const Curve& curve) {
  constexpr int steps = 2048;
  std::vector<double> length{0};
  std::vector<double> before = curve(piece.begin);
  for (int i = 1; i <= steps; ++i) {
    std::vector<double> point = curve(std::lerp(piece.begin, piece.end, double{1} / steps * i));
    length.push_back(length.back() + distance(before, point));
    before = std::move(point);
  }
  return length;
}

/// About so many points at equal distances along the pieces, the ends of each among them.
Points along(const std::vector<Piece>& pieces, const Curve& curve, std::int64_t count) {
  std::vector<std::vector<double>> length;
  double total = 0;
  for (const Piece& piece : pieces) {
    length.push_back(lengths(piece, curve));
    total += length.back().back();
  }
  Points points;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const std::vector<double>& table = length[p];
    const double share = static_cast<double>(count) * table.back() / total;
    const std::int64_t n = std::max<std::int64_t>(2, std::llround(share));
    std::size_t step = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double target = table.back() * static_cast<double>(i) / static_cast<double>(n - 1);
      while (step + 2 < table.size() && table[step + 1] < target) ++step;
      const double inside = (target - table[step]) / (table[step + 1] - table[step]);
      const double part =
          (static_cast<double>(step) + inside) / static_cast<double>(table.size() - 1);
      points.push_back(curve(std::lerp(pieces[p].begin, pieces[p].end, std::min(part, 1.0))));
    }
  }
  return points;
}

}  // namespace

std::function<Points(std::int64_t)> along_curve(std::vector<Piece> pieces, Curve curve) {
  return [pieces = std::move(pieces), curve = std::move(curve)](std::int64_t count) {
    return along(pieces, curve, count);
  };
}

Points directions(int objectives, std::int64_t count) {
  return reference_directions(objectives, std::max<std::int64_t>(count, objectives));
}

void scale(std::vector<double>& point, double factor) {
  for (double& value : point) value *= factor;
}

void to_unit_sphere(std::vector<double>& point) {
  double squares = 0;
  for (const double value : point) squares += value * value;
  scale(point, 1 / std::sqrt(squares));
}

Points sphere(int objectives, std::int64_t count) {
  Points points = directions(objectives, count);
  for (std::vector<double>& point : points) to_unit_sphere(point);
  return points;
}

std::vector<Piece> new_minima(const std::function<double(double)>& function,
                              const std::function<double(double)>& slope) {
  // Far finer than the waves of the functions that this is for.
  constexpr int steps = 10000;
  // Coarser at the beginnings, where the value has to be less beyond all rounding.
  constexpr double end_accuracy = 1e-15, begin_accuracy = 1e-12;
  std::vector<Piece> pieces;
  bool falling = true;
  double begin = 0, least = 0, before = 0;
  for (int i = 1; i <= steps; ++i) {
    const double t = static_cast<double>(i) / steps;
    if (falling && slope(t) > 0) {
      const double end =
          turning_point(before, t, end_accuracy, [&](double x) { return slope(x) > 0; });
      pieces.push_back({begin, end});
      least = function(end);
      falling = false;
    } else if (!falling && function(t) < least) {
      begin =
          turning_point(before, t, begin_accuracy, [&](double x) { return function(x) < least; });
      falling = true;
    }
    before = t;
  }
  if (falling) pieces.push_back({begin, 1});
  return pieces;
}

}  // namespace kiln::problems::detail
