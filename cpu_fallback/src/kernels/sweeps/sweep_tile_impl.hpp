// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The body of the sweep with a mask for each replica, for 32 replicas at a time. Included by one
// translation unit per instruction set; everything is in an unnamed namespace, see SliceJob. Loops
// over the 32 lanes are written so that the compiler turns them into vector instructions.
#include <cstdint>
#include <cstring>
#include <optional>

#include "kernels/philox_lanes.hpp"
#include "kernels/sweeps/lane_rule.hpp"
#include "sweep_tile.hpp"

namespace kiln::cpu {
namespace {

// How a number type is stored, summed and widened. Mask: all ones where the bit of a replica is 1.
template <class Value, class Bits, class Wide>
struct Number {
  using value = Value;  // of sums
  using bits = Bits;    // of masks, as wide as value
  using wide = Wide;    // of energy changes
};
using Int8 = Number<std::int8_t, std::int8_t, std::int32_t>;
using Int16 = Number<std::int16_t, std::int16_t, std::int32_t>;
using Single = Number<float, std::int32_t, float>;
using Real = Number<double, std::int64_t, double>;

// Sum of the weights of the neighbours of `site` whose bit is 1, in the order of the row. Vectors
// are as wide as the registers of this translation unit; the language extension of GCC and Clang.
template <class N>
inline void sum_set(const TileJob& job, const typename N::bits* masks, std::int32_t site,
                    typename N::value* sum) {
  using Bits = typename N::bits;
  using Value = typename N::value;
  constexpr int row_bytes = kLanes * static_cast<int>(sizeof(Value));
  constexpr int width = row_bytes < 4 * kIntLanes ? row_bytes : 4 * kIntLanes;
  constexpr int parts = row_bytes / width;
  typedef Value Values __attribute__((vector_size(width)));
  typedef Bits Masks __attribute__((vector_size(width)));
  Values total[parts] = {};
  const std::int64_t end = job.row_begin[site + 1];
  for (std::int64_t e = job.row_begin[site]; e < end; ++e) {
    Value weight;
    if constexpr (sizeof(Value) == 8) {
      weight = job.weights_f64[e];
    } else {
      weight = static_cast<Value>(job.entries[e].weight);
    }
    Bits weight_bits;
    std::memcpy(&weight_bits, &weight, sizeof weight);
    const Bits* row = masks + static_cast<std::size_t>(job.entries[e].site) * kLanes;
    for (int part = 0; part < parts; ++part) {
      const Masks mask = reinterpret_cast<const Masks*>(row)[part];
      total[part] += reinterpret_cast<Values>(mask & weight_bits);
    }
  }
  for (int part = 0; part < parts; ++part) reinterpret_cast<Values*>(sum)[part] = total[part];
}

#if defined(__AVX512F__)
// Bits of a word select the lanes of an addition, so masks of doubles, 256 bytes for each site and
// too many for the caches of a core, are not needed.
template <class N>
constexpr bool kFromBits = sizeof(typename N::value) == 8;

// For W words at once: rows of large models come from memory, and each serves all words.
template <int W>
inline void sum_bits(const TileJob& job, const std::uint32_t* const* words, std::int32_t site,
                     double (*sum)[kLanes]) {
  __m512d total[W][4] = {};
  const std::int64_t end = job.row_begin[site + 1];
  for (std::int64_t e = job.row_begin[site]; e < end; ++e) {
    const std::uint32_t neighbor = job.entries[e].site;
    const __m512d weight = _mm512_set1_pd(job.weights_f64[e]);
#pragma GCC unroll 4
    for (int w = 0; w < W; ++w) {
      const std::uint32_t word = words[w][neighbor];
#pragma GCC unroll 4
      for (int part = 0; part < 4; ++part) {
        const auto bits = static_cast<__mmask8>(word >> (8 * part));
        total[w][part] = _mm512_mask_add_pd(total[w][part], bits, total[w][part], weight);
      }
    }
  }
  for (int w = 0; w < W; ++w) {
    for (int part = 0; part < 4; ++part) _mm512_store_pd(sum[w] + 8 * part, total[w][part]);
  }
}
#else
template <class N>
constexpr bool kFromBits = false;
#endif

template <class N, bool kHeatBath>
struct Tile {
  using Bits = typename N::bits;
  using Value = typename N::value;
  using Wide = typename N::wide;

  explicit Tile(TileJob& j) : job(j), masks(static_cast<Bits*>(j.masks)) {
    draws.step_low = job.step_low;
    draws.counter3 = job.counter3;
    draws.prepare(job.key, job.replica);
    for (int l = 0; l < kLanes; ++l) {
      beta_log2e[l] = beta_log2e_of(job.beta[l]);
      moves[l] = -static_cast<std::int32_t>((job.moves[0] >> l) & 1u);
    }
  }

  void unpack() {
    for (std::int32_t site = 0; site < job.n_sites; ++site) {
      const std::int32_t v = job.variable[site];
      const std::uint32_t word = v >= 0 ? job.words[v * job.word_stride] : 0u;
      if constexpr (kFromBits<N>) {
        words()[site] = word;
        continue;
      }
      Bits* mask = masks + static_cast<std::size_t>(site) * kLanes;
      for (int l = 0; l < kLanes; ++l) {
        mask[l] = static_cast<Bits>(-static_cast<std::int32_t>((word >> l) & 1u));
      }
    }
  }

  void pack() {
    for (std::int32_t site = 0; site < job.n_sites; ++site) {
      const std::int32_t v = job.variable[site];
      if (v < 0) continue;
      if constexpr (kFromBits<N>) {
        job.words[v * job.word_stride] = words()[site];
        continue;
      }
      const Bits* mask = masks + static_cast<std::size_t>(site) * kLanes;
      std::uint32_t word = 0;
      for (int l = 0; l < kLanes; ++l) word |= (mask[l] != 0 ? 1u : 0u) << l;
      job.words[v * job.word_stride] = word;
    }
  }

  void attempt(std::int32_t site, const std::uint32_t* word) {
    alignas(64) Value set[kLanes];
    sum_set<N>(job, masks, site, set);
    attempt(site, word, masks + static_cast<std::size_t>(site) * kLanes, set);
  }

  // @param mask  of the bits of the site @param set  sum of its neighbours whose bit is 1
  void attempt(std::int32_t site, const std::uint32_t* word, const Bits* mask, const Value* set) {
    alignas(64) Wide delta[kLanes];
    const auto base = static_cast<Wide>(job.base[site]);
    for (int l = 0; l < kLanes; ++l) {
      const auto sum = static_cast<Wide>(set[l]);
      const Wide local = base - (sum + sum);
      const Wide twice = local + local;
      delta[l] = mask[l] != 0 ? twice : -twice;  // dE = -2 s f, s = -1 where the bit is 1
    }
    Decision decision;
    decide<kHeatBath>(job.exact_accept, job.beta, beta_log2e, delta, word, decision);
    for (int l = 0; l < kLanes; ++l) {
      decision.accept[l] &= moves[l];
      change[l] += decision.accept[l] != 0 ? delta[l] : Wide{0};
      flips[l] -= decision.accept[l];
    }
    flip(site, decision);
  }

  // The same with a sum over bits of words.
  void attempt_bits(std::int32_t site, const std::uint32_t* word, const Value* set) {
    alignas(64) Bits own[kLanes];
    for (int l = 0; l < kLanes; ++l) own[l] = -static_cast<Bits>((words()[site] >> l) & 1u);
    attempt(site, word, own, set);
  }

  void flip(std::int32_t site, const Decision& decision) {
    if constexpr (kFromBits<N>) {
      std::uint32_t bits = 0;
      for (int l = 0; l < kLanes; ++l)
        bits |= static_cast<std::uint32_t>(decision.accept[l]) & 1u << l;
      words()[site] ^= bits;
    } else {
      Bits* const mask = masks + static_cast<std::size_t>(site) * kLanes;
      for (int l = 0; l < kLanes; ++l) {
        mask[l] = static_cast<Bits>(mask[l] ^ static_cast<Bits>(decision.accept[l]));
      }
    }
  }

  // By site, where sums take the bits of words.
  std::uint32_t* words() { return static_cast<std::uint32_t*>(job.masks); }

  // Sums in 32-bit integers and in single precision stay exact for a while only.
  void flush() {
    for (int l = 0; l < kLanes; ++l) {
      job.delta[l] += static_cast<double>(change[l]);
      job.accepted[l] += static_cast<std::uint64_t>(flips[l]);
      change[l] = 0;
      flips[l] = 0;
    }
  }

  // 2^14 attempts of at most 2^16 fit into 31 bits; in single precision each is flushed.
  static constexpr std::int32_t flush_mask = sizeof(Wide) == 4 && Wide(0.5f) != 0 ? 0 : 0x3FFF;

  // The words of the four sites from `site` on.
  void draw(std::int32_t site, std::uint32_t drawn[4][kLanes]) const {
    const auto first = static_cast<std::uint32_t>(site);
    if (job.draw_site == nullptr) return draw_quad(draws, first / 4, drawn);
    for (std::uint32_t k = 0; k < 4; ++k) {
      job.draw_site(job.key, job.replica, job.step, first + k, drawn[k]);
    }
  }

  void run() {
    alignas(64) std::uint32_t drawn[4][kLanes];
    unpack();
    for (std::int32_t site = 0; site < job.n_sites; ++site) {
      const std::int32_t k = site & 3;
      if (k == 0) draw(site, drawn);
      if (job.variable[site] >= 0) attempt(site, drawn[k]);
      if ((site & flush_mask) == flush_mask) flush();
    }
    flush();
    pack();
  }

  TileJob& job;
  Bits* masks;
  WordDraws draws;
  alignas(64) float beta_log2e[kLanes];
  alignas(64) std::int32_t moves[kLanes];
  alignas(64) Wide change[kLanes] = {};
  alignas(64) std::int32_t flips[kLanes] = {};
};

#if defined(__AVX512F__)
// The words of W jobs, site by site.
template <bool kHeatBath, int W>
void run_together(TileJob* jobs) {
  using RealTile = Tile<Real, kHeatBath>;
  std::optional<RealTile> tiles[W];
  const std::uint32_t* words[W];
  alignas(64) std::uint32_t drawn[W][4][kLanes];
  alignas(64) double set[W][kLanes];
  for (int w = 0; w < W; ++w) {
    tiles[w].emplace(jobs[w]);
    tiles[w]->unpack();
    words[w] = tiles[w]->words();
  }
  for (std::int32_t site = 0; site < jobs->n_sites; ++site) {
    const std::int32_t k = site & 3;
    for (int w = 0; k == 0 && w < W; ++w) tiles[w]->draw(site, drawn[w]);
    if (jobs->variable[site] >= 0) {
      sum_bits<W>(*jobs, words, site, set);
      for (int w = 0; w < W; ++w) tiles[w]->attempt_bits(site, drawn[w][k], set[w]);
    }
    for (int w = 0; (site & RealTile::flush_mask) == RealTile::flush_mask && w < W; ++w) {
      tiles[w]->flush();
    }
  }
  for (auto& tile : tiles) {
    tile->flush();
    tile->pack();
  }
}

template <bool kHeatBath>
void run_reals(TileJob* jobs, int n) {
  for (; n >= 4; n -= 4, jobs += 4) run_together<kHeatBath, 4>(jobs);
  for (; n > 0; --n, ++jobs) run_together<kHeatBath, 1>(jobs);
}
#else
template <bool kHeatBath>
void run_reals(TileJob* jobs, int n) {
  for (; n > 0; --n, ++jobs) Tile<Real, kHeatBath>(*jobs).run();
}
#endif

template <class N>
void run_tiles(TileJob* jobs, int n) {
  if constexpr (sizeof(typename N::value) == 8) {
    return jobs->heat_bath ? run_reals<true>(jobs, n) : run_reals<false>(jobs, n);
  }
  for (; n > 0; --n, ++jobs) {
    if (jobs->heat_bath) {
      Tile<N, true>(*jobs).run();
    } else {
      Tile<N, false>(*jobs).run();
    }
  }
}

inline void sweep_tile(TileJob* jobs, int n) {
  switch (jobs->number) {
    case TileNumber::int8:
      return run_tiles<Int8>(jobs, n);
    case TileNumber::int16:
      return run_tiles<Int16>(jobs, n);
    case TileNumber::single:
      return run_tiles<Single>(jobs, n);
    case TileNumber::real:
      return run_tiles<Real>(jobs, n);
  }
}

}  // namespace
}  // namespace kiln::cpu
