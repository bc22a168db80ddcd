// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>

#include "front_curves.hpp"
#include "true_fronts.hpp"

namespace kiln::problems::detail {
namespace {

using std::numbers::pi;

/// What one of the first objectives of DTLZ7 takes from the last one. A point is on the front if
/// none of these could be had for less: each objective is where this is larger than before.
double dtlz7_gain(double t) { return t * (1 + std::sin(3 * pi * t)); }
std::vector<Piece> dtlz7_pieces() {
  const auto slope = [](double t) {
    return -1 - std::sin(3 * pi * t) - 3 * pi * t * std::cos(3 * pi * t);
  };
  return new_minima([](double t) { return -dtlz7_gain(t); }, slope);
}

std::vector<double> dtlz7_point(std::vector<double> place) {
  double last = 2.0 * static_cast<double>(place.size() + 1);
  for (const double t : place) last -= dtlz7_gain(t);
  place.push_back(last);
  return place;
}

/// So many values at equal distances in the pieces put end to end.
std::vector<double> spread_over(const std::vector<Piece>& pieces, int count) {
  double total = 0;
  for (const Piece& piece : pieces) total += piece.end - piece.begin;
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    double rest = total * i / (count - 1);
    std::size_t p = 0;
    for (; p + 1 < pieces.size() && rest > pieces[p].end - pieces[p].begin; ++p) {
      rest -= pieces[p].end - pieces[p].begin;
    }
    values.push_back(std::min(pieces[p].begin + rest, pieces[p].end));
  }
  return values;
}

Points dtlz7_grid(const std::vector<Piece>& pieces, int objectives, std::int64_t count) {
  const int axes = objectives - 1;
  const double side = std::pow(static_cast<double>(std::max<std::int64_t>(count, 1)), 1.0 / axes);
  const int per_axis = std::max(2, static_cast<int>(side + 1e-9));
  const std::vector<double> values = spread_over(pieces, per_axis);
  Points points;
  std::vector<std::size_t> index(static_cast<std::size_t>(axes), 0);
  while (true) {
    std::vector<double> place;
    for (const std::size_t i : index) place.push_back(values[i]);
    points.push_back(dtlz7_point(std::move(place)));
    std::size_t axis = 0;
    while (axis < index.size() && ++index[axis] == values.size()) index[axis++] = 0;
    if (axis == index.size()) return points;
  }
}

TrueFront dtlz7_front(int objectives) {
  // Two values per axis are so many points with as many objectives; more have no list of points.
  constexpr int max_with_points = 10;
  const std::vector<Piece> pieces = dtlz7_pieces();
  const auto axes = static_cast<std::size_t>(objectives - 1);
  TrueFront front;
  front.nadir.assign(axes, pieces.back().end);
  front.ideal.assign(axes, 0.0);
  front.ideal.push_back(dtlz7_point(front.nadir).back());
  front.nadir.push_back(2.0 * objectives);
  if (objectives == 2) {
    front.points = along_curve(pieces, [](double t) { return dtlz7_point({t}); });
  } else if (objectives <= max_with_points) {
    front.points = [=](std::int64_t count) { return dtlz7_grid(pieces, objectives, count); };
  }
  return front;
}

/// The curve that DTLZ5 and DTLZ6 with three objectives have.
TrueFront dtlz5_front() {
  const double root = std::numbers::sqrt2 / 2;
  const Curve curve = [root](double t) {
    const double across = root * std::cos(0.5 * pi * t);
    return std::vector<double>{across, across, std::sin(0.5 * pi * t)};
  };
  return {{0, 0, 0}, {root, root, 1}, along_curve({{0, 1}}, curve)};
}

/// The points of the sphere that C2-DTLZ2 leaves. The first look says what share that is.
Points balls(const Dtlz& function, std::int64_t count) {
  const auto left = [&](std::int64_t directions) {
    Points points = sphere(function.n_objectives, directions);
    const double r = Dtlz::ball_radius(function.n_objectives);
    std::erase_if(points, [&](const std::vector<double>& point) {
      double sum = 0, largest = 0;
      for (const double value : point) {
        sum += value;
        largest = std::max(largest, value);
      }
      const double middle = sum / std::sqrt(static_cast<double>(point.size()));
      return 2 - 2 * std::max(largest, middle) > r * r;
    });
    return points;
  };
  constexpr std::int64_t most = 1'000'000;
  Points first = left(std::min(count, most));
  const auto found = static_cast<std::int64_t>(first.size());
  if (found >= count) return first;
  return left(std::min(most, count <= most ? count * count / found : most));
}

/// A front of directions, each as far out as `to_front` puts it.
TrueFront from_directions(int objectives, double nadir,
                          const std::function<void(std::vector<double>&)>& to_front) {
  const auto points = [=](std::int64_t count) {
    Points all = directions(objectives, count);
    for (std::vector<double>& point : all) to_front(point);
    return all;
  };
  const auto size = static_cast<std::size_t>(objectives);
  return {std::vector<double>(size, 0.0), std::vector<double>(size, nadir), points};
}

}  // namespace

TrueFront front_of(const Dtlz& function) {
  const int objectives = function.n_objectives;
  if (function.number == 7) return dtlz7_front(objectives);
  if (function.number >= 5 && objectives == 3) return dtlz5_front();
  if (function.number >= 5 && objectives > 3) return {};
  if (function.kind == DtlzConstraints::c2) {
    TrueFront front = from_directions(objectives, 1, to_unit_sphere);
    front.points = [function](std::int64_t count) { return balls(function, count); };
    return front;
  }
  if (function.kind == DtlzConstraints::c3 && function.number == 1) {
    return from_directions(objectives, 1, [](std::vector<double>& point) {
      scale(point, 1 / (1 + *std::ranges::min_element(point)));
    });
  }
  if (function.kind == DtlzConstraints::c3) {
    return from_directions(objectives, 2, [](std::vector<double>& point) {
      to_unit_sphere(point);
      const double largest = *std::ranges::max_element(point);
      scale(point, 1 / std::sqrt(1 - 0.75 * largest * largest));
    });
  }
  if (function.number == 1) {
    return from_directions(objectives, 0.5, [](std::vector<double>& point) { scale(point, 0.5); });
  }
  return from_directions(objectives, 1, to_unit_sphere);
}

}  // namespace kiln::problems::detail
