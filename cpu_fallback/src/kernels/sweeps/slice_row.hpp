// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The local fields of the replicas of a site. Everything is in an unnamed namespace, see SliceJob.
#include <cstdint>
#include <cstring>

#include "kernels/lanes.hpp"
#include "kernels/sweeps/slice_count.hpp"

namespace kiln::cpu {
namespace {

#if defined(__AVX512F__)
constexpr SliceCosts kCosts{6, 6, 6, 3, 3, 6, 60};
#elif defined(__AVX2__)
constexpr SliceCosts kCosts{10, 16, 6, 3, 6, 12, 20};
#else
constexpr SliceCosts kCosts{16, 32, 28, 6, 12, 24, 20};
#endif

#if defined(__AVX2__)
// A byte for each replica, all ones where its bit is 1.
inline __attribute__((always_inline)) __m256i byte_masks(std::uint32_t word) {
  const __m256i spread_bytes =
      _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201u));
  const __m256i words = _mm256_set1_epi32(static_cast<int>(word));
  return _mm256_cmpeq_epi8(_mm256_and_si256(_mm256_shuffle_epi8(words, spread_bytes), bit), bit);
}
#endif

// A site's sum of weights for W words. Long rows of few different weights are counted in slices,
// for all words at once; short rows and rows of many different weights are added up replica by
// replica.
template <int W>
class RowSum {
 public:
  void prepare(const SliceJob& job, const Slice<W>* state, std::int32_t site) {
    const SliceSite& row = job.sites[site];
    const std::int64_t n_entries = job.row_begin[site + 1] - job.row_begin[site];
    one_by_one_ =
        is_cheaper_one_by_one(job, row, job.sites[site + 1].first_term - row.first_term, n_entries);
    narrow_ = job.narrow;
    small_ = row.n_planes < 8;
    long_ = one_by_one_ && n_entries > max_entries;
    if (one_by_one_) {
      base2_ = 2 * static_cast<std::int32_t>(job.base[site]);
      if (long_) return add_up(job, state, site);
      take(job, state, job.row_begin[site], job.row_begin[site + 1]);
      return;
    }
    n_ = count_row(job, state, site, planes_);
    base2_ = 2 * row.base;
    for (int k = 0; k < n_; ++k) {
      words_[k] = reinterpret_cast<const std::uint32_t*>(planes_ + k);
      worth_[k] = 4 << k;
    }
  }

  // Twice the local fields of the 32 replicas of word w, plus twice `more`.
#if defined(__AVX512F__)
  __attribute__((always_inline)) __m512i twice_local(int w, int half, std::int32_t more = 0) const {
    __m512i local = _mm512_set1_epi32(base2_ + 2 * more);
    if (long_) return _mm512_add_epi32(local, _mm512_load_si512(sums_[w] + 16 * half));
    for (int k = 0; k < n_; ++k) {
      const auto bits = static_cast<__mmask16>(words_[k][w] >> (16 * half));
      local = _mm512_mask_sub_epi32(local, bits, local, _mm512_set1_epi32(worth_[k]));
    }
    return local;
  }
#else
  void twice_local(int w, std::int32_t* local, std::int32_t more = 0) const {
    const std::int32_t start = base2_ + 2 * more;
    if (long_) {
      for (int l = 0; l < kLanes; ++l) local[l] = start + sums_[w][l];
      return;
    }
    if (!one_by_one_) return from_planes(w, start, local);
#if defined(__AVX2__)
    if (small_) return from_neighbors_small(w, start, local);
#endif
    if (narrow_) return from_neighbors_narrow(w, start, local);
    for (int l = 0; l < kLanes; ++l) local[l] = start;
    subtract_neighbors(w, local);
  }
#endif

 private:
  static constexpr int max_entries = kMaxNarrowEntries;

  // The neighbours of some entries of a row, and what their bits take from twice the field.
  void take(const SliceJob& job, const Slice<W>* state, std::int64_t begin, std::int64_t end) {
    n_ = 0;
    for (std::int64_t e = begin; e < end; ++e) {
      const auto weight = static_cast<std::int32_t>(job.entries[e].weight);
      if (weight == 0) continue;
      words_[n_] = reinterpret_cast<const std::uint32_t*>(state + job.entries[e].site);
      worth_[n_++] = 4 * weight;
    }
  }

  void subtract_neighbors(int w, std::int32_t* local) const {
    for (int l = 0; l < kLanes; l += kIntLanes) {
      auto* const lanes = reinterpret_cast<std::uint32_t*>(local + l);
      Ints sum = load(lanes);
      for (int k = 0; k < n_; ++k) {
#if defined(__AVX512F__)
        const auto bits = static_cast<__mmask16>(words_[k][w] >> l);
        const auto old = reinterpret_cast<__m512i>(sum);
        sum = reinterpret_cast<Ints>(
            _mm512_mask_sub_epi32(old, bits, old, _mm512_set1_epi32(worth_[k])));
#else
        sum -= lane_masks(words_[k][w], l) & spread(static_cast<std::uint32_t>(worth_[k]));
#endif
      }
      store(lanes, sum);
    }
  }

  // A row of more than max_entries neighbours, in parts.
  void add_up(const SliceJob& job, const Slice<W>* state, std::int32_t site) {
    for (int w = 0; w < job.n_words; ++w) std::memset(sums_[w], 0, sizeof sums_[w]);
    const std::int64_t end = job.row_begin[site + 1];
    for (std::int64_t e = job.row_begin[site]; e < end; e += max_entries) {
      take(job, state, e, e + max_entries < end ? e + max_entries : end);
      for (int w = 0; w < job.n_words; ++w) subtract_neighbors(w, sums_[w]);
    }
  }

  static bool is_cheaper_one_by_one(const SliceJob& job, const SliceSite& row, std::int64_t n_terms,
                                    std::int64_t n_entries) {
    const bool wide = !job.narrow || n_entries > max_entries;  // sums of 32 bits
    const auto one_by_one = one_by_one_cost(kCosts, n_entries, wide, job.n_words);
    const auto in_slices = counting_cost(kCosts, n_terms, std::int64_t{row.n_runs},
                                         std::int64_t{row.n_planes}, job.n_words);
    return one_by_one < in_slices;
  }

#if !defined(__AVX512F__)
  // The numbers in up to eight planes, a byte for each replica.
  static void bytes_of(const Slice<W>* planes, int w, int n_planes, std::uint8_t* bytes) {
    const auto* const words = reinterpret_cast<const std::uint32_t*>(planes) + w;
#if defined(__AVX2__)
    __m256i sum = _mm256_setzero_si256();
    for (int k = 0; k < n_planes; ++k) {
      const __m256i worth = _mm256_set1_epi8(static_cast<char>(1 << k));
      sum = _mm256_or_si256(sum, _mm256_and_si256(byte_masks(words[k * W]), worth));
    }
    _mm256_store_si256(reinterpret_cast<__m256i*>(bytes), sum);
#else
    // Eight replicas at a time: a multiplication copies the byte of a plane to eight bytes, of
    // which each keeps its own bit.
    for (int part = 0; part < 4; ++part) {
      std::uint64_t sum = 0;
      for (int k = 0; k < n_planes; ++k) {
        const std::uint64_t byte = (words[k * W] >> (8 * part)) & 255u;
        const std::uint64_t mine = (byte * 0x0101010101010101u) & 0x8040201008040201u;
        // Adding 127 to a byte that is not 0 sets its highest bit.
        const std::uint64_t set =
            (((mine & 0x7F7F7F7F7F7F7F7Fu) + 0x7F7F7F7F7F7F7F7Fu) | mine) >> 7;
        sum |= (set & 0x0101010101010101u) << k;
      }
      std::memcpy(bytes + 8 * part, &sum, sizeof sum);
    }
#endif
  }

  void from_planes(int w, std::int32_t start, std::int32_t* local) const {
    alignas(64) std::uint8_t bytes[kLanes];
    bytes_of(planes_, w, n_ < 8 ? n_ : 8, bytes);
    for (int l = 0; l < kLanes; ++l) local[l] = start - 4 * static_cast<std::int32_t>(bytes[l]);
    for (int first = 8; first < n_; first += 8) {
      bytes_of(planes_ + first, w, n_ - first < 8 ? n_ - first : 8, bytes);
      for (int l = 0; l < kLanes; ++l) {
        local[l] -= static_cast<std::int32_t>(bytes[l]) << (first + 2);
      }
    }
  }

#if defined(__AVX2__)
  // Sums of couplings below 128 fit into a byte.
  void from_neighbors_small(int w, std::int32_t start, std::int32_t* local) const {
    __m256i sum = _mm256_setzero_si256();
    for (int k = 0; k < n_; ++k) {
      const __m256i weight = _mm256_set1_epi8(static_cast<char>(worth_[k] / 4));
      sum = _mm256_add_epi8(sum, _mm256_and_si256(byte_masks(words_[k][w]), weight));
    }
    alignas(64) std::int8_t sums[kLanes];
    _mm256_store_si256(reinterpret_cast<__m256i*>(sums), sum);
    for (int l = 0; l < kLanes; ++l) local[l] = start - 4 * static_cast<std::int32_t>(sums[l]);
  }
#endif

  // Sums of couplings of narrow models fit into 16 bits.
  void from_neighbors_narrow(int w, std::int32_t start, std::int32_t* local) const {
    constexpr int lanes = 2 * kIntLanes;
    typedef std::int16_t Shorts __attribute__((vector_size(2 * lanes)));
    Shorts bit;
    for (int l = 0; l < lanes; ++l) bit[l] = static_cast<std::int16_t>(1 << l);
    alignas(64) std::int16_t sums[kLanes];
    for (int l = 0; l < kLanes; l += lanes) {
      Shorts sum{};
      for (int k = 0; k < n_; ++k) {
        const auto bits = static_cast<std::int16_t>(words_[k][w] >> l);
        const Shorts mask = ((Shorts{} + bits) & bit) == bit;
        sum += mask & (Shorts{} + static_cast<std::int16_t>(worth_[k] / 4));
      }
      *reinterpret_cast<Shorts*>(sums + l) = sum;
    }
    for (int l = 0; l < kLanes; ++l) local[l] = start - 4 * static_cast<std::int32_t>(sums[l]);
  }
#endif

  bool one_by_one_ = false, long_ = false;
  bool narrow_ = false, small_ = false;  // sums fit into 16 bits, into 8
  int n_ = 0;                            // of neighbours, or planes
  std::int32_t base2_ = 0;
  const std::uint32_t* words_[max_entries];
  std::int32_t worth_[max_entries];
  alignas(64) std::int32_t sums_[W][kLanes];
  alignas(64) Slice<W> planes_[kMaxPlanes];
};

}  // namespace
}  // namespace kiln::cpu
