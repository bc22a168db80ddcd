// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "true_fronts.hpp"

#include <cmath>
#include <numbers>

#include "front_curves.hpp"

namespace kiln::problems::detail {
namespace {

using std::numbers::pi;

// ZDT3 by the root of f1, as its curve is steep at 0.
double zdt3_height(double t) { return 1 - t - t * t * std::sin(10 * pi * t * t); }
double zdt3_slope(double t) {
  const double angle = 10 * pi * t * t;
  return -1 - 2 * t * (std::sin(angle) + angle * std::cos(angle));
}

TrueFront zdt3_front() {
  const std::vector<Piece> pieces = new_minima(zdt3_height, zdt3_slope);
  const double last = pieces.back().end;
  const Curve curve = [](double t) { return std::vector<double>{t * t, zdt3_height(t)}; };
  return {{0, zdt3_height(last)}, {last * last, 1}, along_curve(pieces, curve)};
}

/// One point for each number of ones among the first 30 bits, all other groups of bits being full.
TrueFront zdt5_front(int variables) {
  const int groups = (variables - 30) / 5;
  const auto points = [groups](std::int64_t) {
    Points all;
    for (int f1 = 1; f1 <= 31; ++f1) all.push_back({double(f1), double(groups) / f1});
    return all;
  };
  return {{1, groups / 31.0}, {31, double(groups)}, points};
}

/// The least f1 of ZDT6 is where its slope exp(-4x) sin^5(6 pi x) (36 pi cos(6 pi x) -
/// 4 sin(6 pi x)) has its first root but 0.
double zdt6_least() {
  const double angle = std::atan(9 * pi);
  return 1 - std::exp(-4 * angle / (6 * pi)) * std::pow(std::sin(angle), 6);
}

}  // namespace

TrueFront front_of(const Zdt& function) {
  if (function.number == 3) return zdt3_front();
  if (function.number == 5) return zdt5_front(function.variables);
  const auto parabola = [](double t) { return std::vector<double>{t, 1 - t * t}; };
  if (function.number == 6) {
    const double least = zdt6_least();
    return {{least, 0}, {1, 1 - least * least}, along_curve({{least, 1}}, parabola)};
  }
  // Again by the root of f1.
  const auto root = [](double t) { return std::vector<double>{t * t, 1 - t}; };
  const Curve curve = function.number == 2 ? Curve(parabola) : Curve(root);
  return {{0, 0}, {1, 1}, along_curve({{0, 1}}, curve)};
}

namespace {

double wfg2_height(double t) { return 1 - t * std::pow(std::cos(5 * pi * t), 2); }
double wfg2_slope(double t) {
  return -std::pow(std::cos(5 * pi * t), 2) + 5 * pi * t * std::sin(10 * pi * t);
}

/// The front for two objectives by the one value that the position has.
std::vector<double> wfg_point(int number, double t) {
  const double angle = 0.5 * pi * t;
  if (number == 1) {
    return {2 - 2 * std::cos(angle), 4 * (1 - t + std::sin(10 * pi * t) / (10 * pi))};
  }
  if (number == 2) return {2 - 2 * std::cos(angle), 4 * wfg2_height(t)};
  if (number == 3) return {2 * t, 4 * (1 - t)};
  return {2 * std::sin(angle), 4 * std::cos(angle)};
}

}  // namespace

TrueFront front_of(const Wfg& function) {
  const int objectives = function.n_objectives;
  const int number = function.number;
  // Beside the line that the paper tells of it has parts that are no line.
  if (number == 3 && objectives > 2) return {};
  TrueFront front;
  for (int m = 1; m <= objectives; ++m) {
    front.ideal.push_back(0);
    front.nadir.push_back(2 * m);
  }
  if (objectives == 2) {
    const std::vector<Piece> pieces =
        number == 2 ? new_minima(wfg2_height, wfg2_slope) : std::vector<Piece>{{0, 1}};
    front.points = along_curve(pieces, [number](double t) { return wfg_point(number, t); });
  } else if (number >= 4) {
    front.points = [objectives, nadir = front.nadir](std::int64_t count) {
      Points points = sphere(objectives, count);
      for (std::vector<double>& point : points) {
        for (std::size_t m = 0; m < point.size(); ++m) point[m] *= nadir[m];
      }
      return points;
    };
  }
  return front;
}

}  // namespace kiln::problems::detail
