// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "information/ksg_problems.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "backends/backends.hpp"

namespace kiln::test {

std::vector<std::int32_t> KsgProblems::order_of(std::int32_t column) const {
  const std::vector<double>& values = columns[idx(column)];
  std::vector<std::int32_t> order(idx(n()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::int32_t row) { return values[idx(row)]; });
  return order;
}

std::vector<std::int32_t> KsgProblems::order_of_problem(std::int64_t problem) const {
  return order_of(problems[idx(problem)].front());
}

bool KsgProblems::may_be_neighbors(std::int64_t row, std::int64_t other) const {
  if (row == other) return false;
  return theiler == 0 || std::abs(times[idx(row)] - times[idx(other)]) > theiler;
}

double KsgProblems::distance(std::int64_t problem, std::int32_t begin, std::int32_t end,
                             std::int64_t row, std::int64_t other) const {
  double most = 0;
  for (std::int32_t d = begin; d < end; ++d) {
    const std::vector<double>& values = columns[idx(problems[idx(problem)][idx(d)])];
    most = std::max(most, std::abs(values[idx(row)] - values[idx(other)]));
  }
  return most;
}

KsgProblems make_ksg_problems(std::int64_t n, std::int32_t z, std::int32_t y, std::int32_t x,
                              ValueKind kind, std::uint64_t seed, std::int64_t problems) {
  TestRandom random(seed);
  KsgProblems in;
  in.z = z;
  in.y = y;
  in.x = x;
  const std::int32_t columns = in.dims() + 2;
  for (std::int32_t c = 0; c < columns; ++c) {
    const bool lattice = kind == ValueKind::lattice || (kind == ValueKind::mixed && c % 2 == 1);
    std::vector<double>& values = in.columns.emplace_back();
    for (std::int64_t i = 0; i < n; ++i) {
      double value = 2 * random.unit() - 1;
      if (lattice) {
        value = static_cast<double>(random.between(-3, 3));
        if (value == 0 && random.between(0, 1) == 0) value = -0.0;
      } else if (c > 0 && !in.columns[0].empty()) {
        value += 0.5 * in.columns[0][idx(i)];  // columns say something of each other
      }
      values.push_back(value);
    }
  }
  for (std::int64_t p = 0; p < problems; ++p) {
    std::vector<std::int32_t>& coordinates = in.problems.emplace_back();
    const std::int64_t first = p % 2 == 0 ? 0 : p % columns;
    for (std::int32_t d = 0; d < in.dims(); ++d) {
      const std::int64_t further = d == 0 ? first : first + d + p % 2;
      coordinates.push_back(static_cast<std::int32_t>(further % columns));
    }
  }
  in.times.resize(idx(n));
  std::iota(in.times.begin(), in.times.end(), 0);
  return in;
}

void set_theiler(KsgProblems& in, std::int32_t theiler, std::uint64_t seed) {
  TestRandom random(seed);
  in.theiler = theiler;
  std::int32_t time = -7;
  for (std::int32_t& at : in.times) {
    time += random.between(0, 3) == 0 ? static_cast<std::int32_t>(random.between(2, 9)) : 1;
    at = time;
  }
}

KsgRadii radii_by_definition(const KsgProblems& in, std::int32_t k) {
  KsgRadii radii;
  const std::int32_t x_begin = in.x_begin(), dims = in.dims();
  std::vector<double> distances;
  for (std::int64_t problem = 0; problem < std::ssize(in.problems); ++problem) {
    for (const std::int32_t row : in.order_of_problem(problem)) {
      distances.clear();
      for (std::int64_t other = 0; other < in.n(); ++other) {
        if (!in.may_be_neighbors(row, other)) continue;
        distances.push_back(in.distance(problem, 0, dims, row, other));
      }
      double radius = std::numeric_limits<double>::infinity();
      if (std::ssize(distances) >= k) {
        std::ranges::nth_element(distances, distances.begin() + k - 1);
        radius = distances[idx(k - 1)];
      }
      double in_y = 0, in_x = 0;
      for (std::int64_t other = 0; other < in.n(); ++other) {
        if (!in.may_be_neighbors(row, other)) continue;
        if (in.distance(problem, 0, dims, row, other) > radius) continue;
        in_y = std::max(in_y, in.distance(problem, in.z, x_begin, row, other));
        in_x = std::max(in_x, in.distance(problem, x_begin, dims, row, other));
      }
      radii.radius.push_back(radius);
      radii.extent_y.push_back(in_y);
      radii.extent_x.push_back(in_x);
    }
  }
  return radii;
}

std::vector<std::int32_t> counts_by_definition(const KsgProblems& in, const KsgRadii& radii,
                                               bool extents, std::int64_t problem, std::int64_t row,
                                               std::int64_t point) {
  const std::size_t at = idx(problem * in.n() + point);
  const std::int32_t x_begin = in.x_begin();
  std::int32_t n_z = 0, n_y = 0, n_x = 0;
  for (std::int64_t other = 0; other < in.n(); ++other) {
    if (!in.may_be_neighbors(row, other)) continue;
    const double z = in.distance(problem, 0, in.z, row, other);
    const double y = in.distance(problem, in.z, x_begin, row, other);
    const double x = in.distance(problem, x_begin, in.dims(), row, other);
    if (extents) {
      n_y += y <= radii.extent_y[at] ? 1 : 0;
      n_x += x <= radii.extent_x[at] ? 1 : 0;
      continue;
    }
    const double radius = radii.radius[at];
    if (in.z > 0 && !(z < radius)) continue;
    ++n_z;
    n_y += y < radius ? 1 : 0;
    n_x += x < radius ? 1 : 0;
  }
  if (in.z > 0) return {n_z, n_y, n_x};
  return {n_y, n_x};
}

// Axis c has column c in the order of time. Behind these are all columns in the order of each
// column that is the first of a problem or of a block.
DeviceKsgProblems::DeviceKsgProblems(Queue& queue, const KsgProblems& in)
    : n_(in.n()), problems_(std::ssize(in.problems)) {
  const std::int64_t columns = std::ssize(in.columns);
  std::vector<double> axes;
  for (const std::vector<double>& column : in.columns) {
    axes.insert(axes.end(), column.begin(), column.end());
  }
  std::map<std::int32_t, std::int32_t> known;
  std::vector<std::int32_t> orders;
  const auto order_number = [&](std::int32_t first) {
    const auto [at, is_new] = known.emplace(first, static_cast<std::int32_t>(known.size()));
    if (is_new) {
      const std::vector<std::int32_t> order = in.order_of(first);
      orders.insert(orders.end(), order.begin(), order.end());
      for (const std::vector<double>& column : in.columns) {
        for (const std::int32_t row : order) axes.push_back(column[idx(row)]);
      }
    }
    return at->second;
  };
  const auto axis_of = [&](std::int32_t order, std::int32_t column) {
    return static_cast<std::int32_t>((order + 1) * columns + column);
  };
  std::vector<std::int32_t> rows, search, natural, order_of;
  for (std::size_t p = 0; p < in.problems.size(); ++p) {
    const std::vector<std::int32_t>& coordinates = in.problems[p];
    order_of.push_back(order_number(coordinates.front()));
    for (const std::int32_t column : coordinates) {
      rows.push_back(axis_of(order_of.back(), column));
      natural.push_back(column);
    }
    if (in.z > 0) continue;
    const std::vector<std::int32_t>& among = in.searched.empty() ? coordinates : in.searched[p];
    for (std::int32_t d = 0; d < in.dims(); ++d) {
      const std::int32_t first = among[idx(d < in.y ? 0 : in.y)];
      search.push_back(axis_of(order_number(first), among[idx(d)]));
    }
  }
  shape_.z = in.z;
  shape_.y = in.y;
  shape_.x = in.x;
  shape_.theiler = in.theiler;
  axes_ = DeviceArray<double>(queue, axes);
  rows_ = DeviceArray<std::int32_t>(queue, rows);
  search_ = DeviceArray<std::int32_t>(queue, search);
  natural_ = DeviceArray<std::int32_t>(queue, natural);
  orders_ = DeviceArray<std::int32_t>(queue, orders);
  order_of_ = DeviceArray<std::int32_t>(queue, order_of);
  times_ = DeviceArray<std::int32_t>(queue, in.times);
}

KsgPoints DeviceKsgProblems::points() const {
  KsgPoints points = shape_;
  points.axes = {axes_.data(), axes_.size() / n_, n_, n_};
  points.rows = table(rows_);
  if (points.theiler == 0) return points;  // what only a Theiler window needs is left out
  points.orders = {orders_.data(), orders_.size() / n_, n_, n_};
  points.order_of = order_of_.view();
  points.times = times_.view();
  return points;
}

}  // namespace kiln::test
