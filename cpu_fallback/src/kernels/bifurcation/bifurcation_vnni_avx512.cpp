// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Products of bytes, four sites at a time. One factor has no sign: it is the shown value and
// `offset`, so the sum of the row times `offset` is subtracted from each product.
#include "bifurcation_tile_impl.hpp"

#define VNNI __attribute__((target("avx512vnni")))

namespace kiln::cpu {
namespace {

// Shown values and `offset` are at least 0 and below 256.
template <bool kBallistic>
constexpr std::uint32_t kOffset = kBallistic ? 127 : 1;

template <bool kBallistic>
void put_quads(const BifurcationJob& job, std::int64_t quad, const SlotInts* shown) {
  auto* const to = reinterpret_cast<std::uint32_t*>(job.next) + quad * job.width;
  for (int l = 0; l < job.width; ++l) {
    std::uint32_t word = 0;
    for (int r = 0; r < 4; ++r) {
      word |= (static_cast<std::uint32_t>(shown[r].at[l]) + kOffset<kBallistic>) << 8 * r;
    }
    to[l] = word;
  }
}

// The products of kRows rows for kVectors * 16 slots.
template <int kRows, int kVectors>
VNNI inline void multiply_bytes(const BifurcationJob& job, std::int64_t site, SlotInts* sums) {
  __m512i sum[kRows][kVectors] = {};
  const std::int8_t* const rows = job.matrix + site * job.matrix_stride;
  const auto* q = reinterpret_cast<const std::uint32_t*>(job.shown);
  for (std::int64_t quad = 0; quad < job.n_sites / 4; ++quad, q += kVectors * 16) {
    __m512i values[kVectors];
    for (int v = 0; v < kVectors; ++v) values[v] = _mm512_load_si512(q + 16 * v);
    for (int r = 0; r < kRows; ++r) {
      std::int32_t four;
      std::memcpy(&four, rows + r * job.matrix_stride + 4 * quad, sizeof four);
      const __m512i weights = _mm512_set1_epi32(four);
      for (int v = 0; v < kVectors; ++v) {
        sum[r][v] = _mm512_dpbusd_epi32(sum[r][v], values[v], weights);
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) _mm512_store_si512(sums[r].at + 16 * v, sum[r][v]);
  }
}

template <bool kBallistic>
void finish_quad(const BifurcationJob& job, std::int64_t quad, SlotInts* sums) {
  SlotInts shown[4];
  for (int r = 0; r < 4; ++r) {
    const std::int64_t site = 4 * quad + r;
    const auto row = static_cast<std::int32_t>(job.base[site] - job.field[site]) / job.matrix_unit;
    const std::uint32_t excess = static_cast<std::uint32_t>(row) * kOffset<kBallistic>;
    for (int l = 0; l < job.width; ++l) {
      sums[r].at[l] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sums[r].at[l]) - excess);
    }
  }
  move_quad<kBallistic>(job, quad, sums, shown);
  put_quads<kBallistic>(job, quad, shown);
}

template <bool kBallistic, int kRows, int kVectors>
void step_bytes(const BifurcationJob& job) {
  SlotInts sums[kRows];
  std::int64_t site = 0;
  for (; site + kRows <= job.n_sites; site += kRows) {
    multiply_bytes<kRows, kVectors>(job, site, sums);
    for (int r = 0; r < kRows; r += 4) finish_quad<kBallistic>(job, (site + r) / 4, sums + r);
  }
  for (; site < job.n_sites; site += 4) {
    multiply_bytes<4, kVectors>(job, site, sums);
    finish_quad<kBallistic>(job, site / 4, sums);
  }
}

template <bool kBallistic>
void step_matrix_of_bytes(const BifurcationJob& job) {
  if (job.width == 64) return step_bytes<kBallistic, 4, 4>(job);
  if (job.width == 32) return step_bytes<kBallistic, 8, 2>(job);
  step_bytes<kBallistic, 8, 1>(job);
}

template <bool kBallistic>
void show_bytes(const BifurcationJob& job) {
  SlotInts shown[4];
  for (std::int64_t quad = 0; quad < job.n_sites / 4; ++quad) {
    for (int r = 0; r < 4; ++r) show_site<kBallistic>(job, 4 * quad + r, shown[r]);
    put_quads<kBallistic>(job, quad, shown);
  }
}

void step_vnni(const BifurcationJob& job) {
  if (job.matrix == nullptr) return step_tile(job);
  if (job.variant == BifurcationVariant::ballistic) return step_matrix_of_bytes<true>(job);
  step_matrix_of_bytes<false>(job);
}
void show_vnni(const BifurcationJob& job) {
  if (job.matrix == nullptr) return show_tile(job);
  if (job.variant == BifurcationVariant::ballistic) return show_bytes<true>(job);
  show_bytes<false>(job);
}

}  // namespace

const BifurcationFunctions bifurcation_vnni_avx512{&show_vnni, &step_vnni};

}  // namespace kiln::cpu
