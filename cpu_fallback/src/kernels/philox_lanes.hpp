// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Philox4x32-10 for 32 replicas side by side. Included by translation units that are compiled for
// one instruction set; everything is in an unnamed namespace, see SliceJob.
#include <cstdint>

#include "kernels/lanes.hpp"

namespace kiln::cpu {
namespace {

constexpr std::uint32_t kFactor0 = 0xD2511F53u, kFactor1 = 0xCD9E8D57u;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9u, kWeyl1 = 0xBB67AE85u;

// The draws of the 32 slots of a word at one step: counters (quad, replica, step, counter3).
struct WordDraws {
  alignas(64) std::uint32_t replica[kLanes];
  alignas(64) std::uint32_t key_low[kLanes];
  alignas(64) std::uint32_t key_high[kLanes];
  std::uint32_t step_low = 0;
  std::uint32_t counter3 = 0;
  bool one_key = false;
  // Both halves of the product of round 2 that depends on the replica alone, for one key.
  alignas(64) std::uint32_t high[kLanes];
  alignas(64) std::uint32_t low[kLanes];

  void prepare(const std::uint64_t* key, const std::uint32_t* replicas) {
    one_key = true;
    for (int l = 0; l < kLanes; ++l) {
      replica[l] = replicas[l];
      key_low[l] = static_cast<std::uint32_t>(key[l]);
      key_high[l] = static_cast<std::uint32_t>(key[l] >> 32);
      one_key = one_key && key[l] == key[0];
    }
    const std::uint64_t step_product = static_cast<std::uint64_t>(kFactor1) * step_low;
    const auto step_high = static_cast<std::uint32_t>(step_product >> 32);
    for (int l = 0; l < kLanes; ++l) {
      const std::uint64_t product =
          static_cast<std::uint64_t>(kFactor0) * (step_high ^ replica[l] ^ key_low[l]);
      high[l] = static_cast<std::uint32_t>(product >> 32);
      low[l] = static_cast<std::uint32_t>(product);
    }
  }
};

struct Counter {
  Ints c0, c1, c2, c3;
};

inline __attribute__((always_inline)) void philox_round(Counter& c, Ints key0, Ints key1) {
  Ints high0, low0, high1, low1;
  multiply(c.c0, kFactor0, high0, low0);
  multiply(c.c2, kFactor1, high1, low1);
  c.c0 = xor3(high1, c.c1, key0);
  c.c1 = low1;
  c.c2 = xor3(high0, c.c3, key1);
  c.c3 = low0;
}

inline __attribute__((always_inline)) void put(std::uint32_t words[4][kLanes], int lane,
                                               const Counter& c) {
  store(words[0] + lane, c.c0);
  store(words[1] + lane, c.c1);
  store(words[2] + lane, c.c2);
  store(words[3] + lane, c.c3);
}

// Rounds 1 to 3, of which all products but one are the same for all lanes or for all quads.
inline void draw_quad_one_key(const WordDraws& draws, std::uint32_t quad,
                              std::uint32_t words[4][kLanes]) {
  const auto high_of = [](std::uint64_t product) {
    return static_cast<std::uint32_t>(product >> 32);
  };
  std::uint32_t k0 = draws.key_low[0], k1 = draws.key_high[0];
  const std::uint64_t quad1 = static_cast<std::uint64_t>(kFactor0) * quad;
  const std::uint64_t step1 = static_cast<std::uint64_t>(kFactor1) * draws.step_low;
  const std::uint32_t c2 = high_of(quad1) ^ draws.counter3 ^ k1;
  k0 += kWeyl0;
  k1 += kWeyl1;
  const std::uint64_t quad2 = static_cast<std::uint64_t>(kFactor1) * c2;
  const std::uint32_t c0 = high_of(quad2) ^ static_cast<std::uint32_t>(step1) ^ k0;
  const std::uint32_t lane2 = static_cast<std::uint32_t>(quad1) ^ k1;
  k0 += kWeyl0;
  k1 += kWeyl1;
  const std::uint64_t quad3 = static_cast<std::uint64_t>(kFactor0) * c0;
  const std::uint32_t lane0 = static_cast<std::uint32_t>(quad2) ^ k0;
  const std::uint32_t lane3 = high_of(quad3) ^ k1;
  for (int l = 0; l < kLanes; l += kIntLanes) {
    Counter c;
    Ints high1, low1;
    multiply(load(draws.high + l) ^ spread(lane2), kFactor1, high1, low1);
    c.c0 = high1 ^ spread(lane0);
    c.c1 = low1;
    c.c2 = load(draws.low + l) ^ spread(lane3);
    c.c3 = spread(static_cast<std::uint32_t>(quad3));
    std::uint32_t key0 = k0, key1 = k1;
    for (int round = 3; round < 10; ++round) {
      key0 += kWeyl0;
      key1 += kWeyl1;
      philox_round(c, spread(key0), spread(key1));
    }
    put(words, l, c);
  }
}

// words[k][lane] belongs to index 4 * quad + k.
inline void draw_quad(const WordDraws& draws, std::uint32_t quad, std::uint32_t words[4][kLanes]) {
  if (draws.one_key) return draw_quad_one_key(draws, quad, words);
  for (int l = 0; l < kLanes; l += kIntLanes) {
    Counter c{spread(quad), load(draws.replica + l), spread(draws.step_low),
              spread(draws.counter3)};
    Ints key0 = load(draws.key_low + l), key1 = load(draws.key_high + l);
    for (int round = 0; round < 10; ++round) {
      philox_round(c, key0, key1);
      key0 += spread(kWeyl0);
      key1 += spread(kWeyl1);
    }
    put(words, l, c);
  }
}

}  // namespace
}  // namespace kiln::cpu
