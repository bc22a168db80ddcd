// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The body of the sweep by planes: neighbours are counted site by site; draws are compared and
// energies added up for all replicas of the words of a pack of sites at once. Included by one
// translation unit per instruction set; everything is in an unnamed namespace, see SliceJob.
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/sweeps/plane_count.hpp"
#include "kernels/sweeps/plane_lanes.hpp"
#include "kernels/sweeps/plane_sums.hpp"
#include "kernels/sweeps/plane_tables.hpp"
#include "kernels/sweeps/slice_tile_impl.hpp"

namespace kiln::cpu {
namespace {

// W words of the sites of a pack, lane g W + w for word w of site g.
template <int W>
struct PackOf {
  static constexpr int V = PlaneDraws<W>::V;
  static constexpr int sites = V / W;
  using Bits = Slice<V>;

  PlanePack pack;
  // The number u of each replica, as GroupSite has it: its highest plane says whether a flip raises
  // the energy, and then the others are the level.
  Bits number[PackCounter<W, V>::kMost];
  Bits own, accepted;
  alignas(64) std::uint32_t site[V];
  alignas(64) std::int32_t start[V];

  std::uint32_t level_of(int lane, std::uint32_t replica) const {
    std::uint32_t level = 0;
    for (int k = 0; k + 1 < pack.n_planes; ++k) {
      level |= (reinterpret_cast<const std::uint32_t*>(number + k)[lane] >> replica & 1u) << k;
    }
    return level;
  }
};

// The lanes that are not 0, as bits.
template <int V>
inline std::uint32_t lanes_with_bits(const Slice<V>& a) {
#if defined(__AVX512F__)
  const auto part = reinterpret_cast<__m512i>(a.part[0]);
  return _mm512_test_epi32_mask(part, part);
#else
  std::uint32_t lanes = 0;
  for (int i = 0; i < Slice<V>::n_parts; ++i) {
    const auto zero = reinterpret_cast<Ints>(a.part[i] == 0);
    lanes |= (~high_bits(zero) & ((1u << (kIntLanes - 1) << 1) - 1)) << (i * kIntLanes);
  }
  return lanes;
#endif
}

template <int W, class Tables, bool kMixedKeys = false>
struct PlaneTile : SliceTile<W> {
  using Base = SliceTile<W>;
  using Base::job;
  using Pack = PackOf<W>;
  using Bits = typename Pack::Bits;
  static constexpr int V = Pack::V;
  static constexpr bool kMixed = !std::is_same_v<Tables, OneTable>;

  explicit PlaneTile(SliceJob& j)
      : Base(j),
        words(j.scratch),
        counter(j, j.scratch),
        tables(j),
        sums(j, W, 32 - __builtin_clz(static_cast<unsigned>(j.max_local | 1)), j.n_sites) {
    std::uint32_t names[W] = {};
    std::uint64_t keys[W] = {};
    alignas(64) std::uint32_t bits[V];
    for (int w = 0; w < job.n_words; ++w) {
      names[w] = job.replica[w * kLanes] / kLanes;
      keys[w] = job.key[w * kLanes];
    }
    for (int n = 0; n <= Pack::sites; ++n) {
      for (int v = 0; v < V; ++v) bits[v] = v < n * W ? job.moves[v % W] : 0u;
      std::memcpy(&moves[n], bits, sizeof bits);
    }
    draws.prepare(keys, names, job.n_words, job.step_low, job.counter3);
    std::memset(static_cast<void*>(packs), 0, sizeof packs);
  }

  void run() {
    if (job.gathers) this->gather();
    if constexpr (W < V) {
      for (std::int32_t p = 0; p < job.order.n_packs; ++p) {
        Pack& pack = packs[n_packs];
        pack.pack = job.order.packs[p];
        count_pack(pack);
        decide_pack();
        if (pack.pack.ends_class) flip_packs();
      }
    } else {
      for (std::int32_t c = 0; c < job.n_classes; ++c) {
        for (std::int32_t s = 4 * job.class_begin[c]; s < 4 * job.class_begin[c + 1]; ++s) {
          if (job.variable[s] < 0) continue;
          count_site(packs[n_packs], s);
          decide_pack();
        }
        flip_packs();
      }
    }
    sums.finish();
    if (job.scatters) this->scatter();
  }

  // Where a vector holds several sites.
  void count_pack(Pack& pack) {
    const PlanePlace* const places = job.order.places + pack.pack.first;
    for (int g = 0; g < pack.pack.n_sites; ++g) take_site(pack, g, places[g].site, places[g].start);
    if (pack.pack.side_by_side) return counter.count(pack.pack, places, pack.number);
    for (int g = 0; g < pack.pack.n_sites; ++g) count_row_of(pack, g, places[g].site);
  }
  // Where it holds one. Loops over all planes have a fixed length: else the compiler fills and
  // copies with an instruction for strings, which takes long to begin.
  void count_site(Pack& pack, std::int32_t site) {
    const SliceSite& row = job.sites[site];
    const NumberShape number = number_shape(row, static_cast<std::int32_t>(job.field[site]));
    pack.pack.n_sites = 1;
    pack.pack.n_planes = static_cast<std::uint8_t>(number.n_planes);
    pack.pack.even = number.even;
    const std::int32_t start = start_of_number(row, number.n_planes, number.even);
    take_site(pack, 0, site, start);
    for (int k = 0; k < kMaxNumberPlanes; ++k) pack.number[k] = slice_of<V>((start >> k & 1) != 0);
    add_row<V>(job, row, neighbor(), pack.number, number.n_planes);
  }

  void take_site(Pack& pack, int g, std::int32_t site, std::int32_t start) {
    put(pack.own, g, words + site * W);
    for (int w = 0; w < W; ++w) {
      pack.site[g * W + w] = static_cast<std::uint32_t>(site);
      pack.start[g * W + w] = start;
    }
  }
  void count_row_of(Pack& pack, int g, std::int32_t site) {
    Row planes[kMaxNumberPlanes];
    for (Row& plane : planes) plane = slice_of<kRow>(false);
    add_row<kRow>(job, job.sites[site], neighbor(), planes, pack.pack.n_planes);
    for (int k = 0; k < kMaxNumberPlanes; ++k) put(pack.number[k], g, planes + k);
  }
  auto neighbor() const {
    return [this](std::uint32_t site) { return load_row(words + site * W); };
  }
  static void put(Bits& to, int g, const void* from) {
    std::memcpy(reinterpret_cast<std::uint32_t*>(&to) + g * W, from, 4 * W);
  }

  // Decides the pack behind those that are decided.
  void decide_pack() {
    decide(n_packs++);
    if (n_packs == kPacks) flip_packs();
  }

  // Neighbours, start and the own bit add up to the number.
  void finish_number(Pack& pack) const {
    using Part = typename Bits::Part;
    const int n = pack.pack.n_planes;
    if constexpr (W == V) {
      if (pack.pack.even) ripple(pack.number, n, 0, pack.own);
    } else {
      Part starts;
      std::memcpy(&starts, pack.start, sizeof starts);
      Bits carry = pack.pack.even ? pack.own : slice_of<V>(false);
      for (int k = 0; k < n; ++k) {
        const Bits start{{Part{} - (starts >> k & 1u)}};
        carry = full_add(pack.number[k], start, carry);
      }
    }
    for (int k = 0; k < n; ++k) pack.number[k] = pack.number[k] ^ pack.own;
  }

  // The replicas whose attempts are accepted, but for ties.
  void decide(int index) {
    Pack& pack = packs[index];
    const bool even = pack.pack.even;
    const PlaneTable& table = tables.of_any[even ? 1 : 0];
    alignas(64) Bits random[kPlanes];
    if (table.n_levels > 0) draws.draw(pack.site, random);
    finish_number(pack);
    const Bits up = pack.number[pack.pack.n_planes - 1];
    if (table.n_levels == 0) {
      pack.accepted = up ^ slice_of<V>(true);
      return;
    }
    Bits below = slice_of<V>(false), equal = up & moves[pack.pack.n_sites];
    levels.split(pack.number, pack.pack.n_planes, table.n_high);
    for (int k = 0; k < kPlanes; ++k) {
      const Bits high = levels.high(tables, even, k);
      below = less(random[k], high, below);
      equal = and_same(equal, random[k], high);
    }
    pack.accepted = or_not(below, up);
    const std::uint32_t lanes = lanes_with_bits(equal);
    if (lanes != 0) queue_ties(index, lanes, equal);
  }

  void queue_ties(int index, std::uint32_t lanes, const Bits& equal) {
    const auto* const ties = reinterpret_cast<const std::uint32_t*>(&equal);
    for (; lanes != 0; lanes &= lanes - 1) {
      const int lane = __builtin_ctz(lanes);
      for (std::uint32_t left = ties[lane]; left != 0; left &= left - 1) {
        const auto bit = static_cast<std::uint32_t>(__builtin_ctz(left));
        tie_at[n_ties] = {static_cast<std::uint8_t>(index), static_cast<std::uint8_t>(lane),
                          static_cast<std::uint8_t>(bit)};
        tie_site[n_ties] = packs[index].site[lane];
        tie_replica[n_ties++] = job.replica[lane % W * kLanes + static_cast<int>(bit)];
      }
    }
    while (n_ties >= kIntLanes) decide_ties();
  }

  // Decides the last ties of the queue.
  void decide_ties() {
    const int n = n_ties < kIntLanes ? n_ties : kIntLanes;
    n_ties -= n;
    alignas(64) std::uint32_t sites[kIntLanes], replicas[kIntLanes], rest[kIntLanes];
    alignas(64) std::uint32_t keys0[kIntLanes], keys1[kIntLanes];
    for (int i = 0; i < kIntLanes; ++i) {
      const int word = kMixedKeys && i < n ? tie_at[n_ties + i].lane % W : 0;
      keys0[i] = static_cast<std::uint32_t>(job.key[word * kLanes]);
      keys1[i] = static_cast<std::uint32_t>(job.key[word * kLanes] >> 32);
    }
    std::memcpy(sites, tie_site + n_ties, sizeof sites);
    std::memcpy(replicas, tie_replica + n_ties, sizeof replicas);
    draw_rests(keys0, keys1, job.step_low, job.rest_counter3, sites, replicas, rest);
    for (int i = 0; i < n; ++i) {
      const Tie tie = tie_at[n_ties + i];
      Pack& pack = packs[tie.pack];
      const PlaneTable& table =
          job.plane_tables[(kMixed ? 2 * (tie.lane % W) : 0) + (pack.pack.even ? 1 : 0)];
      const std::uint32_t level = pack.level_of(tie.lane, tie.bit);
      const bool accepts =
          level < static_cast<std::uint32_t>(table.n_levels) && rest[i] < table.low[level];
      reinterpret_cast<std::uint32_t*>(&pack.accepted)[tie.lane] |= (accepts ? 1u : 0u) << tie.bit;
    }
  }

  // Flips the replicas that the packs accept: all are of one class.
  void flip_packs() {
    while (n_ties > 0) decide_ties();
    const int n = n_packs;
    n_packs = 0;
    bool alike = n == 8;
    for (int i = 0; i < n; ++i) {
      Pack& pack = packs[i];
      const PlanePack& of = pack.pack;
      alike = alike && of.n_planes == packs[0].pack.n_planes;
      pack.accepted = pack.accepted & moves[of.n_sites];
      const auto* const from = reinterpret_cast<const std::uint32_t*>(&pack.accepted);
      for (int g = 0; g < of.n_sites; ++g) {
        std::uint32_t* const to = words + pack.site[g * W] * W;
        for (int w = 0; w < W; ++w) to[w] ^= from[g * W + w];
      }
    }
    if (alike) return sums.add_eight_packs(packs, packs[0].pack.n_planes);
    for (int i = 0; i < n; ++i) {
      const PlanePack& of = packs[i].pack;
      sums.add(packs[i].number, of.n_planes, of.even, packs[i].accepted);
    }
  }

  // Neighbours are counted in registers of four words at least.
  static constexpr int kRow = W < 4 ? 4 : W;
  using Row = Slice<kRow>;
  static __attribute__((always_inline)) Row load_row(const std::uint32_t* from) {
    Row row;
    if constexpr (W == 1) {
      row.part[0] = typename Row::Part{from[0]};
    } else if constexpr (W == 2) {
      std::uint64_t two;
      std::memcpy(&two, from, sizeof two);
      typedef std::uint64_t Two __attribute__((vector_size(16)));
      row.part[0] = reinterpret_cast<typename Row::Part>(Two{two});
    } else {
      row = *reinterpret_cast<const Row*>(from);
    }
    return row;
  }

  struct Tie {
    std::uint8_t pack, lane, bit;
  };
  static constexpr int kPacks = 8;
  static constexpr int kTies = kIntLanes + V * kLanes;

  std::uint32_t* words;  // [n_sites][W]
  PackCounter<W, V> counter;
  PlaneDraws<W, kMixedKeys> draws;
  Tables tables;
  LevelPlanes<V> levels;
  PlaneSums<V> sums;
  alignas(64) Bits moves[Pack::sites + 1];  // of packs of so many sites
  alignas(64) Pack packs[kPacks];
  int n_packs = 0, n_ties = 0;
  Tie tie_at[kTies];
  alignas(64) std::uint32_t tie_site[kTies + kIntLanes];
  alignas(64) std::uint32_t tie_replica[kTies + kIntLanes];
};

inline void sweep_planes(SliceJob& job) {
  with_width(job, [&]<int W>() {
    using Mixed = MixedTables<W, PackOf<W>::V>;
    if (job.mixed_tables) {
      job.mixed_keys ? PlaneTile<W, Mixed, true>(job).run() : PlaneTile<W, Mixed>(job).run();
    } else {
      PlaneTile<W, OneTable>(job).run();
    }
  });
}

}  // namespace
}  // namespace kiln::cpu
