// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "pairwise/site_order.hpp"

namespace kiln::problems {
namespace {

std::int32_t count_colors(const LargeVector<std::int32_t>& colors) {
  std::int32_t n_colors = 0;
  for (const std::int32_t most :
       of_each_block(std::ssize(colors), [&](std::int64_t begin, std::int64_t end) -> std::int32_t {
         return 1 + *std::max_element(colors.begin() + begin, colors.begin() + end);
       })) {
    n_colors = std::max(n_colors, most);
  }
  return n_colors;
}

}  // namespace

LargeVector<std::uint32_t> order_by_color(const LargeVector<std::int32_t>& colors,
                                          const DegreeOrder& order, PairwisePlan& plan) {
  const std::int64_t n = std::ssize(colors);
  const auto n_colors = static_cast<std::size_t>(count_colors(colors));
  // With many classes, places for each block and class would take more than the model.
  const std::int64_t block_size = std::max<std::int64_t>(
      elements_for_a_thread, static_cast<std::int64_t>(n_colors) * std::int64_t{256});
  const auto color_of = [&](std::int64_t i) {
    return static_cast<std::size_t>(colors[static_cast<std::size_t>(order[i])]);
  };
  // Variables of each class in a block, then the site of the first of them.
  std::vector<std::vector<std::int32_t>> next = of_each_block(
      n,
      [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::int32_t> counts(n_colors, 0);
        for (std::int64_t i = begin; i < end; ++i) ++counts[color_of(i)];
        return counts;
      },
      block_size);
  std::vector<std::int32_t> ends;  // of the variables of each class
  std::int32_t quads = 0;
  for (std::size_t color = 0; color < n_colors; ++color) {
    std::int32_t site = 4 * quads;
    for (std::vector<std::int32_t>& counts : next) site += std::exchange(counts[color], site);
    ends.push_back(site);
    quads = (site + 3) / 4;
    plan.class_begin.push_back(quads);
  }
  plan.variable.resize(static_cast<std::size_t>(4) * static_cast<std::size_t>(quads));
  for (const std::int32_t end : ends) {
    std::fill(plan.variable.begin() + end, plan.variable.begin() + (end + 3) / 4 * 4, -1);
  }
  LargeVector<std::uint32_t> site_of(static_cast<std::size_t>(n));
  for_each_block(
      n,
      [&](std::int64_t begin, std::int64_t end, std::int64_t block) {
        std::vector<std::int32_t>& places = next[static_cast<std::size_t>(block)];
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int32_t site = places[color_of(i)]++;
          plan.variable[static_cast<std::size_t>(site)] = order[i];
          site_of[static_cast<std::size_t>(order[i])] = static_cast<std::uint32_t>(site);
        }
      },
      block_size);
  return site_of;
}

}  // namespace kiln::problems
