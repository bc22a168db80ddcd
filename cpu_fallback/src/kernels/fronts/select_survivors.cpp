// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/select_survivors.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "launch.hpp"

namespace kiln::cpu {
namespace {

void select_in_group(const SelectSurvivors& kernel, std::int64_t group) {
  const std::int64_t begin = kernel.groups.begin(group);
  std::vector<std::int64_t> columns(static_cast<std::size_t>(kernel.groups.size));
  std::iota(columns.begin(), columns.end(), begin);
  const auto better = [&](std::int64_t a, std::int64_t b) {
    if (kernel.rank[a] != kernel.rank[b]) return kernel.rank[a] < kernel.rank[b];
    if (kernel.score[a] != kernel.score[b]) return kernel.score[a] > kernel.score[b];
    return a < b;
  };
  const auto kept = columns.begin() + kernel.residents;
  std::nth_element(columns.begin(), kept, columns.end(), better);
  std::vector<bool> survives(columns.size());
  for (auto c = columns.begin(); c != kept; ++c) {
    survives[static_cast<std::size_t>(*c - begin)] = true;
  }
  std::int64_t newcomer = begin + kernel.residents;
  for (std::int64_t i = 0; i < kernel.residents; ++i) {
    kernel.source[group * kernel.residents + i] = -1;
    if (survives[static_cast<std::size_t>(i)]) continue;
    while (!survives[static_cast<std::size_t>(newcomer - begin)]) ++newcomer;
    kernel.settle(group, begin + i, newcomer++);
  }
}

}  // namespace

template <>
void launch(const SelectSurvivors& kernel, Queue& queue) {
  if (!kernel.active()) return;
  pool_of(queue).for_each(kernel.groups.groups,
                          [&](std::int64_t group) { select_in_group(kernel, group); });
}

}  // namespace kiln::cpu
