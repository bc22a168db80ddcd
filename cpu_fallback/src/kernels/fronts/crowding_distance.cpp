// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/crowding_distance.hpp"

#include <algorithm>
#include <vector>

#include "launch.hpp"

namespace kiln::cpu {
namespace {

using Columns = std::vector<std::int64_t>;

// One objective of the points of a front.
void add_objective(const CrowdingDistance& kernel, std::int64_t objective, Columns& front) {
  const auto value = [&](std::int64_t column) { return kernel.value(objective, column); };
  std::sort(front.begin(), front.end());
  std::stable_sort(front.begin(), front.end(),
                   [&](std::int64_t a, std::int64_t b) { return value(a) < value(b); });
  const double least = value(front.front()), greatest = value(front.back());
  if (!(least < greatest)) return;
  kernel.distance[front.front()] = kernel.distance[front.back()] = exact::infinity();
  for (std::size_t i = 1; i + 1 < front.size(); ++i) {
    kernel.distance[front[i]] +=
        CrowdingDistance::term(value(front[i - 1]), value(front[i + 1]), least, greatest);
  }
}

void spread_front(const CrowdingDistance& kernel, Columns& front) {
  if (front.size() <= 2) {
    for (const std::int64_t column : front) kernel.distance[column] = exact::infinity();
    return;
  }
  for (std::int64_t k = 0; k < kernel.value.rows; ++k) add_objective(kernel, k, front);
}

void spread_group(const CrowdingDistance& kernel, std::int64_t group) {
  Columns columns;
  for (std::int64_t c = kernel.groups.begin(group); c < kernel.groups.end(group); ++c) {
    kernel.distance[c] = 0;
    if (kernel.rank[c] != NondominatedRanks::no_front) columns.push_back(c);
  }
  std::stable_sort(columns.begin(), columns.end(),
                   [&](std::int64_t a, std::int64_t b) { return kernel.rank[a] < kernel.rank[b]; });
  for (auto begin = columns.begin(); begin != columns.end();) {
    const auto end = std::find_if(begin, columns.end(), [&](std::int64_t c) {
      return kernel.rank[c] != kernel.rank[*begin];
    });
    Columns front(begin, end);
    spread_front(kernel, front);
    begin = end;
  }
}

}  // namespace

template <>
void launch(const CrowdingDistance& kernel, Queue& queue) {
  if (!kernel.active()) return;
  pool_of(queue).for_each(kernel.groups.groups,
                          [&](std::int64_t group) { spread_group(kernel, group); });
}

}  // namespace kiln::cpu
