// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "coloring_bounds.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <span>
#include <tuple>

namespace kiln::problems {
namespace {

constexpr std::int64_t most_clique_steps = 100'000'000;

std::span<const std::int32_t> neighbors(const ColoringModel& model, std::int32_t v) {
  const std::int64_t begin = model.row_begin[static_cast<std::size_t>(v)];
  const std::int64_t end = model.row_begin[static_cast<std::size_t>(v) + 1];
  return {model.neighbor.data() + begin, static_cast<std::size_t>(end - begin)};
}

std::int64_t degree(const ColoringModel& model, std::int32_t v) {
  return static_cast<std::int64_t>(neighbors(model, v).size());
}

// Colours beside one vertex. As many bits as it takes: never more than the vertex has neighbours.
class ColorSet {
 public:
  // Whether it was new.
  bool add(std::int32_t color) {
    const auto word = static_cast<std::size_t>(color / 64);
    const std::uint64_t bit = std::uint64_t{1} << (color % 64);
    if (word >= words_.size()) words_.resize(word + 1, 0);
    const bool had = (words_[word] & bit) != 0;
    words_[word] |= bit;
    return !had;
  }
  std::int32_t least_free() const {
    std::int32_t color = 0;
    for (const std::uint64_t word : words_) {
      for (std::uint64_t left = word; (left & 1) != 0; left >>= 1) ++color;
      if (word != ~std::uint64_t{0}) break;
    }
    return color;
  }

 private:
  std::vector<std::uint64_t> words_;
};

std::vector<std::int32_t> by_degree(const ColoringModel& model) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(model.vertices));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::int32_t v) { return degree(model, v); });
  return order;
}

}  // namespace

void take_graph(const Graph& graph, ColoringModel& model) {
  model.vertices = graph.n_vertices;
  model.row_begin.assign(static_cast<std::size_t>(graph.n_vertices) + 1, 0);
  for (const Edge& e : graph.edges) {
    ++model.row_begin[static_cast<std::size_t>(e.u) + 1];
    ++model.row_begin[static_cast<std::size_t>(e.v) + 1];
  }
  std::partial_sum(model.row_begin.begin(), model.row_begin.end(), model.row_begin.begin());
  std::vector<std::int64_t> place(model.row_begin.begin(), model.row_begin.end() - 1);
  model.neighbor.resize(2 * graph.edges.size());
  const auto put = [&](std::int32_t v, std::int32_t other) {
    model.neighbor[static_cast<std::size_t>(place[static_cast<std::size_t>(v)]++)] = other;
  };
  // Edges are sorted by (u, v), so the smaller neighbours of a vertex come first, both in order.
  for (const Edge& e : graph.edges) put(e.v, e.u);
  for (const Edge& e : graph.edges) put(e.u, e.v);
}

std::vector<std::int32_t> greedy_coloring(const ColoringModel& model) {
  using Rank = std::tuple<std::int32_t, std::int64_t, std::int32_t>;  // the least comes next
  const auto n = static_cast<std::size_t>(model.vertices);
  std::vector<std::int32_t> color(n, -1), saturation(n, 0);
  std::vector<ColorSet> beside(n);
  const auto rank = [&](std::int32_t v) {
    return Rank{-saturation[static_cast<std::size_t>(v)], -degree(model, v), v};
  };
  std::set<Rank> open;
  for (std::int32_t v = 0; v < model.vertices; ++v) open.insert(rank(v));
  while (!open.empty()) {
    const std::int32_t v = std::get<2>(*open.begin());
    open.erase(open.begin());
    const std::int32_t own = beside[static_cast<std::size_t>(v)].least_free();
    color[static_cast<std::size_t>(v)] = own;
    for (const std::int32_t u : neighbors(model, v)) {
      const auto i = static_cast<std::size_t>(u);
      if (color[i] >= 0) continue;
      const Rank before = rank(u);
      if (!beside[i].add(own)) continue;
      open.erase(before);
      ++saturation[i];
      open.insert(rank(u));
    }
  }
  return color;
}

std::int32_t greedy_clique(const ColoringModel& model) {
  const std::vector<std::int32_t> order = by_degree(model);
  std::vector<std::int32_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
  }
  // Whose neighbour a vertex was last marked as: what an earlier clique marked is still right.
  std::vector<std::int32_t> mark(order.size(), -1), candidates, left;
  std::int32_t best = 0;
  std::int64_t steps = 0;
  for (const std::int32_t start : order) {
    if (degree(model, start) < best || steps > most_clique_steps) break;
    std::int32_t size = 1;
    const auto first = neighbors(model, start);
    candidates.assign(first.begin(), first.end());
    while (!candidates.empty()) {
      const std::int32_t next = *std::ranges::min_element(
          candidates, std::ranges::less{},
          [&](std::int32_t v) { return place[static_cast<std::size_t>(v)]; });
      ++size;
      for (const std::int32_t u : neighbors(model, next)) mark[static_cast<std::size_t>(u)] = next;
      left.clear();
      for (const std::int32_t v : candidates) {
        if (mark[static_cast<std::size_t>(v)] == next) left.push_back(v);
      }
      steps += 2 * static_cast<std::int64_t>(candidates.size()) + degree(model, next);
      candidates.swap(left);
    }
    best = std::max(best, size);
  }
  return std::max(best, 1);
}

std::vector<std::int32_t> fold_coloring(const ColoringModel& model,
                                        std::vector<std::int32_t> coloring, std::int32_t values) {
  std::vector<std::int32_t> count(static_cast<std::size_t>(values));
  for (std::int32_t v = 0; v < model.vertices; ++v) {
    std::int32_t& own = coloring[static_cast<std::size_t>(v)];
    if (own < values) continue;
    std::ranges::fill(count, 0);
    for (const std::int32_t u : neighbors(model, v)) {
      const std::int32_t color = coloring[static_cast<std::size_t>(u)];
      if (color < values) ++count[static_cast<std::size_t>(color)];
    }
    own = static_cast<std::int32_t>(std::ranges::min_element(count) - count.begin());
  }
  return coloring;
}

}  // namespace kiln::problems
