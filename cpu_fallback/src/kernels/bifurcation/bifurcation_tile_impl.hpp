// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Included by one translation unit per instruction set; everything is in an unnamed namespace, see
// SliceJob.
#include <cstdint>
#include <cstring>

#include "kernels/bifurcation/bifurcation_tile.hpp"
#include "kernels/lanes.hpp"

namespace kiln::cpu {
namespace {

constexpr int kMaxWidth = BifurcationJob::max_width;

struct alignas(64) SlotInts {
  std::int32_t at[kMaxWidth];
};

// Moves the oscillators of one site, and gives what they show afterwards.
template <bool kBallistic, class Force>
inline __attribute__((always_inline)) void move_site(const BifurcationJob& job, std::int64_t site,
                                                     const Force* __restrict force,
                                                     SlotInts& shown) {
  constexpr auto variant =
      kBallistic ? BifurcationVariant::ballistic : BifurcationVariant::discrete;
  float* __restrict const position = job.position + site * job.stride;
  float* __restrict const momentum = job.momentum + site * job.stride;
  for (int l = 0; l < job.width; ++l) {
    const Oscillator now =
        bifurcation::moved({position[l], momentum[l]}, static_cast<float>(force[l]),
                           job.detuning[l], {job.force[l], job.step[l], job.gain[l]});
    position[l] = now.position;
    momentum[l] = now.momentum;
    shown.at[l] = bifurcation::shown(now.position, variant);
  }
}

template <bool kBallistic>
inline __attribute__((always_inline)) void show_site(const BifurcationJob& job, std::int64_t site,
                                                     SlotInts& shown) {
  constexpr auto variant =
      kBallistic ? BifurcationVariant::ballistic : BifurcationVariant::discrete;
  const float* const position = job.position + site * job.stride;
  for (int l = 0; l < job.width; ++l) shown.at[l] = bifurcation::shown(position[l], variant);
}

// Rows: a byte for each slot, site after site.

inline void put_bytes(const BifurcationJob& job, std::int64_t site, const SlotInts& shown) {
  auto* const to = reinterpret_cast<std::int8_t*>(job.next) + site * job.width;
  for (int l = 0; l < job.width; ++l) to[l] = static_cast<std::int8_t>(shown.at[l]);
}

template <bool kBallistic, class Sum>
inline void step_rows(const BifurcationJob& job) {
  alignas(64) Sum force[kMaxWidth];
  SlotInts shown;
  const auto unit = static_cast<double>(kBallistic ? 127 : 1);
  const auto* const before = reinterpret_cast<const std::int8_t*>(job.shown);
  for (std::int64_t site = 0; site < job.n_sites; ++site) {
    const auto own = static_cast<Sum>(job.field[site] * unit);
    for (int l = 0; l < job.width; ++l) force[l] = own;
    for (std::int64_t e = job.row_begin[site]; e < job.row_begin[site + 1]; ++e) {
      const PairEntry entry = job.entries[e];
      const auto weight = static_cast<Sum>(
          job.weights != nullptr ? job.weights[e] : static_cast<double>(entry.weight));
      const std::int8_t* __restrict const q =
          before + static_cast<std::int64_t>(entry.site) * job.width;
      for (int l = 0; l < job.width; ++l) force[l] += weight * static_cast<Sum>(q[l]);
    }
    move_site<kBallistic>(job, site, force, shown);
    put_bytes(job, site, shown);
  }
}

// A matrix: 16 bits for each slot, pairs of sites side by side.

inline __attribute__((always_inline)) Ints add_pairs(Ints sum, Ints a, Ints b) {
#if defined(__AVX512F__)
  return sum + reinterpret_cast<Ints>(
                   _mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return sum + reinterpret_cast<Ints>(
                   _mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return sum + reinterpret_cast<Ints>(
                   _mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  for (int l = 0; l < kIntLanes; ++l) {
    const auto low = [](std::uint32_t word) {
      return static_cast<std::int32_t>(static_cast<std::int16_t>(word & 0xFFFFu));
    };
    sum[l] += static_cast<std::uint32_t>(low(a[l]) * low(b[l]) + low(a[l] >> 16) * low(b[l] >> 16));
  }
  return sum;
#endif
}

// Two sites of a quad each, in halves of a word.
inline void put_pairs(const BifurcationJob& job, std::int64_t quad, const SlotInts* shown) {
  auto* const to = reinterpret_cast<std::uint32_t*>(job.next) + 2 * quad * job.width;
  for (int p = 0; p < 2; ++p) {
    const std::int32_t* const low = shown[2 * p].at;
    const std::int32_t* const high = shown[2 * p + 1].at;
    for (int l = 0; l < job.width; ++l) {
      to[p * job.width + l] = (static_cast<std::uint32_t>(low[l]) & 0xFFFFu) |
                              static_cast<std::uint32_t>(high[l]) << 16;
    }
  }
}

// The sums of four rows for some slots.
template <int kVectors>
inline __attribute__((always_inline)) void multiply_pairs(const BifurcationJob& job, int first,
                                                          SlotInts* sums) {
  Ints sum[rows_in_work][kVectors] = {};
  const auto* const rows = reinterpret_cast<const std::uint32_t*>(job.rows);
  const auto* q = reinterpret_cast<const std::uint32_t*>(job.shown) + first;
  for (std::int64_t pair = 0; pair < job.n_sites / 2; ++pair, q += job.width) {
    Ints values[kVectors];
    for (int v = 0; v < kVectors; ++v) values[v] = load(q + v * kIntLanes);
    for (int r = 0; r < rows_in_work; ++r) {
      const Ints weights = spread(rows[pair * rows_in_work + r]);
      for (int v = 0; v < kVectors; ++v) sum[r][v] = add_pairs(sum[r][v], values[v], weights);
    }
  }
  for (int r = 0; r < rows_in_work; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      store(reinterpret_cast<std::uint32_t*>(sums[r].at) + first + v * kIntLanes, sum[r][v]);
    }
  }
}

// Pairs of couplings in halves of a word, those of the four rows side by side.
inline void widen_rows(const BifurcationJob& job, std::int64_t quad) {
  auto* const to = reinterpret_cast<std::uint32_t*>(job.rows);
  const std::int8_t* const from = job.matrix + 4 * quad * job.matrix_stride;
  for (std::int64_t pair = 0; pair < job.n_sites / 2; ++pair) {
    for (int r = 0; r < rows_in_work; ++r) {
      const std::int8_t* const two = from + r * job.matrix_stride + 2 * pair;
      to[pair * rows_in_work + r] =
          (static_cast<std::uint32_t>(two[0]) & 0xFFFFu) | static_cast<std::uint32_t>(two[1]) << 16;
    }
  }
}

// Adds fields and moves the four sites of a quad.
template <bool kBallistic>
inline __attribute__((always_inline)) void move_quad(const BifurcationJob& job, std::int64_t quad,
                                                     SlotInts* sums, SlotInts* shown) {
  const auto unit = static_cast<double>(kBallistic ? 127 : 1);
  const auto factor = static_cast<std::uint32_t>(job.matrix_unit);
  for (int r = 0; r < 4; ++r) {
    const std::int64_t site = 4 * quad + r;
    const auto own = static_cast<std::uint32_t>(static_cast<std::int32_t>(job.field[site] * unit));
    std::int32_t* const sum = sums[r].at;
    for (int l = 0; l < job.width; ++l) {
      sum[l] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum[l]) * factor + own);
    }
    move_site<kBallistic>(job, site, sum, shown[r]);
  }
}

template <bool kBallistic>
inline void step_matrix(const BifurcationJob& job) {
  constexpr int vectors = 2;  // registers are few
  SlotInts sums[4], shown[4];
  for (std::int64_t quad = 0; quad < job.n_sites / 4; ++quad) {
    widen_rows(job, quad);
    int first = 0;
    for (; first + vectors * kIntLanes <= job.width; first += vectors * kIntLanes) {
      multiply_pairs<vectors>(job, first, sums);
    }
    for (; first < job.width; first += kIntLanes) multiply_pairs<1>(job, first, sums);
    move_quad<kBallistic>(job, quad, sums, shown);
    put_pairs(job, quad, shown);
  }
}

template <bool kBallistic>
inline void step_of(const BifurcationJob& job) {
  if (job.matrix != nullptr) return step_matrix<kBallistic>(job);
  if (job.integers) return step_rows<kBallistic, std::int32_t>(job);
  step_rows<kBallistic, double>(job);
}

template <bool kBallistic>
inline void show_of(const BifurcationJob& job) {
  SlotInts shown[4];
  for (std::int64_t quad = 0; quad < job.n_sites / 4; ++quad) {
    for (int r = 0; r < 4; ++r) {
      show_site<kBallistic>(job, 4 * quad + r, shown[r]);
      if (job.matrix == nullptr) put_bytes(job, 4 * quad + r, shown[r]);
    }
    if (job.matrix != nullptr) put_pairs(job, quad, shown);
  }
}

inline void step_tile(const BifurcationJob& job) {
  if (job.variant == BifurcationVariant::ballistic) return step_of<true>(job);
  step_of<false>(job);
}
inline void show_tile(const BifurcationJob& job) {
  if (job.variant == BifurcationVariant::ballistic) return show_of<true>(job);
  show_of<false>(job);
}

}  // namespace
}  // namespace kiln::cpu
