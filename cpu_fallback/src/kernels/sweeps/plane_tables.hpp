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

// For some lanes of a vector all bits, or none.
template <int V>
struct LaneMask {
#if defined(__AVX512F__)
  static_assert(V == kIntLanes);
  std::uint16_t lanes = 0;
  void set(int lane) { lanes = static_cast<std::uint16_t>(lanes | 1u << lane); }
  Slice<V> or_selected(const Slice<V>& a, const Slice<V>& b) const {
    using Part = typename Slice<V>::Part;
    const auto old = reinterpret_cast<__m512i>(a.part[0]);
    return {reinterpret_cast<Part>(
        _mm512_mask_or_epi32(old, lanes, old, reinterpret_cast<__m512i>(b.part[0])))};
  }
#else
  Slice<V> lanes{};
  void set(int lane) { reinterpret_cast<std::uint32_t*>(&lanes)[lane] = ~0u; }
  Slice<V> or_selected(const Slice<V>& a, const Slice<V>& b) const { return or_and(a, b, lanes); }
#endif
};

// The levels of W words with different tables, and the lanes that have bit k of `high` at a level.
template <int W, int V>
struct MixedTables {
  PlaneTable of_any[2];
  LaneMask<V> with_bit[2][kPlanes][PlaneTable::max_levels];

  explicit MixedTables(const SliceJob& job) {
    for (int even = 0; even < 2; ++even) {
      for (int w = 0; w < job.n_words; ++w) join(of_any[even], job.plane_tables[2 * w + even]);
      for (auto& levels : with_bit[even]) {
        for (int level = 0; level < of_any[even].n_high; ++level) levels[level] = {};
      }
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
          LaneMask<V>& mask = with_bit[even][k][64 * half + __builtin_ctzll(left)];
          for (int v = w; v < V; v += W) mask.set(v);
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
    halves = n_levels > 64 ? 2 : n_levels > 0 ? 1 : 0;
    if (n_levels == 0) return;
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
    for (int half = 0; half < halves; ++half) {
      std::uint64_t left = tables.of_any[even ? 1 : 0].with_bit[k][half];
      for (; left != 0; left &= left - 1) {
        const int level = 64 * half + __builtin_ctzll(left);
#if defined(__AVX512VL__)
        // An instruction adds two levels.
        if ((left & (left - 1)) != 0) {
          left &= left - 1;
          const int next = 64 * half + __builtin_ctzll(left);
          plane = or3(plane, of_level[level], of_level[next]);
          continue;
        }
#endif
        plane = plane | of_level[level];
      }
    }
    return plane;
  }
  template <int W>
  Bits high(const MixedTables<W, V>& tables, bool even, int k) const {
    Bits plane = slice_of<V>(false);
    for (int half = 0; half < halves; ++half) {
      for (std::uint64_t left = tables.of_any[even].with_bit[k][half]; left != 0;
           left &= left - 1) {
        const int level = 64 * half + __builtin_ctzll(left);
        plane = tables.with_bit[even][k][level].or_selected(plane, of_level[level]);
      }
    }
    return plane;
  }

  int halves = 0;  // of the levels
  alignas(64) Bits of_level[PlaneTable::max_levels];
};

}  // namespace
}  // namespace kiln::cpu
