// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/coloring_tabu.hpp"

#include "kernels/grid.cuh"

/// The moves of ColoringTabu with the tables of a replica in the shared memory of a block.
///
/// Memory lists the vertices with conflicts, so that a move looks at these alone: one thread for
/// each pair of a vertex and a colour. Counts take one or two bytes. A tabu entry is the number of
/// moves of this launch after which it ends; entries that had ended before are 0 and stay in global
/// memory what they were.
namespace kiln::cuda::tabu {

/// Sizes of the tables of one replica, in a block.
struct Shape {
  std::int32_t vertices = 0, values = 0;
  std::int32_t count_bytes = 1;  ///< of a number of neighbours

  __host__ __device__ std::int64_t table() const {
    return static_cast<std::int64_t>(vertices) * values;
  }
  __host__ __device__ std::int64_t bytes() const {
    return 4 * ((vertices + 1) + (table() * count_bytes + 3) / 4 + (table() + 1) / 2 +
                4 * ((static_cast<std::int64_t>(vertices) + 1) / 2));
  }
};

inline constexpr std::uint16_t not_listed = 0xFFFF;

/// A change of colour that a thread or a warp found: the least (change, hash) is taken.
struct Found {
  std::int32_t change = INT32_MAX;
  std::uint32_t hash = ~0u;
  std::uint32_t pair = ~0u;  ///< vertex in the upper half, colour in the lower half

  __device__ bool any() const { return change != INT32_MAX; }
  __device__ bool before(const Found& other) const {
    return change < other.change || (change == other.change && hash < other.hash);
  }
  /// The least of a warp.
  __device__ Found of_warp() const {
    Found least;
    least.change = __reduce_min_sync(full_warp, change);
    const bool among = change == least.change;
    least.hash = __reduce_min_sync(full_warp, among ? hash : ~0u);
    least.pair = __reduce_min_sync(full_warp, among && hash == least.hash ? pair : ~0u);
    return least;
  }
};

/// What the threads of a block tell each other.
template <int warps>
struct Board {
  Found found[warps];
  std::int32_t listed;  ///< vertices with conflicts
  std::int32_t left;    ///< vertices that a move rid of their conflicts
};

template <class Count, int warps>
class Search {
 public:
  static constexpr int threads = 32 * warps;

  __device__ Search(const ColoringTabu& kernel, std::int64_t replica, const Shape& shape,
                    std::uint32_t* memory, Board<warps>& board)
      : kernel_(kernel), at_(kernel.place_of(replica)), shape_(shape), board_(board) {
    row_begin_ = memory;
    const std::int64_t table = shape.table(), half = (shape.vertices + 1) / 2;
    std::uint32_t* next = row_begin_ + shape.vertices + 1;
    counts_ = reinterpret_cast<Count*>(next);
    next += (table * static_cast<std::int64_t>(sizeof(Count)) + 3) / 4;
    until_ = reinterpret_cast<std::uint16_t*>(next);
    next += (table + 1) / 2;
    color_ = reinterpret_cast<std::uint16_t*>(next);
    list_ = reinterpret_cast<std::uint16_t*>(next += half);
    place_ = reinterpret_cast<std::uint16_t*>(next += half);
    gone_ = reinterpret_cast<std::uint16_t*>(next += half);
  }

  /// Makes the moves of a launch; returns how many vertices changed colour.
  __device__ std::uint64_t run(ColoringWalk& now) {
    const std::uint32_t moves_before = now.moves;
    load(moves_before);
    Walk walk{static_cast<std::int32_t>(now.conflicts),
              static_cast<std::int32_t>(now.fewest_conflicts), 0};
    const std::uint64_t done = search(walk, now.colors);
    now.conflicts = walk.conflicts;
    now.fewest_conflicts = walk.fewest;
    now.moves = moves_before + walk.moves;
    store(moves_before);
    return done;
  }

 private:
  struct Walk {
    std::int32_t conflicts, fewest;
    std::uint32_t moves;  ///< of this launch
  };

  __device__ static int rank() { return static_cast<int>(threadIdx.x); }
  __device__ static void sync() { __syncthreads(); }
  __device__ std::uint32_t row(std::uint32_t vertex) const {
    return vertex * static_cast<std::uint32_t>(shape_.values);
  }

  __device__ void load(std::uint32_t moves) {
    const std::int64_t table = shape_.table();
#pragma unroll 4
    for (std::int64_t i = rank(); i < table; i += threads) {
      const std::uint32_t until = at_.tabu[i];
      counts_[i] = static_cast<Count>(at_.adjacent[i]);
      until_[i] = static_cast<std::uint16_t>(until > moves ? until - moves : 0);
    }
    if (rank() == 0) board_.listed = board_.left = 0;
    sync();
    for (std::int32_t v = rank(); v <= shape_.vertices; v += threads) {
      row_begin_[v] = static_cast<std::uint32_t>(kernel_.model.row_begin[v]);
      if (v == shape_.vertices) break;
      color_[v] = static_cast<std::uint16_t>(at_.color[v]);
      place_[v] = not_listed;
      if (at_.conflicting[v] != 0) enlist(v);
    }
    sync();
  }

  __device__ void store(std::uint32_t moves) {
    sync();
    const std::int64_t table = shape_.table();
    for (std::int64_t i = rank(); i < table; i += threads) {
      at_.adjacent[i] = counts_[i];
      if (until_[i] != 0) at_.tabu[i] = moves + until_[i];
    }
    for (std::int32_t v = rank(); v < shape_.vertices; v += threads) {
      at_.color[v] = color_[v];
      at_.conflicting[v] = place_[v] != not_listed ? 1 : 0;
    }
  }

  __device__ void enlist(std::int32_t vertex) {
    const std::int32_t place = atomicAdd(&board_.listed, 1);
    list_[place] = static_cast<std::uint16_t>(vertex);
    place_[vertex] = static_cast<std::uint16_t>(place);
  }
  /// By one thread: the last vertex of the list takes the place.
  __device__ void strike(std::uint32_t vertex, std::int32_t& listed) {
    const std::uint16_t last = list_[--listed], place = place_[vertex];
    list_[place] = last;
    place_[last] = place;
    place_[vertex] = not_listed;
  }

  __device__ std::uint64_t search(Walk& walk, std::int32_t colors) {
    const DrawName draws = kernel_.draws_of(at_.replica, ColoringTabu::move_block);
    const auto many = static_cast<std::uint32_t>(colors),
               first = static_cast<std::uint32_t>(rank());
    const Stride stride{first / many, first % many, threads / many, threads % many, many};
    std::uint64_t done = 0;
    Words4 drawn;
    for (std::uint32_t i = 0; i < kernel_.moves && walk.conflicts > 0; ++i) {
      const int lane = static_cast<int>(i % 32);
      // Each lane draws for one of the next 32 moves.
      if (lane == 0) drawn = draw_quad(draws, kernel_.first_move + i + threadIdx.x % 32);
      const std::uint32_t word = __shfl_sync(full_warp, drawn.word[0], lane);
      const std::uint32_t length = __shfl_sync(full_warp, drawn.word[1], lane);
      const std::int32_t listed = board_.listed;
      const Found best = best_move(walk, stride, static_cast<std::uint32_t>(listed), word);
      ++walk.moves;
      if (!best.any()) {
        sync();  // all have read the places of the warps, which the next move writes
        continue;
      }
      walk.conflicts += best.change;
      walk.fewest = min(walk.fewest, walk.conflicts);
      make(best.pair >> 16, best.pair & 0xFFFFu,
           walk.moves + static_cast<std::uint32_t>(listed) * kernel_.tenure_share / 1000 +
               (kernel_.tenure > 0 ? below(length, kernel_.tenure) : 0u));
      ++done;
    }
    return done;
  }

  /// How a thread goes through pairs of a place in the list and a colour.
  struct Stride {
    std::uint32_t first_place, first_color, places, colors, many;
    __device__ void advance(std::uint32_t& place, std::uint32_t& color) const {
      place += places;
      color += colors;
      if (color >= many) {
        color -= many;
        ++place;
      }
    }
  };

  __device__ Found best_move(const Walk& walk, const Stride& stride, std::uint32_t listed,
                             std::uint32_t word) {
    constexpr int at_once = 4;
    Found best;
    std::uint32_t place = stride.first_place, color = stride.first_color;
    while (place < listed) {
      std::uint32_t vertex[at_once], to[at_once];
      std::int32_t change[at_once];
      bool differs[at_once];
#pragma unroll
      for (int j = 0; j < at_once; ++j) {
        to[j] = color;
        vertex[j] = list_[min(place, listed - 1)];
        const std::uint32_t own = color_[vertex[j]], begin = row(vertex[j]);
        change[j] = static_cast<std::int32_t>(counts_[begin + color]) -
                    static_cast<std::int32_t>(counts_[begin + own]);
        differs[j] = place < listed && color != own;
        stride.advance(place, color);
      }
#pragma unroll
      for (int j = 0; j < at_once; ++j) {
        if (!differs[j] || change[j] > best.change) continue;
        const std::uint32_t index = row(vertex[j]) + to[j];
        if (until_[index] > walk.moves && walk.conflicts + change[j] >= walk.fewest) continue;
        const Found found{change[j], ColoringTabu::mixed(word, index), vertex[j] << 16 | to[j]};
        if (found.before(best)) best = found;
      }
    }
    return best_of_block(best.of_warp());
  }

  __device__ Found best_of_block(const Found& of_warp) {
    if (rank() % 32 == 0) board_.found[rank() / 32] = of_warp;
    sync();
    Found best = board_.found[0];
#pragma unroll
    for (int w = 1; w < warps; ++w) {
      if (board_.found[w].before(best)) best = board_.found[w];
    }
    return best;
  }

  /// Gives a vertex another colour; its old one is tabu until so many moves of the launch.
  __device__ void make(std::uint32_t vertex, std::uint32_t to, std::uint32_t until) {
    const std::uint32_t from = color_[vertex];
    const std::uint32_t begin = row_begin_[vertex], end = row_begin_[vertex + 1];
    const std::int32_t* const neighbor = kernel_.model.neighbor.data;
#pragma unroll 4
    for (std::uint32_t e = begin + rank(); e < end; e += threads) {
      const std::int32_t other = __ldg(neighbor + e);
      const std::uint32_t own = color_[other];
      Count* const counts = counts_ + row(static_cast<std::uint32_t>(other));
      const Count before = --counts[from], after = ++counts[to];
      if (own == from && before == 0) {
        gone_[atomicAdd(&board_.left, 1)] = static_cast<std::uint16_t>(other);
      }
      if (own == to && after == 1) enlist(other);
    }
    sync();
    if (rank() == 0) {
      std::int32_t listed = board_.listed;
      const std::int32_t left = board_.left;
      for (std::int32_t i = 0; i < left; ++i) strike(gone_[i], listed);
      if (counts_[row(vertex) + to] == 0) strike(vertex, listed);
      board_.listed = listed;
      board_.left = 0;
      color_[vertex] = static_cast<std::uint16_t>(to);
      until_[row(vertex) + from] = static_cast<std::uint16_t>(until);
    }
    sync();
  }

  const ColoringTabu& kernel_;
  const ColoringTabu::Place at_;
  const Shape& shape_;
  Board<warps>& board_;
  std::uint32_t* row_begin_;  ///< [vertices + 1]
  Count* counts_;             ///< [vertices][values], ColoringTabu::adjacent
  std::uint16_t* until_;      ///< [vertices][values]
  std::uint16_t* color_;      ///< [vertices], and the next three
  std::uint16_t* list_;       ///< vertices with conflicts, in any order
  std::uint16_t* place_;      ///< of each vertex in the list, or not_listed
  std::uint16_t* gone_;       ///< vertices that leave the list after a move
};

}  // namespace kiln::cuda::tabu
