// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The body of the sweep in slices. Included by one translation unit per instruction set; everything
// is in an unnamed namespace, see SliceJob.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/philox_lanes.hpp"
#include "kernels/sweeps/lane_rule.hpp"
#include "kernels/sweeps/slice_count.hpp"
#include "kernels/sweeps/slice_tile.hpp"

namespace kiln::cpu {
namespace {

// The local fields of a word's 32 replicas, doubled: base2 - 4 c, c from the planes.
#if defined(__AVX512F__)
inline __attribute__((always_inline)) __m512i twice_local(const std::uint32_t* planes, int stride,
                                                          int n_planes, std::int32_t base2,
                                                          int half) {
  __m512i local = _mm512_set1_epi32(base2);
  std::int32_t worth = 4;
  for (int k = 0; k < n_planes; ++k, worth += worth) {
    const auto bits = static_cast<__mmask16>(planes[k * stride] >> (16 * half));
    local = _mm512_mask_sub_epi32(local, bits, local, _mm512_set1_epi32(worth));
  }
  return local;
}
#else
// The numbers in up to eight planes, a byte for each replica.
inline void bytes_of(const std::uint32_t* planes, int stride, int n_planes, std::uint8_t* bytes) {
#if defined(__AVX2__)
  const __m256i spread_bytes =
      _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201u));
  __m256i sum = _mm256_setzero_si256();
  for (int k = 0; k < n_planes; ++k) {
    const __m256i word = _mm256_set1_epi32(static_cast<int>(planes[k * stride]));
    const __m256i mine = _mm256_and_si256(_mm256_shuffle_epi8(word, spread_bytes), bit);
    const __m256i set = _mm256_cmpeq_epi8(mine, bit);
    sum = _mm256_or_si256(sum, _mm256_and_si256(set, _mm256_set1_epi8(static_cast<char>(1 << k))));
  }
  _mm256_store_si256(reinterpret_cast<__m256i*>(bytes), sum);
#else
  // Eight replicas at a time: a multiplication copies the byte of a plane to eight bytes, of which
  // each keeps its own bit.
  for (int part = 0; part < 4; ++part) {
    std::uint64_t sum = 0;
    for (int k = 0; k < n_planes; ++k) {
      const std::uint64_t byte = (planes[k * stride] >> (8 * part)) & 255u;
      const std::uint64_t mine = (byte * 0x0101010101010101u) & 0x8040201008040201u;
      // 0 or 1 in each byte: adding 127 to a byte that is not 0 sets its highest bit.
      const std::uint64_t set = (((mine & 0x7F7F7F7F7F7F7F7Fu) + 0x7F7F7F7F7F7F7F7Fu) | mine) >> 7;
      sum |= (set & 0x0101010101010101u) << k;
    }
    std::memcpy(bytes + 8 * part, &sum, sizeof sum);
  }
#endif
}

inline void twice_local(const std::uint32_t* planes, int stride, int n_planes, std::int32_t base2,
                        std::int32_t* local) {
  alignas(64) std::uint8_t bytes[kLanes];
  bytes_of(planes, stride, n_planes < 8 ? n_planes : 8, bytes);
  for (int l = 0; l < kLanes; ++l) local[l] = base2 - 4 * static_cast<std::int32_t>(bytes[l]);
  for (int first = 8; first < n_planes; first += 8) {
    const int n = n_planes - first < 8 ? n_planes - first : 8;
    bytes_of(planes + first * stride, stride, n, bytes);
    for (int l = 0; l < kLanes; ++l) {
      local[l] -= static_cast<std::int32_t>(bytes[l]) << (first + 2);
    }
  }
}
#endif

template <int W>
struct SliceTile {
  using Bits = Slice<W>;

  explicit SliceTile(SliceJob& j) : job(j), state(reinterpret_cast<Bits*>(j.scratch)) {}

  void gather() {
    for (std::int32_t site = 0; site < job.n_sites; ++site) {
      const std::int32_t v = job.variable[site];
      Bits bits = slice_of<W>(false);
      if (v >= 0) copy_words(&bits, job.words + v * job.word_stride);
      state[site] = bits;
    }
  }

  void scatter() const {
    for (std::int32_t site = 0; site < job.n_sites; ++site) {
      const std::int32_t v = job.variable[site];
      if (v >= 0) copy_words(job.new_words + v * job.word_stride, state + site);
    }
  }

  // A copy of a fixed size is one instruction.
  void copy_words(void* to, const void* from) const {
    if (job.n_words == W) {
      std::memcpy(to, from, 4 * W);
    } else {
      std::memcpy(to, from, 4 * static_cast<std::size_t>(job.n_words));
    }
  }

  // Sums of 32 bits hold the terms of so many sites: at most 4 max_local each, where a field counts
  // twice, and that is at most 2^25.
  std::int32_t sites_between_flushes() const {
    return (1 << 28) / (job.max_local > 0 ? job.max_local : 1);
  }

  SliceJob& job;
  Bits* state;
};

template <int W, bool kHeatBath>
struct SweepTile : SliceTile<W> {
  using Base = SliceTile<W>;
  using Base::job;
  using Base::state;
  using typename Base::Bits;

  explicit SweepTile(SliceJob& j) : Base(j) {
    for (Bits& plane : flip_planes) plane = slice_of<W>(false);
    for (int w = 0; w < job.n_words; ++w) {
      draws[w].step_low = job.step_low;
      draws[w].counter3 = job.counter3;
      draws[w].prepare(job.key + w * kLanes, job.replica + w * kLanes);
      for (int l = 0; l < kLanes; ++l) {
        beta_log2e[w][l] = beta_log2e_of(job.beta[w * kLanes + l]);
        change[w][l] = 0;
      }
    }
  }

#if defined(__AVX512F__)
  // Of 16 replicas those that flip.
  std::uint32_t accepted_half(int w, int half, __m512i delta, const std::uint32_t* words) const {
    const __m512i random_words = _mm512_load_si512(words + 16 * half);
    if (!kHeatBath && job.thresholds[w].size > 0) {
      return accepted_by_table(job.thresholds[w], delta, random_words);
    }
    const HalfDecision rule =
        decide_half<kHeatBath>(delta, _mm512_load_ps(beta_log2e[w] + 16 * half), random_words);
    std::uint32_t accepted = rule.accept;
    if (rule.unsure == 0) return accepted;
    alignas(64) std::int32_t deltas[16];
    _mm512_store_si512(deltas, delta);
    const double* const beta = job.beta + w * kLanes + 16 * half;
    for (int l = 0; l < 16; ++l) {
      if (((rule.unsure >> l) & 1u) == 0) continue;
      const double d = deltas[l];
      accepted |= job.exact_accept(beta[l], d, words[16 * half + l]) ? 1u << l : 0u;
    }
    return accepted;
  }

  // The bits of the replicas of word w that are flipped.
  std::uint32_t flips_of_word(int w, const std::uint32_t* planes, int n_planes, std::int32_t base2,
                              std::uint32_t bits, const std::uint32_t* words) {
    std::uint32_t flipped = 0;
    for (int half = 0; half < 2; ++half) {
      const __m512i local = twice_local(planes, W, n_planes, base2, half);
      const auto up = static_cast<__mmask16>(~(bits >> (16 * half)));
      // dE = -2 s f, s = -1 where the bit is 1
      const __m512i delta = _mm512_mask_sub_epi32(local, up, _mm512_setzero_si512(), local);
      const auto taken = static_cast<__mmask16>(accepted_half(w, half, delta, words) &
                                                (job.moves[w] >> (16 * half)));
      std::int32_t* const sum = change[w] + 16 * half;
      const __m512i old = _mm512_load_si512(sum);
      _mm512_store_si512(sum, _mm512_mask_add_epi32(old, taken, old, delta));
      flipped |= static_cast<std::uint32_t>(taken) << (16 * half);
    }
    return flipped;
  }
#else
  std::uint32_t flips_of_word(int w, const std::uint32_t* planes, int n_planes, std::int32_t base2,
                              std::uint32_t bits, const std::uint32_t* words) {
    alignas(64) std::int32_t delta[kLanes];
    twice_local(planes, W, n_planes, base2, delta);
    for (int l = 0; l < kLanes; l += kIntLanes) {
      const Ints up = lane_masks(~bits, l);
      auto* const lanes = reinterpret_cast<Ints*>(delta + l);
      *lanes = (*lanes ^ up) - up;
    }
    Decision decision;
    decide<kHeatBath>(job.exact_accept, job.beta + w * kLanes, beta_log2e[w], delta, words,
                      decision);
    std::uint32_t flipped = 0;
    for (int l = 0; l < kLanes; l += kIntLanes) {
      const Ints taken =
          *reinterpret_cast<const Ints*>(decision.accept + l) & lane_masks(job.moves[w], l);
      *reinterpret_cast<Ints*>(change[w] + l) += *reinterpret_cast<const Ints*>(delta + l) & taken;
      flipped |= high_bits(taken) << l;
    }
    return flipped;
  }
#endif

  void attempt(std::int32_t site, int k) {
    alignas(64) Bits planes[kMaxPlanes];
    const int n_planes = count_row(job, state, site, planes);
    const std::int32_t base2 = 2 * job.sites[site].base;
    const auto* const plane_words = reinterpret_cast<const std::uint32_t*>(planes);
    const auto* const own = reinterpret_cast<const std::uint32_t*>(state + site);
    alignas(64) Bits flips = slice_of<W>(false);
    auto* const flipped = reinterpret_cast<std::uint32_t*>(&flips);
    for (int w = 0; w < job.n_words; ++w) {
      flipped[w] = flips_of_word(w, plane_words + w, n_planes, base2, own[w], random[w][k]);
    }
    state[site] = state[site] ^ flips;
    count_flips(flips);
  }

  void count_flips(Bits carry) {
    for (Bits& plane : flip_planes) {
      const Bits next = plane & carry;
      plane = plane ^ carry;
      carry = next;
      if (!any(carry)) return;
    }
  }

  void flush() {
    const auto* const flips = reinterpret_cast<const std::uint32_t*>(flip_planes);
    for (int w = 0; w < job.n_words; ++w) {
      for (int l = 0; l < kLanes; ++l) {
        job.delta[w * kLanes + l] += static_cast<double>(change[w][l]);
        change[w][l] = 0;
        for (int k = 0; k < kFlipPlanes; ++k) {
          const std::uint64_t bit = (flips[k * W + w] >> l) & 1u;
          job.accepted[w * kLanes + l] += bit << k;
        }
      }
    }
    for (Bits& plane : flip_planes) plane = slice_of<W>(false);
  }

  void run() {
    const std::int32_t fitting = this->sites_between_flushes();
    const std::int32_t between = fitting < kMaxFlips ? fitting : kMaxFlips;
    std::int32_t until_flush = between;
    this->gather();
    for (std::int32_t site = 0; site < job.n_sites; ++site) {
      const int k = site & 3;
      if (k == 0) {
        for (int w = 0; w < job.n_words; ++w) {
          draw_quad(draws[w], static_cast<std::uint32_t>(site) / 4, random[w]);
        }
      }
      if (job.variable[site] < 0) continue;
      attempt(site, k);
      if (--until_flush > 0) continue;
      flush();
      until_flush = between;
    }
    flush();
    this->scatter();
  }

  static constexpr int kFlipPlanes = 14;
  static constexpr std::int32_t kMaxFlips = (1 << kFlipPlanes) - 1;

  WordDraws draws[W];
  alignas(64) std::uint32_t random[W][4][kLanes];
  alignas(64) float beta_log2e[W][kLanes];
  alignas(64) std::int32_t change[W][kLanes];  // of the energies, since the last flush
  alignas(64) Bits flip_planes[kFlipPlanes];
};

// Sums s_i (h_i + local field_i) over all sites: twice the energy.
template <int W>
struct EnergyTile : SliceTile<W> {
  using Base = SliceTile<W>;
  using Base::Base;
  using Base::job;
  using Base::state;
  using typename Base::Bits;

  void add_site(std::int32_t site) {
    alignas(64) Bits planes[kMaxPlanes];
    const int n_planes = count_row(job, state, site, planes);
    // Twice h_i + local field_i.
    const std::int32_t base2 =
        2 * (job.sites[site].base + static_cast<std::int32_t>(job.field[site]));
    const auto* const plane_words = reinterpret_cast<const std::uint32_t*>(planes);
    const auto* const own = reinterpret_cast<const std::uint32_t*>(state + site);
    for (int w = 0; w < job.n_words; ++w) {
#if defined(__AVX512F__)
      for (int half = 0; half < 2; ++half) {
        const __m512i local = twice_local(plane_words + w, W, n_planes, base2, half);
        const auto down = static_cast<__mmask16>(own[w] >> (16 * half));
        std::int32_t* const to = sum[w] + 16 * half;
        const __m512i old = _mm512_load_si512(to);
        const __m512i plus = _mm512_add_epi32(old, local);
        _mm512_store_si512(to, _mm512_mask_sub_epi32(plus, down, old, local));
      }
#else
      alignas(64) std::int32_t local[kLanes];
      twice_local(plane_words + w, W, n_planes, base2, local);
      for (int l = 0; l < kLanes; ++l) {
        const std::uint32_t bit = 1u << l;
        sum[w][l] += (own[w] & bit) == bit ? -local[l] : local[l];
      }
#endif
    }
  }

  void flush() {
    for (int w = 0; w < job.n_words; ++w) {
      for (int l = 0; l < kLanes; ++l) {
        job.delta[w * kLanes + l] += static_cast<double>(sum[w][l]) / 2;
        sum[w][l] = 0;
      }
    }
  }

  void run() {
    const std::int32_t between = this->sites_between_flushes();
    std::int32_t until_flush = between;
    this->gather();
    for (std::int32_t site = 0; site < job.n_sites; ++site) {
      if (job.variable[site] < 0) continue;
      add_site(site);
      if (--until_flush > 0) continue;
      flush();
      until_flush = between;
    }
    flush();
  }

  alignas(64) std::int32_t sum[W][kLanes] = {};
};

template <int W>
void sweep_slices_of(SliceJob& job) {
  if (job.heat_bath) {
    SweepTile<W, true>(job).run();
  } else {
    SweepTile<W, false>(job).run();
  }
}

// Calls make(constant) with the width of a job.
template <class Call>
inline void with_width(const SliceJob& job, Call call) {
  switch (job.width) {
    case 16:
      return call.template operator()<16>();
    case 8:
      return call.template operator()<8>();
    case 4:
      return call.template operator()<4>();
    case 2:
      return call.template operator()<2>();
    default:
      return call.template operator()<1>();
  }
}

inline void sweep_slices(SliceJob& job) {
  with_width(job, [&]<int W>() { sweep_slices_of<W>(job); });
}
inline void energies_of_slices(SliceJob& job) {
  with_width(job, [&]<int W>() { EnergyTile<W>(job).run(); });
}

}  // namespace
}  // namespace kiln::cpu
