// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "coloring/coloring_bounds.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <span>

namespace kiln::problems {
namespace {

constexpr std::int64_t max_clique_steps = 100'000'000;

std::span<const std::int32_t> neighbors(const ColoringModel& model, std::int32_t v) {
  const std::int64_t begin = model.row_begin[static_cast<std::size_t>(v)];
  const std::int64_t end = model.row_begin[static_cast<std::size_t>(v) + 1];
  return {model.neighbor.data() + begin, static_cast<std::size_t>(end - begin)};
}

std::int64_t degree(const ColoringModel& model, std::int32_t v) {
  return static_cast<std::int64_t>(neighbors(model, v).size());
}

// Colours beside one vertex. As many bits as it takes: never more than the vertex has neighbours,
// and no memory of their own for the first ones, since most vertices of large graphs have few.
class ColorSet {
 public:
  // Whether it was new.
  bool add(std::int32_t color) {
    const auto index = static_cast<std::size_t>(color / 64);
    const std::uint64_t bit = std::uint64_t{1} << (color % 64);
    if (index > more_.size()) more_.resize(index, 0);
    std::uint64_t& word = index == 0 ? first_ : more_[index - 1];
    const bool had = (word & bit) != 0;
    word |= bit;
    return !had;
  }
  std::int32_t min_free() const {
    std::int32_t color = std::countr_one(first_);
    for (std::size_t i = 0; i < more_.size() && color == static_cast<int>(64 * (i + 1)); ++i) {
      color += std::countr_one(more_[i]);
    }
    return color;
  }

 private:
  std::uint64_t first_ = 0;
  std::vector<std::uint64_t> more_;
};

std::vector<std::int32_t> by_degree(const ColoringModel& model) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(model.vertices));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::int32_t v) { return degree(model, v); });
  return order;
}

// Vertices without a colour by how many colours are beside them, and then by their place in an
// order. Entries of before stay behind and are passed over.
class OpenVertices {
 public:
  explicit OpenVertices(const std::vector<std::int32_t>& order)
      : order_(order), place_(order.size()), saturation_(order.size(), 0), by_saturation_(1) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      place_[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
    }
    by_saturation_[0].resize(order.size());
    std::iota(by_saturation_[0].begin(), by_saturation_[0].end(), 0);  // rising: a heap
  }

  /// The vertex with the most colours beside it, the first of them in the order. There must be one.
  std::int32_t take() {
    for (;;) {
      std::vector<std::int32_t>& heap = by_saturation_[most_];
      ++steps_;
      if (heap.empty()) {
        --most_;
        continue;
      }
      std::ranges::pop_heap(heap, std::greater{});
      const std::int32_t v = order_[static_cast<std::size_t>(heap.back())];
      heap.pop_back();
      std::int32_t& saturation = saturation_[static_cast<std::size_t>(v)];
      if (saturation != static_cast<std::int32_t>(most_)) continue;
      saturation = -1;
      return v;
    }
  }

  /// A colour more is beside a vertex that was not taken.
  void raise(std::int32_t v) {
    const auto now = static_cast<std::size_t>(++saturation_[static_cast<std::size_t>(v)]);
    if (now == by_saturation_.size()) by_saturation_.emplace_back();
    by_saturation_[now].push_back(place_[static_cast<std::size_t>(v)]);
    std::ranges::push_heap(by_saturation_[now], std::greater{});
    most_ = std::max(most_, now);
    ++steps_;
  }

  std::int64_t steps() const { return steps_; }

 private:
  const std::vector<std::int32_t>& order_;
  std::vector<std::int32_t> place_, saturation_;          // of each vertex; -1: it was taken
  std::vector<std::vector<std::int32_t>> by_saturation_;  // heaps of places, the least first
  std::size_t most_ = 0;
  std::int64_t steps_ = 0;
};

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

GreedyColoring greedy_coloring(const ColoringModel& model, std::int64_t max_steps) {
  const auto n = static_cast<std::size_t>(model.vertices);
  const std::vector<std::int32_t> order = by_degree(model);
  GreedyColoring greedy{std::vector<std::int32_t>(n, -1), 0};
  std::vector<std::int32_t>& color = greedy.colors;
  std::vector<ColorSet> beside(n);
  OpenVertices open(order);
  const auto give_color = [&](std::int32_t v, bool counts) {
    const std::int32_t own = beside[static_cast<std::size_t>(v)].min_free();
    color[static_cast<std::size_t>(v)] = own;
    for (const std::int32_t u : neighbors(model, v)) {
      const auto i = static_cast<std::size_t>(u);
      if (color[i] < 0 && beside[i].add(own) && counts) open.raise(u);
    }
    greedy.steps += 1 + degree(model, v);
  };
  std::int64_t left = model.vertices;
  for (; left > 0 && greedy.steps + open.steps() < max_steps; --left) give_color(open.take(), true);
  greedy.steps += open.steps();
  for (const std::int32_t v : order) {
    if (left > 0 && color[static_cast<std::size_t>(v)] < 0) give_color(v, false);
  }
  return greedy;
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
    if (degree(model, start) < best || steps > max_clique_steps) break;
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
