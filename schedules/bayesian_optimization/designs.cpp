// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "designs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/errors.hpp"
#include "kiln/models/sobol_directions.hpp"

namespace kiln {

Designs::Designs(Queue& queue, const Encoding& encoding, const std::string& kind,
                 std::vector<std::uint64_t> keys,
                 const std::shared_ptr<const std::vector<State>>& candidates)
    : queue_(queue), encoding_(encoding), keys_(std::move(keys)) {
  if (kind == "latin-hypercube") kind_ = PointsKind::latin_hypercube;
  if (kind == "uniform" || encoding.dimension() > max_sobol_dimension) kind_ = PointsKind::uniform;
  if (encoding.dimension() <= max_sobol_dimension) {
    directions_ =
        DeviceArray<std::uint32_t>(queue, sobol_directions(static_cast<int>(encoding.dimension())));
  }
  if (candidates == nullptr) return;
  for (const State& state : *candidates) table_.push_back(encoding.encode(state));
}

std::vector<double> Designs::draw(const std::vector<std::uint64_t>& keys, std::uint64_t first,
                                  std::int64_t count, PointsKind kind) {
  const auto sets = static_cast<std::int64_t>(keys.size());
  const std::int64_t d = encoding_.dimension();
  const DeviceArray<std::uint64_t> key(queue_, keys);
  const DeviceArray<std::uint64_t> begin(queue_, std::vector<std::uint64_t>(keys.size(), first));
  DeviceArray<double> out(queue_, sets * d * count);
  SpaceFillingPoints kernel;
  kernel.kind = kind;
  kernel.dimension = d;
  kernel.points = count;
  kernel.directions = {directions_.data(), d, SpaceFillingPoints::digits,
                       SpaceFillingPoints::digits};
  kernel.keys = key.view();
  kernel.first = begin.view();
  kernel.data = out.data();
  kernel.stride = count;
  kernel.set_stride = d * count;
  queue_.launch(kernel);
  return out.download();
}

/// The row of the table that differs least: a category by 1, a number by what it differs.
const Point& Designs::nearest_row(const Point& point) const {
  const Point* nearest = &table_.front();
  double least = std::numeric_limits<double>::infinity();
  for (const Point& row : table_) {
    double sum = 0;
    for (std::size_t k = 0; k < row.size(); ++k) {
      const bool category = encoding_.coordinates()[k].categorical;
      sum += category ? (row[k] != point[k] ? 1.0 : 0.0) : std::abs(row[k] - point[k]);
    }
    if (sum < least) least = sum, nearest = &row;
  }
  return *nearest;
}

std::vector<Point> Designs::points(std::size_t study, std::uint64_t first, std::int64_t count,
                                   std::int64_t of_all) {
  const auto d = static_cast<std::size_t>(encoding_.dimension());
  // A Latin hypercube is made whole and handed out in order, the next one has a key of its own.
  const bool latin = kind_ == PointsKind::latin_hypercube;
  const auto rows = static_cast<std::uint64_t>(latin ? of_all : count);
  std::vector<double> unit;
  std::vector<Point> points;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i) {
    const std::uint64_t row = latin ? (first + i) % rows : i;
    if (i == 0 || (latin && row == 0)) {
      const std::uint64_t cube = latin ? (first + i) / rows : 0;
      unit = draw({keys_[study] + cube * 0xD1342543DE82EF95ull}, first,
                  static_cast<std::int64_t>(rows), kind_);
    }
    Point point(d);
    for (std::size_t k = 0; k < d; ++k) point[k] = encoding_.place(k, unit[k * rows + row]);
    if (!table_.empty()) point = nearest_row(point);
    points.push_back(std::move(point));
  }
  return points;
}

std::vector<double> Designs::unit_cubes(const std::vector<Cube>& cubes, std::int64_t count) {
  std::vector<std::uint64_t> keys;
  for (const auto& [study, step] : cubes) {
    // Another scramble in each step: an odd factor keeps keys of one study apart.
    keys.push_back(keys_[study] + (step + 1) * 0x9E3779B97F4A7C15ull);
  }
  const bool quasi = encoding_.dimension() <= max_sobol_dimension;
  return draw(keys, 0, count, quasi ? PointsKind::sobol : PointsKind::uniform);
}

std::vector<Point> Designs::all_points(std::size_t most) const {
  if (!table_.empty()) return table_;
  if (!(encoding_.size() <= static_cast<double>(most))) return {};
  std::vector<Point> points(1);
  for (std::size_t k = 0; k < encoding_.coordinates().size(); ++k) {
    const std::vector<double> places = encoding_.places(k);
    std::vector<Point> longer;
    for (const Point& point : points) {
      for (const double place : places) {
        longer.push_back(point);
        longer.back().push_back(place);
      }
    }
    points = std::move(longer);
  }
  return points;
}

}  // namespace kiln
