// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/pareto_dominance.hpp"

#include <algorithm>
#include <vector>

#include "launch.hpp"

namespace kiln::cpu {
namespace {

// 1 if point a dominates point b, -1 if b dominates a, else 0.
int relation(const ObjectivePoints& points, const std::vector<std::uint64_t>& key, std::int64_t a,
             std::int64_t b) {
  const std::uint64_t key_a = key[static_cast<std::size_t>(a)];
  const std::uint64_t key_b = key[static_cast<std::size_t>(b)];
  if (key_a != key_b) return key_a < key_b ? 1 : -1;
  if (key_a != 0) return 0;
  bool less = false, greater = false;
  for (std::int64_t k = 0; k < points.objectives() && !(less && greater); ++k) {
    less |= points.value(k, a) < points.value(k, b);
    greater |= points.value(k, a) > points.value(k, b);
  }
  return static_cast<int>(less && !greater) - static_cast<int>(greater && !less);
}

void compare_row(const ParetoDominance& kernel, const std::vector<std::uint64_t>& key,
                 std::int64_t group, std::int64_t row) {
  const PointGroups& groups = kernel.points.groups;
  const std::int64_t begin = groups.begin(group), count = groups.count(group);
  std::int32_t dominates = 0, dominated_by = 0;
  if (kernel.bits.data != nullptr) {
    std::fill_n(&kernel.bits(row, 0), ParetoDominance::words_of(groups.size), 0u);
  }
  if (kernel.matrix.data != nullptr) {
    std::fill_n(&kernel.matrix(row, 0), groups.size, std::int8_t{0});
  }
  for (std::int64_t j = 0; j < count; ++j) {
    const int answer = relation(kernel.points, key, row, begin + j);
    dominates += answer > 0 ? 1 : 0;
    dominated_by += answer < 0 ? 1 : 0;
    if (kernel.matrix.data != nullptr) kernel.matrix(row, j) = static_cast<std::int8_t>(answer);
    if (kernel.bits.data != nullptr && answer > 0) kernel.bits(row, j / 32) |= 1u << (j % 32);
  }
  if (kernel.dominates) kernel.dominates[row] = dominates;
  if (kernel.dominated_by) kernel.dominated_by[row] = dominated_by;
}

}  // namespace

template <>
void launch(const ParetoDominance& kernel, Queue& queue) {
  const PointGroups& groups = kernel.points.groups;
  if (!kernel.active() || groups.groups <= 0) return;
  const std::int64_t points = groups.end(groups.groups - 1);
  std::vector<std::uint64_t> key;
  for (std::int64_t p = 0; p < points; ++p) key.push_back(kernel.points.first_key(p));
  for (std::int64_t group = 0; group < groups.groups; ++group) {
    const std::int64_t begin = groups.begin(group);
    pool_of(queue).for_each(groups.count(group),
                            [&](std::int64_t i) { compare_row(kernel, key, group, begin + i); });
  }
}

}  // namespace kiln::cpu
