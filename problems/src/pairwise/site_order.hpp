// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "kiln/host_threads.hpp"
#include "kiln/large_vector.hpp"

#include "pairwise/neighbors.hpp"
#include "pairwise/pairwise_objective.hpp"

namespace kiln::problems {

/// Variables of the highest degree first; of equal degree in their order.
class DegreeOrder {
 public:
  template <class Index>
  explicit DegreeOrder(const Neighbors<Index>& lists) : n_(lists.n()) {
    struct Extremes {
      std::int64_t lowest, highest;
    };
    Extremes all{std::int64_t{1} << 62, 0};
    for (const Extremes& e : of_each_block(n_, [&](std::int64_t begin, std::int64_t end) {
           Extremes some = all;
           for (std::int64_t v = begin; v < end; ++v) {
             const std::int64_t degree = lists.degree(static_cast<std::int32_t>(v));
             some = {std::min(some.lowest, degree), std::max(some.highest, degree)};
           }
           return some;
         })) {
      all = {std::min(all.lowest, e.lowest), std::max(all.highest, e.highest)};
    }
    highest_ = all.highest;
    if (all.lowest != all.highest) sort(lists);
  }

  std::int64_t highest_degree() const { return highest_; }
  /// Whether variable i is the i-th.
  bool is_natural() const { return order_.empty(); }
  std::int32_t operator[](std::int64_t i) const {
    return is_natural() ? static_cast<std::int32_t>(i) : order_[static_cast<std::size_t>(i)];
  }

 private:
  template <class Index>
  void sort(const Neighbors<Index>& lists) {
    std::vector<std::int32_t> next(static_cast<std::size_t>(highest_) + 2, 0);
    const auto fall = [&](std::int32_t v) {
      return static_cast<std::size_t>(highest_ - lists.degree(v));
    };
    for (std::int32_t v = 0; v < n_; ++v) ++next[fall(v) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    order_.resize(static_cast<std::size_t>(n_));
    for (std::int32_t v = 0; v < n_; ++v) order_[static_cast<std::size_t>(next[fall(v)]++)] = v;
  }

  std::int32_t n_;
  std::int64_t highest_ = 0;
  LargeVector<std::int32_t> order_;  // empty: natural
};

/// Gives each variable, in `order`, the lowest colour that none of its neighbours has; returns
/// nothing if more than `most` colours would be needed.
template <class Index>
LargeVector<std::int32_t> greedy_colors(const Neighbors<Index>& lists, const DegreeOrder& order,
                                        std::int32_t most) {
  constexpr std::int32_t in_word = 64;
  LargeVector<std::int32_t> colors;
  if (most == 0) return colors;
  colors.resize(static_cast<std::size_t>(lists.n()));
  if (!order.is_natural()) {
    for_each_block(lists.n(), [&](std::int64_t begin, std::int64_t end, std::int64_t) {
      std::fill(colors.begin() + begin, colors.begin() + end, -1);
    });
  }
  std::vector<std::int32_t> used;  // [most], from in_word on
  for (std::int64_t i = 0; i < lists.n(); ++i) {
    const std::int32_t v = order[i];
    std::uint64_t low = 0;
    const auto look = [&](std::int32_t neighbor, double) {
      const std::int32_t color = colors[static_cast<std::size_t>(neighbor)];
      if (color < 0) return;
      if (color < in_word) {
        low |= std::uint64_t{1} << color;
      } else {
        used[static_cast<std::size_t>(color)] = v;
      }
    };
    if (order.is_natural()) {
      lists.for_each_before(v, look);  // the others have no colour yet
    } else {
      lists.for_each(v, look);
    }
    std::int32_t color = std::countr_one(low);
    if (color == in_word) {
      while (color < most && !used.empty() && used[static_cast<std::size_t>(color)] == v) ++color;
    }
    if (color >= most) return {};
    if (color >= in_word && used.empty()) used.assign(static_cast<std::size_t>(most), -1);
    colors[static_cast<std::size_t>(v)] = color;
  }
  return colors;
}

/// Lays the classes out one after the other, each in `order`, with -1 where its last quad is filled
/// up. Fills in the classes and the variables of the plan.
/// @return the site of each variable
LargeVector<std::uint32_t> order_by_color(const LargeVector<std::int32_t>& colors,
                                          const DegreeOrder& order, PairwisePlan& plan);

}  // namespace kiln::problems
