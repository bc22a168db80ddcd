// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/plane_draws.hpp"

#include "kernels/sweeps/slice_draws.cuh"
#include "plane_count.cuh"

/// The planes of a site for a word (plane_draws.hpp). Of the first three rounds of the two blocks
/// most products depend on the site alone or on the word alone, or are those of both blocks.
namespace kiln::cuda {

/// What the planes of a sweep have in common.
struct PlaneStep {
  std::uint64_t step = 0;
  std::uint32_t counter3 = 0;
  std::uint64_t product = 0;  // of the step

  __device__ explicit PlaneStep(std::uint64_t number)
      : step(number),
        counter3(counter_word3(RngDomain::metropolis_planes, 0, number)),
        product(wide_product(philox_factor1, low_word(number))) {}

  /// The product of the second round that depends on the word.
  __device__ std::uint64_t of_word(std::uint32_t name, std::uint32_t key0) const {
    return wide_product(philox_factor0, high_word(product) ^ name ^ key0);
  }
};

/// The keys of the ten rounds, where a loop needs them all the time.
struct KeptKeys {
  std::uint32_t keys[20];

  __device__ KeptKeys(std::uint32_t key0, std::uint32_t key1) {
    const ComputedKeys of{key0, key1};
#pragma unroll
    for (std::uint32_t round = 0; round < 10; ++round) {
      keys[2 * round] = kept(of.first(round)), keys[2 * round + 1] = kept(of.second(round));
    }
  }
  __device__ std::uint32_t first(std::uint32_t round) const { return keys[2 * round]; }
  __device__ std::uint32_t second(std::uint32_t round) const { return keys[2 * round + 1]; }
};

/// What the two blocks of a site have in common under one key.
struct SitePlanes {
  std::uint64_t first = 0;   // product of the site
  std::uint32_t factor = 0;  // of the word's product of round 3, but for the word

  template <class Keys>
  __device__ SitePlanes(const Keys& keys, std::uint32_t site)
      : first(wide_product(philox_factor0, site)), factor(low_word(first) ^ keys.second(1)) {}
};

/// What a block of a site has in common for all words.
struct BlockPlanes {
  std::uint32_t c0 = 0, c2 = 0, c3 = 0;

  template <class Keys>
  __device__ BlockPlanes(const PlaneStep& step, const Keys& keys, const SitePlanes& site,
                         std::uint32_t block) {
    const std::uint64_t second = wide_product(
        philox_factor1, high_word(site.first) ^ (step.counter3 | block << 16) ^ keys.second(0));
    const std::uint64_t third =
        wide_product(philox_factor0, high_word(second) ^ low_word(step.product) ^ keys.first(1));
    c0 = low_word(second) ^ keys.first(2);
    c2 = high_word(third) ^ keys.second(2);
    c3 = low_word(third);
  }
};

/// The rounds of a word; `product` is that of round 3, `low` the low word of PlaneStep::of_word().
template <class Keys>
__device__ inline Words4 finish_planes(const Keys& keys, const BlockPlanes& block,
                                       std::uint64_t product, std::uint32_t low) {
  std::uint32_t c0 = high_word(product) ^ block.c0, c1 = low_word(product);
  std::uint32_t c2 = low ^ block.c2, c3 = block.c3;
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

/// draw_rest() under keys at hand.
template <class Keys>
__device__ inline std::uint32_t rest_of(const Keys& keys, const PlaneStep& step, std::uint32_t site,
                                        std::uint32_t replica) {
  std::uint32_t c0 = site, c1 = replica, c2 = low_word(step.step),
                c3 = counter_word3(RngDomain::metropolis_rest, 0, step.step);
#pragma unroll
  for (std::uint32_t round = 0; round < 10; ++round) {
    const std::uint64_t p0 = wide_product(philox_factor0, c0);
    const std::uint64_t p1 = round == 0 ? step.product : wide_product(philox_factor1, c2);
    c0 = high_word(p1) ^ c1 ^ keys.first(round);
    c1 = low_word(p1);
    c2 = high_word(p0) ^ c3 ^ keys.second(round);
    c3 = low_word(p0);
  }
  return c0 & rest_mask;
}

}  // namespace kiln::cuda
