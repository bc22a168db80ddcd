// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "slice_places.cuh"
#include "sweep_decision.cuh"

/// Tables by the pattern of a site's neighbours. A pattern has a bit for each neighbour, and it
/// determines the energy change of a flip.
///
/// Where energies are integers and no site has a field, turning all spins keeps an energy change,
/// so bits are those that differ from the site's own. Otherwise the own bit is the highest of P.
namespace kiln::cuda {
namespace {

template <int P>
struct PatternFormat {
  static_assert(P == 4 || P == 6);
  static constexpr int bits = P == 4 ? 4 : 8;  // of a place in a register
  static constexpr std::uint32_t entries = 1u << P;
  // The table of a site: entries of eight bytes for decisions, then the energy changes.
  static constexpr std::uint32_t entry_bytes = 8, changes = entries * entry_bytes;
  static constexpr std::uint32_t site_bytes = 2 * changes;
};

// The patterns of a lane at 32 places, see Exchange::by_replica.
template <int P>
struct Patterns {
  std::uint32_t of[PatternFormat<P>::bits];

  // Where the entry of place 8 i + j is in the table of its site, in bytes; an entry has 2^kLog.
  template <int kLog = 3>
  __device__ std::uint32_t entry(int i, int j) const {
    constexpr std::uint32_t mask = (PatternFormat<P>::entries - 1) << kLog;
    const bool nibbles = PatternFormat<P>::bits == 4;
    const std::uint32_t x = nibbles ? of[j % 4] : of[j];
    const int shift = (nibbles ? 4 * (2 * i + j / 4) : 8 * i) - kLog;
    return (shift < 0 ? x << kLog : x >> shift) & mask;
  }
};

// What the tables of a site are made of.
template <int P>
struct PatternRow {
  double base = 0, weight[P] = {};  // 0 beyond the last neighbour
};

// The tables of a warp, [4 n_quads] sites in its shared memory.
template <int W, int P>
struct PatternTables {
  using Of = PatternFormat<P>;
  static constexpr std::uint32_t bytes = 32 / W * Of::site_bytes;
  unsigned char* begin;

  // The table of place 8 i + j.
  __device__ unsigned char* of_place(int i, int j) const {
    return begin + static_cast<std::uint32_t>(j / W * 4 + i) * Of::site_bytes;
  }
  __device__ static double& change(unsigned char* table, std::uint32_t entry) {
    return *reinterpret_cast<double*>(table + (Of::changes + entry));
  }
  __device__ static std::uint32_t& decision(unsigned char* table, std::uint32_t entry) {
    return *reinterpret_cast<std::uint32_t*>(table + entry);
  }
};

__device__ inline std::uint32_t entry_of_threshold(std::uint64_t threshold) {
  return threshold > all_words ? all_words : static_cast<std::uint32_t>(threshold);
}

// The thresholds of an energy change and of its negative.
__device__ inline uint2 thresholds_of(const MetropolisSweep& kernel, double beta, double delta) {
  if (kernel.rule == SweepRule::heat_bath) {
    return make_uint2(entry_of_threshold(threshold_of(kernel, beta, delta)),
                      entry_of_threshold(threshold_of(kernel, beta, -delta)));
  }
  const std::uint32_t uphill = entry_of_threshold(threshold_of(kernel, beta, fabs(delta)));
  return make_uint2(delta <= 0 ? all_words : uphill, delta >= 0 ? all_words : uphill);
}

// An energy change for estimates in single precision. One that the rule accepts for certain is so
// far below 0 that its power never rejects. NaN, which leaves the decision to the exact rule,
// stands for sizes at which the estimate may be wrong.
template <SweepRule kRule>
__device__ float estimate_of(double delta) {
  if (kRule == SweepRule::metropolis && delta <= 0) return -1e30f;
  const float d = static_cast<float>(delta), size = fabsf(d);
  const bool valid = (size >= 1e-28f && size <= 1e30f) || delta == 0;
  return valid ? d : __uint_as_float(0x7FFFFFFFu);
}

// Whether the word accepts, by a power in single precision; see accept() of sweep_decision.cuh.
template <SweepRule kRule>
__device__ inline Sure accept_by_estimate(float beta_log2e, float delta, std::uint32_t word) {
  const float p = kRule == SweepRule::heat_bath
                      ? __fdividef(1.0f, 1.0f + exp2_approximate(beta_log2e * delta))
                      : exp2_approximate(-(beta_log2e * delta));
  return compare_with(p, word);
}

}  // namespace
}  // namespace kiln::cuda
