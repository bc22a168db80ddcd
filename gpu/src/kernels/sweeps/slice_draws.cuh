// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/philox.hpp"
#include "kiln/device/rng_domains.hpp"

/// Philox4x32-10 for counters (quad, replica, step, word 3) under one key. Of the first three
/// rounds each product but one depends on the quad alone or on the replica alone.
namespace kiln::cuda {

inline constexpr std::uint32_t philox_factor0 = 0xD2511F53u, philox_factor1 = 0xCD9E8D57u;
inline constexpr std::uint32_t philox_weyl0 = 0x9E3779B9u, philox_weyl1 = 0xBB67AE85u;

__device__ inline std::uint32_t high_word(std::uint64_t x) {
  return static_cast<std::uint32_t>(x >> 32);
}
__device__ inline std::uint32_t low_word(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
/// What the draws of a sweep have in common.
struct StepDraws {
  std::uint32_t key0 = 0, key1 = 0;
  std::uint32_t step_low = 0, counter3 = 0;
  std::uint64_t step_product = 0;

  __device__ StepDraws(std::uint64_t key, std::uint64_t step)
      : key0(low_word(key)),
        key1(high_word(key)),
        step_low(low_word(step)),
        counter3(counter_word3(RngDomain::metropolis, 0, step)),
        step_product(wide_product(philox_factor1, low_word(step))) {}

  /// The product of the second round that depends on the replica.
  __device__ std::uint64_t of_replica(std::uint32_t replica) const {
    return wide_product(philox_factor0, high_word(step_product) ^ replica ^ key0);
  }
};

/// What the draws of a quad have in common.
struct QuadDraws {
  std::uint32_t a = 0, b = 0, c = 0, d = 0;

  __device__ QuadDraws(const StepDraws& step, std::uint32_t quad) {
    const std::uint64_t first = wide_product(philox_factor0, quad);
    const std::uint64_t second =
        wide_product(philox_factor1, high_word(first) ^ step.counter3 ^ step.key1);
    const std::uint32_t c0 =
        high_word(second) ^ low_word(step.step_product) ^ (step.key0 + philox_weyl0);
    const std::uint64_t third = wide_product(philox_factor0, c0);
    a = low_word(first) ^ (step.key1 + philox_weyl1);
    b = low_word(second) ^ (step.key0 + 2 * philox_weyl0);
    c = high_word(third) ^ (step.key1 + 2 * philox_weyl1);
    d = low_word(third);
  }
};

/// The four words of a quad for a replica.
__device__ inline Words4 draw_of(const StepDraws& step, const QuadDraws& quad,
                                 std::uint32_t replica_high, std::uint32_t replica_low) {
  const std::uint64_t product = wide_product(philox_factor1, replica_high ^ quad.a);
  std::uint32_t c0 = high_word(product) ^ quad.b, c1 = low_word(product);
  std::uint32_t c2 = replica_low ^ quad.c, c3 = quad.d;
#pragma unroll
  for (std::uint32_t round = 3; round < 10; ++round) {
    const std::uint64_t p0 = wide_product(philox_factor0, c0);
    const std::uint64_t p1 = wide_product(philox_factor1, c2);
    c0 = high_word(p1) ^ c1 ^ (step.key0 + round * philox_weyl0);
    c1 = low_word(p1);
    c2 = high_word(p0) ^ c3 ^ (step.key1 + round * philox_weyl1);
    c3 = low_word(p0);
  }
  return Words4{{c0, c1, c2, c3}};
}

}  // namespace kiln::cuda
