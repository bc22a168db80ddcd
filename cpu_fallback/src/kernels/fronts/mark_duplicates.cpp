// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/mark_duplicates.hpp"

#include <algorithm>
#include <vector>

#include "launch.hpp"

namespace kiln::cpu {
namespace {

// -1, 0 or 1 as point a comes before b, equals it, or comes after it, by violation and objectives.
int compare(const MarkDuplicates& kernel, std::int64_t a, std::int64_t b) {
  const ObjectivePoints& points = kernel.points;
  if (points.violation && points.violation[a] != points.violation[b]) {
    return points.violation[a] < points.violation[b] ? -1 : 1;
  }
  for (std::int64_t k = 0; k < points.value.rows; ++k) {
    const double x = points.value(k, a), y = points.value(k, b);
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

void mark_group(const MarkDuplicates& kernel, std::int64_t group) {
  std::vector<std::int64_t> columns;
  const PointGroups& groups = kernel.points.groups;
  for (std::int64_t c = groups.begin(group); c < groups.end(group); ++c) {
    // A NaN has no place in an order, and equals nothing.
    if (kernel.rank[c] != NondominatedRanks::no_front && kernel.equal(c, c)) columns.push_back(c);
  }
  std::sort(columns.begin(), columns.end(), [&](std::int64_t a, std::int64_t b) {
    const int order = compare(kernel, a, b);
    return order != 0 ? order < 0 : a < b;
  });
  for (std::size_t i = 1; i < columns.size(); ++i) {
    if (kernel.equal(columns[i - 1], columns[i])) {
      kernel.rank[columns[i]] = NondominatedRanks::no_front;
    }
  }
}

}  // namespace

template <>
void launch(const MarkDuplicates& kernel, Queue& queue) {
  if (!kernel.active()) return;
  pool_of(queue).for_each(kernel.points.groups.groups,
                          [&](std::int64_t group) { mark_group(kernel, group); });
}

}  // namespace kiln::cpu
