// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/fronts/nondominated_cells.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "kiln/errors.hpp"
#include "kiln/fronts/indicators.hpp"

namespace kiln {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

/// Lower and upper end of every side.
using Box = std::vector<std::pair<double, double>>;

/// By the first m objectives; all points lie below the reference.
std::vector<Box> boxes_of(Points points, const std::vector<double>& reference, std::size_t m) {
  if (m == 1) {
    double least = reference[0];
    for (const std::vector<double>& point : points) least = std::min(least, point[0]);
    if (least == minus_infinity) return {};
    return {{{minus_infinity, least}}};
  }
  std::ranges::stable_sort(points, {}, [m](const std::vector<double>& p) { return p[m - 1]; });
  std::vector<Box> all;
  std::map<Box, double> open;  // boxes of the slabs before, and where they began
  Points below;
  double floor = minus_infinity;
  for (std::size_t next = 0;; ++next) {
    // Points at the same height bound the same slab.
    const double ceiling = next < points.size() ? points[next][m - 1] : reference[m - 1];
    if (ceiling > floor) {
      std::map<Box, double> still;
      for (const Box& box : boxes_of(below, reference, m - 1)) {
        const auto before = open.find(box);
        still.emplace(box, before == open.end() ? floor : before->second);
      }
      for (const auto& [box, from] : open) {
        if (still.contains(box)) continue;
        all.push_back(box);
        all.back().emplace_back(from, floor);
      }
      open = std::move(still);
      floor = ceiling;
    }
    if (next == points.size()) break;
    // Of those below only the projections that no other dominates matter.
    const auto covers = [m](const std::vector<double>& a, const std::vector<double>& b) {
      return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(m - 1), b.begin(),
                        std::less_equal<>());
    };
    const std::vector<double>& point = points[next];
    if (std::ranges::any_of(below, [&](const auto& other) { return covers(other, point); })) {
      continue;
    }
    std::erase_if(below, [&](const auto& other) { return covers(point, other); });
    below.push_back(point);
  }
  for (const auto& [box, from] : open) {
    all.push_back(box);
    all.back().emplace_back(from, floor);
  }
  return all;
}

}  // namespace

Cells nondominated_cells(const Points& points, const std::vector<double>& reference) {
  if (!std::ranges::all_of(reference, [](double r) { return std::isfinite(r); })) {
    throw InvalidArgument("front.reference", "the reference point is not finite");
  }
  Points inside;
  for (const std::vector<double>& point : points) {
    if (point.size() != reference.size() || point.empty()) {
      throw InvalidArgument("front.dimension", "a point has " + std::to_string(point.size()) +
                                                   " values, but the reference point has " +
                                                   std::to_string(reference.size()) + " values");
    }
    bool below = true;
    for (std::size_t k = 0; k < point.size(); ++k) below &= point[k] < reference[k];
    if (below) inside.push_back(point);
  }
  Points front;
  for (const std::size_t i : nondominated(inside)) front.push_back(inside[i]);
  Cells cells;
  for (const Box& box : boxes_of(front, reference, reference.size())) {
    cells.lower.emplace_back();
    cells.upper.emplace_back();
    for (const auto& [from, to] : box) {
      cells.lower.back().push_back(from);
      cells.upper.back().push_back(to);
    }
  }
  return cells;
}

}  // namespace kiln
