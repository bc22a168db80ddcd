// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The body of the sweep by planes: neighbours are counted, draws are compared and energies are
// added up for all replicas of up to 16 words at once. Included by one translation unit per
// instruction set; everything is in an unnamed namespace, see SliceJob.
#include <cstdint>
#include <cstring>

#include "kernels/sweeps/plane_lanes.hpp"
#include "kernels/sweeps/plane_sums.hpp"
#include "kernels/sweeps/slice_tile_impl.hpp"

namespace kiln::cpu {
namespace {

// The number u of a site for each replica, as GroupSite has it: its highest plane says whether a
// flip raises the energy, and then the others are the level.
template <int W>
struct PlaneNumber {
  Slice<W> planes[kMaxNumberPlanes];
  int n = 0;  // planes
  bool even = false;

  void count(const SliceJob& job, const Slice<W>* state, std::int32_t site) {
    const SliceSite& row = job.sites[site];
    const auto field = static_cast<std::int32_t>(job.field[site]);
    const std::int32_t sum = row.base - field + (field < 0 ? -field : field);
    even = (sum & 1) == 0;
    n = 32 - __builtin_clz(static_cast<std::uint32_t>(sum + even));
    const std::int32_t start = (1 << (n - 1)) - (row.base + even + 1) / 2;
    for (int k = 0; k < n; ++k) planes[k] = slice_of<W>((start >> k & 1) != 0);
    const Slice<W> own = state[site];
    if (even) ripple(planes, n, 0, own);
    add_row(job, row, state, planes, n);
    for (int k = 0; k < n; ++k) planes[k] = planes[k] ^ own;
  }

  std::uint32_t level_of(int word, int replica) const {
    std::uint32_t level = 0;
    for (int k = 0; k + 1 < n; ++k) {
      const auto* const words = reinterpret_cast<const std::uint32_t*>(planes + k);
      level |= (words[word] >> replica & 1u) << k;
    }
    return level;
  }
};

// The sweep of words of whole numbers of 32 replicas, whatever decides their attempts.
template <int W>
struct WordsTile : SliceTile<W> {
  using Base = SliceTile<W>;
  using Base::job;
  using Base::state;
  using typename Base::Bits;

  explicit WordsTile(SliceJob& j) : Base(j), sums(j) {
    alignas(64) std::uint32_t bits[W] = {};
    for (int w = 0; w < job.n_words; ++w) {
      names[w] = job.replica[w * kLanes] / kLanes;
      bits[w] = job.moves[w];
    }
    std::memcpy(&moves, bits, sizeof moves);
  }

  // decide(site) are the replicas whose attempts are accepted, with `number` that of the site. It
  // is not called for fillers; begin(site) is called for all sites.
  template <class Begin, class Decide>
  void sweep_sites(Begin begin, Decide decide) {
    if (job.gathers) this->gather();
    for (std::int32_t site = 0; site < job.n_sites; ++site) {
      begin(site);
      if (job.variable[site] < 0) continue;
      number.count(job, state, site);
      const Bits accepted = decide(site) & moves;
      state[site] = state[site] ^ accepted;
      sums.add(number.planes, number.n, number.even, accepted);
    }
    sums.finish();
    if (job.scatters) this->scatter();
  }

  PlaneSums<W> sums;
  PlaneNumber<W> number;
  Bits moves;
  std::uint32_t names[W] = {};  // replica / 32
};

// The levels of words with different tables, and the words that have bit k of `high` at a level.
template <int W>
struct MixedTables {
  PlaneTable of_any[2];
  Slice<W> words[2][kPlanes][PlaneTable::max_levels];

  explicit MixedTables(const SliceJob& job) {
    std::memset(words, 0, sizeof words);
    for (int w = 0; w < job.n_words; ++w) {
      for (int even = 0; even < 2; ++even) add(job.plane_tables[2 * w + even], w, even);
    }
  }
  void add(const PlaneTable& table, int w, int even) {
    PlaneTable& any = of_any[even];
    any.n_levels = any.n_levels > table.n_levels ? any.n_levels : table.n_levels;
    any.n_high = any.n_high > table.n_high ? any.n_high : table.n_high;
    for (int k = 0; k < kPlanes; ++k) {
      for (int half = 0; half < 2; ++half) {
        any.with_bit[k][half] |= table.with_bit[k][half];
        for (std::uint64_t left = table.with_bit[k][half]; left != 0; left &= left - 1) {
          const int level = 64 * half + __builtin_ctzll(left);
          auto* const to = reinterpret_cast<std::uint32_t*>(&words[even][k][level]);
          to[w] = ~0u;
        }
      }
    }
  }
};
template <>
struct MixedTables<0> {
  explicit MixedTables(const SliceJob&) {}
};

template <int W, bool kMixed>
struct PlaneTile : WordsTile<W> {
  using Base = WordsTile<W>;
  using Base::job;
  using Base::names;
  using Base::number;
  using typename Base::Bits;

  explicit PlaneTile(SliceJob& j) : Base(j), mixed(j) {
    draws.prepare(job.key[0], names, job.n_words, job.step_low, job.counter3);
  }

  // The replicas of each of the first levels.
  void split_levels(int n_levels) {
    int bits = 0;
    while (1 << bits < n_levels) ++bits;
    Bits all = number.planes[number.n - 1];
    for (int k = bits; k + 1 < number.n; ++k) all = and_not(all, number.planes[k]);
    of_level[0] = all;
    for (int b = bits - 1; b >= 0; --b) {
      const bool has_plane = b + 1 < number.n;
      for (int j = (n_levels - 1) >> (b + 1); j >= 0; --j) {
        const Bits here = of_level[j];
        of_level[2 * j] = has_plane ? and_not(here, number.planes[b]) : here;
        of_level[2 * j + 1] = has_plane ? here & number.planes[b] : slice_of<W>(false);
      }
    }
  }

  // Bit k of the `high` of each replica.
  Bits high_plane(const PlaneTable& table, int k) const {
    Bits plane = slice_of<W>(false);
    for (int half = 0; half < 2; ++half) {
      for (std::uint64_t left = table.with_bit[k][half]; left != 0; left &= left - 1) {
        const int level = 64 * half + __builtin_ctzll(left);
        if constexpr (kMixed) {
          plane = plane | (of_level[level] & mixed.words[number.even ? 1 : 0][k][level]);
        } else {
          plane = plane | of_level[level];
        }
      }
    }
    return plane;
  }

  // The replicas whose attempts are accepted.
  Bits decide(std::int32_t site) {
    const PlaneTable& table = table_of_any();
    const Bits up = number.planes[number.n - 1];
    if (table.n_levels == 0 || !any(up)) return up ^ slice_of<W>(true);
    alignas(64) Bits random[kPlanes];
    draws.draw(static_cast<std::uint32_t>(site), random);
    Bits below = slice_of<W>(false), equal = up;
    if (table.n_high > 0) split_levels(table.n_high);
    for (int k = 0; k < kPlanes; ++k) {
      const Bits high = high_plane(table, k);
      below = less(random[k], high, below);
      equal = and_same(equal, random[k], high);
    }
    Bits accepted = or_not(below, up);
    if (any(equal)) accept_ties(site, equal, accepted);
    return accepted;
  }

  const PlaneTable& table_of_any() const {
    const int even = number.even ? 1 : 0;
    if constexpr (kMixed) {
      return mixed.of_any[even];
    } else {
      return job.plane_tables[even];
    }
  }

  void accept_ties(std::int32_t site, const Bits& equal, Bits& accepted) {
    const auto* const ties = reinterpret_cast<const std::uint32_t*>(&equal);
    auto* const to = reinterpret_cast<std::uint32_t*>(&accepted);
    for (int w = 0; w < job.n_words; ++w) {
      const PlaneTable& table = job.plane_tables[(kMixed ? 2 * w : 0) + (number.even ? 1 : 0)];
      for (std::uint32_t left = ties[w]; left != 0; left &= left - 1) {
        const int replica = __builtin_ctz(left);
        const std::uint32_t level = number.level_of(w, replica);
        if (level >= static_cast<std::uint32_t>(table.n_levels)) continue;
        const std::uint32_t rest = job.draw_rest(job.key[0], job.replica[w * kLanes + replica],
                                                 job.step, static_cast<std::uint32_t>(site));
        if (rest < table.low[level]) to[w] |= 1u << replica;
      }
    }
  }

  void run() {
    this->sweep_sites([](std::int32_t) {}, [this](std::int32_t site) { return decide(site); });
  }

  PlaneDraws<W> draws;
  MixedTables<kMixed ? W : 0> mixed;
  alignas(64) Bits of_level[PlaneTable::max_levels];
};

inline void sweep_planes(SliceJob& job) {
  with_width(job, [&]<int W>() {
    if (job.mixed_tables) {
      PlaneTile<W, true>(job).run();
    } else {
      PlaneTile<W, false>(job).run();
    }
  });
}

}  // namespace
}  // namespace kiln::cpu
