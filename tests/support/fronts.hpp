// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kiln/kernels/fronts/objective_points.hpp"

#include "backends/backends.hpp"

namespace kiln::test {

/// Groups of points on the host, and what dominance means for two of them.
struct Cloud {
  std::int64_t objectives = 2;
  std::vector<std::int64_t> sizes;  ///< of the groups
  bool has_offsets = false;
  std::vector<double> value;      ///< [objectives][points + gap]
  std::vector<double> violation;  ///< [points], or empty
  std::int64_t gap = 0;

  std::int64_t points() const {
    std::int64_t sum = 0;
    for (const std::int64_t size : sizes) sum += size;
    return sum;
  }
  std::int64_t largest() const {
    return sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
  }
  std::int64_t begin(std::size_t group) const {
    std::int64_t sum = 0;
    for (std::size_t g = 0; g < group; ++g) sum += sizes[g];
    return sum;
  }
  double at(std::int64_t k, std::int64_t p) const { return value[idx(k * (points() + gap) + p)]; }
  double& at(std::int64_t k, std::int64_t p) { return value[idx(k * (points() + gap) + p)]; }
  double violation_of(std::int64_t p) const { return violation.empty() ? 0.0 : violation[idx(p)]; }

  bool has_nan(std::int64_t p) const {
    bool any = std::isnan(violation_of(p));
    for (std::int64_t k = 0; k < objectives; ++k) any |= std::isnan(at(k, p));
    return any;
  }
  /// The definition, in its own words.
  bool dominates(std::int64_t a, std::int64_t b) const {
    if (has_nan(a)) return false;
    if (has_nan(b)) return true;
    const bool feasible_a = violation_of(a) <= 0, feasible_b = violation_of(b) <= 0;
    if (feasible_a != feasible_b) return feasible_a;
    if (!feasible_a) return violation_of(a) < violation_of(b);
    bool nowhere_greater = true, somewhere_less = false;
    for (std::int64_t k = 0; k < objectives; ++k) {
      nowhere_greater &= at(k, a) <= at(k, b);
      somewhere_less |= at(k, a) < at(k, b);
    }
    return nowhere_greater && somewhere_less;
  }
};

/// How values are drawn.
struct CloudStyle {
  std::int64_t levels = 0;  ///< values are integers below this, so that many tie; 0: any in [0, 1)
  double share_copies = 0;  ///< of points that repeat an earlier one of their group
  double share_nan = 0;     ///< of points with a NaN
  double share_infeasible = 0;
};

inline Cloud make_cloud(std::int64_t objectives, const std::vector<std::int64_t>& sizes,
                        const CloudStyle& style, std::uint64_t seed) {
  TestRandom random(seed);
  Cloud cloud;
  cloud.objectives = objectives;
  cloud.sizes = sizes;
  cloud.has_offsets =
      !std::all_of(sizes.begin(), sizes.end(), [&](std::int64_t s) { return s == sizes.front(); });
  const std::int64_t points = cloud.points();
  cloud.value.resize(idx(objectives * points));
  if (style.share_infeasible > 0) cloud.violation.resize(idx(points));
  for (std::size_t g = 0; g < sizes.size(); ++g) {
    const std::int64_t begin = cloud.begin(g);
    for (std::int64_t i = 0; i < sizes[g]; ++i) {
      const std::int64_t p = begin + i;
      const bool copy = i > 0 && random.unit() < style.share_copies;
      const std::int64_t from = copy ? begin + random.between(0, i - 1) : p;
      for (std::int64_t k = 0; k < objectives; ++k) {
        const double drawn = style.levels > 0
                                 ? static_cast<double>(random.between(0, style.levels - 1))
                                 : random.unit();
        cloud.at(k, p) = copy ? cloud.at(k, from) : drawn;
      }
      if (style.share_infeasible > 0) {
        const bool infeasible = random.unit() < style.share_infeasible;
        cloud.violation[idx(p)] = infeasible ? static_cast<double>(random.between(1, 5)) : -0.5;
      }
      if (random.unit() < style.share_nan) {
        cloud.at(random.between(0, objectives - 1), p) = std::numeric_limits<double>::quiet_NaN();
      }
    }
  }
  return cloud;
}

/// A cloud on a device.
class DeviceCloud {
 public:
  DeviceCloud(Queue& queue, const Cloud& cloud)
      : cloud_(cloud),
        value_(queue, cloud.value),
        violation_(queue, cloud.violation),
        offset_(queue, offsets(cloud)) {}

  ObjectivePoints points() const {
    ObjectivePoints all;
    all.value = {value_.data(), cloud_.objectives, cloud_.points(), cloud_.points() + cloud_.gap};
    all.violation = violation_.view();
    all.groups = {static_cast<std::int64_t>(cloud_.sizes.size()), cloud_.largest(), offset_.view()};
    return all;
  }

 private:
  static std::vector<std::int64_t> offsets(const Cloud& cloud) {
    std::vector<std::int64_t> all;
    if (!cloud.has_offsets) return all;
    for (std::size_t g = 0; g <= cloud.sizes.size(); ++g) all.push_back(cloud.begin(g));
    return all;
  }
  const Cloud& cloud_;
  DeviceArray<double> value_, violation_;
  DeviceArray<std::int64_t> offset_;
};

}  // namespace kiln::test
