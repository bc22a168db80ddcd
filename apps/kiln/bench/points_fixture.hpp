// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "kiln/device/rng_domains.hpp"
#include "kiln/kernels/fronts/objective_points.hpp"
#include "kiln/queue.hpp"

namespace kiln::cli {

/// Points drawn uniformly in the unit cube, or on the positive part of the unit sphere, where none
/// dominates another.
enum class PointCloud { cube, sphere };

struct PointArrays {
  PointArrays(Queue& queue, std::int64_t n_groups, std::int64_t size, std::int64_t n_objectives,
              PointCloud cloud = PointCloud::cube)
      : groups{n_groups, size, {}},
        objectives(n_objectives),
        value(queue, draw(n_groups * size, n_objectives, cloud)) {}

  std::int64_t count() const { return groups.groups * groups.size; }
  /// Of the values.
  double bytes() const { return static_cast<double>(value.bytes()); }
  View2<const double> values() const { return {value.data(), objectives, count(), count()}; }
  ObjectivePoints points() const { return {values(), {}, groups}; }

  PointGroups groups;
  std::int64_t objectives;
  DeviceArray<double> value;

 private:
  static std::vector<double> draw(std::int64_t n, std::int64_t objectives, PointCloud cloud) {
    std::vector<double> all(static_cast<std::size_t>(n * objectives));
    for (std::int64_t p = 0; p < n; ++p) {
      double square = 0;
      for (std::int64_t k = 0; k < objectives; ++k) {
        const DrawName name{1, static_cast<std::uint64_t>(k), static_cast<std::uint32_t>(p),
                            RngDomain::initial_state, 0};
        const Words4 words = draw_quad(name, 0);
        double x = open_unit(words[0]);
        if (cloud == PointCloud::sphere) {  // a normal variable has no direction of its own
          x = std::abs(std::sqrt(-2 * std::log(x)) *
                       std::cos(6.283185307179586 * open_unit(words[1])));
        }
        square += x * x;
        all[static_cast<std::size_t>(k * n + p)] = x;
      }
      if (cloud != PointCloud::sphere) continue;
      for (std::int64_t k = 0; k < objectives; ++k) {
        all[static_cast<std::size_t>(k * n + p)] /= std::sqrt(square);
      }
    }
    return all;
  }
};

}  // namespace kiln::cli
