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

/// What all draws of a sweep have in common.
struct StepDraws {
  std::uint32_t step_low = 0, counter3 = 0;
  std::uint64_t product = 0;

  __device__ explicit StepDraws(std::uint64_t step)
      : step_low(low_word(step)),
        counter3(counter_word3(RngDomain::metropolis, 0, step)),
        product(wide_product(philox_factor1, low_word(step))) {}

  /// The product of the second round that depends on the replica.
  __device__ std::uint64_t of_replica(std::uint32_t replica, std::uint64_t key) const {
    return wide_product(philox_factor0, high_word(product) ^ replica ^ low_word(key));
  }
};

/// The keys of the ten rounds, computed where they are used; a sweep under one key keeps them in
/// registers.
struct ComputedKeys {
  std::uint32_t key0 = 0, key1 = 0;
  __device__ std::uint32_t first(std::uint32_t round) const { return key0 + round * philox_weyl0; }
  __device__ std::uint32_t second(std::uint32_t round) const { return key1 + round * philox_weyl1; }
};

/// The same from a table: two words a round.
struct TabulatedKeys {
  static constexpr int quads = 5;
  std::uint32_t keys[4 * quads];

  __device__ explicit TabulatedKeys(const uint4* table) {
#pragma unroll
    for (int i = 0; i < quads; ++i) {
      const uint4 x = table[i];
      keys[4 * i] = x.x, keys[4 * i + 1] = x.y, keys[4 * i + 2] = x.z, keys[4 * i + 3] = x.w;
    }
  }
  __device__ std::uint32_t first(std::uint32_t round) const { return keys[2 * round]; }
  __device__ std::uint32_t second(std::uint32_t round) const { return keys[2 * round + 1]; }

  /// Entry i of the table of a key.
  __device__ static uint4 entry(std::uint64_t key, std::uint32_t i) {
    const ComputedKeys of{low_word(key), high_word(key)};
    return make_uint4(of.first(2 * i), of.second(2 * i), of.first(2 * i + 1), of.second(2 * i + 1));
  }
};

/// What the draws of a quad under one key have in common.
struct QuadDraws {
  std::uint32_t a = 0, b = 0, c = 0, d = 0;

  template <class Keys>
  __device__ QuadDraws(const StepDraws& step, const Keys& keys, std::uint32_t quad) {
    const std::uint64_t first = wide_product(philox_factor0, quad);
    const std::uint64_t second =
        wide_product(philox_factor1, high_word(first) ^ step.counter3 ^ keys.second(0));
    const std::uint64_t third =
        wide_product(philox_factor0, high_word(second) ^ low_word(step.product) ^ keys.first(1));
    a = low_word(first) ^ keys.second(1);
    b = low_word(second) ^ keys.first(2);
    c = high_word(third) ^ keys.second(2);
    d = low_word(third);
  }
};

/// The four words of a quad for a replica, of which StepDraws::of_replica is given.
template <class Keys>
__device__ inline Words4 draw_of(const Keys& keys, const QuadDraws& quad,
                                 std::uint32_t replica_high, std::uint32_t replica_low) {
  const std::uint64_t product = wide_product(philox_factor1, replica_high ^ quad.a);
  std::uint32_t c0 = high_word(product) ^ quad.b, c1 = low_word(product);
  std::uint32_t c2 = replica_low ^ quad.c, c3 = quad.d;
#pragma unroll
  for (std::uint32_t round = 3; round < 10; ++round) {
    const std::uint64_t p0 = wide_product(philox_factor0, c0);
    const std::uint64_t p1 = wide_product(philox_factor1, c2);
    c0 = high_word(p1) ^ c1 ^ keys.first(round);
    c1 = low_word(p1);
    c2 = high_word(p0) ^ c3 ^ keys.second(round);
    c3 = low_word(p0);
  }
  return Words4{{c0, c1, c2, c3}};
}

}  // namespace kiln::cuda
