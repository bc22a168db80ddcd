// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The body of the sweep in double precision, for 32 replicas at a time. Included by one translation
// unit per instruction set; everything is in an unnamed namespace, see SliceJob. Loops over the 32
// lanes are written so that the compiler turns them into vector instructions.
#include <cstdint>
#include <cstring>

#include "kernels/philox_lanes.hpp"
#include "kernels/sweeps/lane_rule.hpp"
#include "sweep_tile.hpp"

namespace kiln::cpu {
namespace {

// Vectors as wide as the registers of this translation unit; the language extension of GCC and
// Clang.
constexpr int kVectorBytes = 4 * kIntLanes;
constexpr int kParts = kLanes * 8 / kVectorBytes;
typedef double Reals __attribute__((vector_size(kVectorBytes)));
typedef std::int64_t RealMasks __attribute__((vector_size(kVectorBytes)));

// Sum of the weights of the neighbours of `site` whose bit is 1, in the order of the row.
inline void sum_set(const TileJob& job, const std::int64_t* masks, std::int32_t site, double* sum) {
  Reals total[kParts] = {};
  const std::int64_t end = job.row_begin[site + 1];
  for (std::int64_t e = job.row_begin[site]; e < end; ++e) {
    std::int64_t weight_bits;
    std::memcpy(&weight_bits, &job.weights_f64[e], sizeof weight_bits);
    const std::int64_t* row = masks + static_cast<std::size_t>(job.entries[e].site) * kLanes;
    for (int part = 0; part < kParts; ++part) {
      const RealMasks mask = reinterpret_cast<const RealMasks*>(row)[part];
      total[part] += reinterpret_cast<Reals>(mask & weight_bits);
    }
  }
  for (int part = 0; part < kParts; ++part) reinterpret_cast<Reals*>(sum)[part] = total[part];
}

template <bool kHeatBath>
struct Tile {
  explicit Tile(TileJob& j) : job(j), masks(static_cast<std::int64_t*>(j.masks)) {
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
      std::int64_t* mask = masks + static_cast<std::size_t>(site) * kLanes;
      for (int l = 0; l < kLanes; ++l) mask[l] = -static_cast<std::int64_t>((word >> l) & 1u);
    }
  }

  void pack() {
    for (std::int32_t site = 0; site < job.n_sites; ++site) {
      const std::int32_t v = job.variable[site];
      if (v < 0) continue;
      const std::int64_t* mask = masks + static_cast<std::size_t>(site) * kLanes;
      std::uint32_t word = 0;
      for (int l = 0; l < kLanes; ++l) word |= (mask[l] != 0 ? 1u : 0u) << l;
      job.words[v * job.word_stride] = word;
    }
  }

  void attempt(std::int32_t site, const std::uint32_t* word) {
    alignas(64) double set[kLanes];
    alignas(64) double delta[kLanes];
    sum_set(job, masks, site, set);
    std::int64_t* mask = masks + static_cast<std::size_t>(site) * kLanes;
    const double base = job.base[site];
    for (int l = 0; l < kLanes; ++l) {
      const double local = base - (set[l] + set[l]);
      const double twice = local + local;
      delta[l] = mask[l] != 0 ? twice : -twice;  // dE = -2 s f, s = -1 where the bit is 1
    }
    Decision decision;
    decide<kHeatBath>(job.exact_accept, job.beta, beta_log2e, delta, word, decision);
    for (int l = 0; l < kLanes; ++l) {
      decision.accept[l] &= moves[l];
      mask[l] ^= static_cast<std::int64_t>(decision.accept[l]);
      change[l] += decision.accept[l] != 0 ? delta[l] : 0.0;
      flips[l] -= decision.accept[l];
    }
  }

  void flush() {
    for (int l = 0; l < kLanes; ++l) {
      job.delta[l] += change[l];
      job.accepted[l] += static_cast<std::uint64_t>(flips[l]);
      change[l] = 0;
      flips[l] = 0;
    }
  }

  void run() {
    constexpr std::int32_t flush_mask = 0x3FFF;
    alignas(64) std::uint32_t words[4][kLanes];
    unpack();
    for (std::int32_t site = 0; site < job.n_sites; ++site) {
      const std::int32_t k = site & 3;
      if (k == 0) draw_quad(draws, static_cast<std::uint32_t>(site) / 4, words);
      if (job.variable[site] >= 0) attempt(site, words[k]);
      if ((site & flush_mask) == flush_mask) flush();
    }
    flush();
    pack();
  }

  TileJob& job;
  std::int64_t* masks;
  WordDraws draws;
  alignas(64) float beta_log2e[kLanes];
  alignas(64) std::int32_t moves[kLanes];
  alignas(64) double change[kLanes] = {};
  alignas(64) std::int32_t flips[kLanes] = {};
};

inline void sweep_tile(TileJob& job) {
  if (job.heat_bath) {
    Tile<true>(job).run();
  } else {
    Tile<false>(job).run();
  }
}

}  // namespace
}  // namespace kiln::cpu
