// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The planes of thresholds of the replicas of a vector. Everything is in an unnamed namespace, see
// SliceJob.
#include <cstdint>
#include <cstring>

#include "kernels/sweeps/plane_lanes.hpp"
#include "kernels/sweeps/plane_sums.hpp"

namespace kiln::cpu {
namespace {

// The levels of W words with different tables, and the lanes that have bit k of `high` at a level.
template <int W, int V>
struct MixedTables {
  PlaneTable of_any[2];
  Slice<V> words[2][PlaneTable::max_levels][kPlanes];

  explicit MixedTables(const SliceJob& job) {
    for (int even = 0; even < 2; ++even) {
      PlaneTable& any = of_any[even];
      for (int w = 0; w < job.n_words; ++w) join(any, job.plane_tables[2 * w + even]);
      std::memset(words[even], 0, sizeof words[even][0] * static_cast<std::size_t>(any.n_high));
      for (int w = 0; w < job.n_words; ++w) add(job.plane_tables[2 * w + even], w, even);
    }
  }
  static void join(PlaneTable& any, const PlaneTable& table) {
    any.n_levels = any.n_levels > table.n_levels ? any.n_levels : table.n_levels;
    any.n_high = any.n_high > table.n_high ? any.n_high : table.n_high;
    for (int k = 0; k < kPlanes; ++k) {
      for (int half = 0; half < 2; ++half) any.with_bit[k][half] |= table.with_bit[k][half];
    }
  }
  void add(const PlaneTable& table, int w, int even) {
    for (int k = 0; k < kPlanes; ++k) {
      for (int half = 0; half < 2; ++half) {
        for (std::uint64_t left = table.with_bit[k][half]; left != 0; left &= left - 1) {
          const int level = 64 * half + __builtin_ctzll(left);
          auto* const to = reinterpret_cast<std::uint32_t*>(&words[even][level][k]);
          for (int v = w; v < V; v += W) to[v] = ~0u;
        }
      }
    }
  }
};

// The same where all words have one table.
struct OneTable {
  const PlaneTable* of_any;
  explicit OneTable(const SliceJob& job) : of_any(job.plane_tables) {}
};

template <int V>
struct LevelPlanes {
  using Bits = Slice<V>;

  // The replicas of each of the first levels, of those that go up.
  void split(const Bits* number, int n, int n_levels) {
    int bits = 0;
    while (1 << bits < n_levels) ++bits;
    Bits all = number[n - 1];
    for (int k = bits; k + 1 < n; ++k) all = and_not(all, number[k]);
    of_level[0] = all;
    for (int b = bits - 1; b >= 0; --b) {
      const bool has_plane = b + 1 < n;
      for (int j = (n_levels - 1) >> (b + 1); j >= 0; --j) {
        const Bits here = of_level[j];
        of_level[2 * j] = has_plane ? and_not(here, number[b]) : here;
        of_level[2 * j + 1] = has_plane ? here & number[b] : slice_of<V>(false);
      }
    }
  }

  // Bit k of the `high` of each replica.
  Bits high(const OneTable& tables, bool even, int k) const {
    Bits plane = slice_of<V>(false);
    for (int half = 0; half < 2; ++half) {
      std::uint64_t left = tables.of_any[even ? 1 : 0].with_bit[k][half];
      while (left != 0) {
        const int one = 64 * half + __builtin_ctzll(left);
        left &= left - 1;
        // The first of the next level is this one where there is no next.
        const int other = left == 0 ? one : 64 * half + __builtin_ctzll(left);
        left &= left - 1;
        plane = or3(plane, of_level[one], of_level[other]);
      }
    }
    return plane;
  }
  template <int W>
  Bits high(const MixedTables<W, V>& tables, bool even, int k) const {
    Bits plane = slice_of<V>(false);
    for (int half = 0; half < 2; ++half) {
      for (std::uint64_t left = tables.of_any[even].with_bit[k][half]; left != 0;
           left &= left - 1) {
        const int level = 64 * half + __builtin_ctzll(left);
        plane = or_and(plane, of_level[level], tables.words[even][level][k]);
      }
    }
    return plane;
  }

  alignas(64) Bits of_level[PlaneTable::max_levels];
};

}  // namespace
}  // namespace kiln::cpu
