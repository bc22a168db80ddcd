// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kiln/host_threads.hpp"
#include "kiln/large_vector.hpp"
#include "kiln/problems/graph.hpp"

namespace kiln::problems {

/// The neighbours of each variable. Couplings are sorted by their first variable, so those that
/// lead forwards lie side by side; only those that lead back need a list.
/// @tparam Index  counts couplings
template <class Index>
class Neighbors {
 public:
  /// @param couplings  sorted by u, with u < v; must outlive the object
  Neighbors(const std::vector<Edge>& couplings, std::int32_t n)
      : couplings_(couplings),
        forward_(static_cast<std::size_t>(n) + 1),
        back_(static_cast<std::size_t>(n) + 1),
        list_(couplings.size()) {
    find_forward();
    list_back();
  }

  std::int32_t n() const { return static_cast<std::int32_t>(forward_.size()) - 1; }
  std::int64_t degree(std::int32_t v) const {
    const auto i = static_cast<std::size_t>(v);
    return static_cast<std::int64_t>(forward_[i + 1] - forward_[i] + back_[i + 1] - back_[i]);
  }

  /// visit(neighbour, weight) for the neighbours before v, in their order.
  template <class Visit>
  void for_each_before(std::int32_t v, Visit visit) const {
    const auto i = static_cast<std::size_t>(v);
    for (Index k = back_[i]; k < back_[i + 1]; ++k) {
      const Edge& e = couplings_[list_[k]];
      visit(e.u, e.weight);
    }
  }
  /// The same for all neighbours.
  template <class Visit>
  void for_each(std::int32_t v, Visit visit) const {
    for_each_before(v, visit);
    const auto i = static_cast<std::size_t>(v);
    for (Index k = forward_[i]; k < forward_[i + 1]; ++k) {
      visit(couplings_[k].v, couplings_[k].weight);
    }
  }

 private:
  // Variables that one task lists, and where their lists begin.
  struct Part {
    std::int32_t begin, end;
    Index first;
  };
  // The last variables of the couplings of a block.
  struct Range {
    std::int32_t lowest = std::numeric_limits<std::int32_t>::max(), highest = -1;
  };
  static constexpr std::int64_t block_size = elements_for_a_thread;

  void find_forward() {
    const std::int64_t m = std::ssize(couplings_);
    const auto u = [&](std::int64_t k) { return couplings_[static_cast<std::size_t>(k)].u; };
    const auto begin_from = [&](std::int32_t after, std::int32_t last, std::int64_t k) {
      for (std::int32_t v = after + 1; v <= last; ++v) {
        forward_[static_cast<std::size_t>(v)] = static_cast<Index>(k);
      }
    };
    for_each_block(m, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
      std::int32_t last = begin == 0 ? -1 : u(begin - 1);
      for (std::int64_t k = begin; k < end; ++k) {
        begin_from(last, u(k), k);
        last = u(k);
      }
    });
    begin_from(m == 0 ? -1 : u(m - 1), n(), m);
  }

  // Each task lists some variables, and skips the blocks of couplings that lead to none of them.
  void list_back() {
    const std::int64_t m = std::ssize(couplings_);
    const std::vector<Range> ranges = of_each_block(m, [&](std::int64_t begin, std::int64_t end) {
      Range range;
      for (std::int64_t k = begin; k < end; ++k) {
        const std::int32_t v = couplings_[static_cast<std::size_t>(k)].v;
        range = {std::min(range.lowest, v), std::max(range.highest, v)};
      }
      return range;
    });
    std::vector<Part> parts = parts_of(m);
    const auto each_part = [&](auto task) {
      const int threads = static_cast<int>(parts.size());
      for_each_on_threads(threads, threads,
                          [&](std::int64_t i) { task(parts[static_cast<std::size_t>(i)]); });
    };
    // back_[v + 1] counts the couplings that lead from v, then is the place for the next of them,
    // and in the end the place behind the last.
    back_[0] = 0;
    each_part([&](Part& part) {
      std::fill(back_.begin() + part.begin + 1, back_.begin() + part.end + 1, Index{0});
      for_each_of(part, ranges, [&](std::size_t v, Index) { ++back_[v + 1]; });
      for (std::int32_t v = part.begin; v < part.end; ++v) {
        part.first += back_[static_cast<std::size_t>(v) + 1];
      }
    });
    Index next = 0;
    for (Part& part : parts) next += std::exchange(part.first, next);
    each_part([&](Part& part) {
      Index place = part.first;
      for (std::int32_t v = part.begin; v < part.end; ++v) {
        place += std::exchange(back_[static_cast<std::size_t>(v) + 1], place);
      }
      for_each_of(part, ranges, [&](std::size_t v, Index k) { list_[back_[v + 1]++] = k; });
    });
  }

  std::vector<Part> parts_of(std::int64_t m) const {
    const std::int64_t threads = m < 4 * block_size ? 1 : HostThreads::count();
    const std::int64_t n_parts = std::clamp<std::int64_t>(threads, 1, 64);
    std::vector<Part> parts;
    for (std::int64_t i = 0; i < n_parts; ++i) {
      parts.push_back({static_cast<std::int32_t>(n() * i / n_parts),
                       static_cast<std::int32_t>(n() * (i + 1) / n_parts), 0});
    }
    return parts;
  }

  // visit(v, coupling) for the couplings whose last variable belongs to a part, in their order.
  template <class Visit>
  void for_each_of(const Part& part, const std::vector<Range>& ranges, Visit visit) const {
    const std::size_t m = couplings_.size();
    for (std::size_t block = 0; block < ranges.size(); ++block) {
      const Range& range = ranges[block];
      if (range.highest < part.begin || range.lowest >= part.end) continue;
      const bool all = range.lowest >= part.begin && range.highest < part.end;
      const std::size_t begin = block * block_size, end = std::min(m, begin + block_size);
      for (std::size_t k = begin; k < end; ++k) {
        const std::int32_t v = couplings_[k].v;
        if (all || (v >= part.begin && v < part.end)) {
          visit(static_cast<std::size_t>(v), static_cast<Index>(k));
        }
      }
    }
  }

  const std::vector<Edge>& couplings_;
  LargeVector<Index> forward_, back_;  // [n + 1]
  LargeVector<Index> list_;            // couplings, by their last variable
};

}  // namespace kiln::problems
