// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "kiln/device/run_control.hpp"
#include "kiln/kernels/run/draw_ids.hpp"

#include "bench/points_fixture.hpp"

namespace kiln::cli {

/// Pools of points with what a multi-objective run has of each of them, and names for as many
/// slots.
struct PoolArrays {
  PoolArrays(Queue& queue, std::int64_t groups, std::int64_t size, std::int64_t objectives,
             PointCloud cloud = PointCloud::cube)
      : points(queue, groups, size, objectives, cloud),
        rank(queue, numbers(groups * size, 20)),
        score(queue, scores(groups * size)),
        violation(queue, groups * size),
        key(queue, std::vector<std::uint64_t>(static_cast<std::size_t>(groups * size), 1)),
        replica(queue, replicas(groups * size)),
        control(queue, std::vector<RunControl>{{}}) {
    violation.zero();
  }

  std::int64_t count() const { return points.count(); }
  const PointGroups& groups() const { return points.groups; }
  View2<double> values() { return {points.value.data(), points.objectives, count(), count()}; }
  DrawIds draw_ids() const { return {key.view(), replica.view()}; }

  /// Numbers below n, each about as often, neighbours far apart.
  static std::vector<std::int32_t> numbers(std::int64_t count, std::int64_t n) {
    std::vector<std::int32_t> all;
    for (std::int64_t i = 0; i < count; ++i) {
      all.push_back(static_cast<std::int32_t>(i * 7919 % 104729 % n));
    }
    return all;
  }
  /// The first `near` members behind each one.
  static std::vector<std::int32_t> neighbors(std::int64_t near, std::int64_t members) {
    std::vector<std::int32_t> all;
    for (std::int64_t t = 0; t < near; ++t) {
      for (std::int64_t i = 0; i < members; ++i) {
        all.push_back(static_cast<std::int32_t>((i + t) % members));
      }
    }
    return all;
  }

  PointArrays points;
  DeviceArray<std::int32_t> rank;
  DeviceArray<double> score, violation;
  DeviceArray<std::uint64_t> key;
  DeviceArray<std::uint32_t> replica;
  DeviceArray<RunControl> control;

 private:
  static std::vector<double> scores(std::int64_t count) {
    std::vector<double> all;
    for (const std::int32_t x : numbers(count, 10007)) all.push_back(x);
    return all;
  }
  static std::vector<std::uint32_t> replicas(std::int64_t count) {
    std::vector<std::uint32_t> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0u);
    return all;
  }
};

/// "64 x 200" or "200000".
inline std::string shape_of_pools(std::int64_t groups, std::int64_t size) {
  return (groups > 1 ? std::to_string(groups) + " groups of " : "") + std::to_string(size);
}

/// [rows][columns] in an array that holds no more than that.
template <class T>
View2<T> matrix_of(DeviceArray<T>& array, std::int64_t rows) {
  const std::int64_t columns = array.size() / rows;
  return {array.data(), rows, columns, columns};
}
/// The same, only to be read.
template <class T>
View2<const T> table_of(const DeviceArray<T>& array, std::int64_t rows) {
  const std::int64_t columns = array.size() / rows;
  return {array.data(), rows, columns, columns};
}

/// A value for each of `count` elements.
inline std::vector<double> filled(std::int64_t count, double value) {
  return std::vector<double>(static_cast<std::size_t>(count), value);
}

}  // namespace kiln::cli
