// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The planes of words side by side (plane_draws.hpp). Everything is in an unnamed namespace, see
// SliceJob.
#include <cstdint>
#include <cstring>

#include "kernels/philox_lanes.hpp"
#include "kernels/sweeps/slice_count.hpp"

namespace kiln::cpu {
namespace {

constexpr int kPlanes = 8;

// The planes of W words of one key at one step.
template <int W>
class PlaneDraws {
 public:
  // @param names  replica / 32 of each word
  void prepare(std::uint64_t key, const std::uint32_t* names, int n_words, std::uint32_t step_low,
               std::uint32_t counter3) {
    key0_ = static_cast<std::uint32_t>(key);
    key1_ = static_cast<std::uint32_t>(key >> 32);
    counter3_ = counter3;
    step_product_ = static_cast<std::uint64_t>(kFactor1) * step_low;
    for (int l = 0; l < kAll; ++l) {
      const std::uint32_t name = l % W < n_words ? names[l % W] : 0u;
      const std::uint64_t product =
          static_cast<std::uint64_t>(kFactor0) * (high_of(step_product_) ^ name ^ key0_);
      high_[l] = high_of(product);
      low_[l] = static_cast<std::uint32_t>(product);
    }
  }

  // The planes of a site, by rising weight.
  void draw(std::uint32_t site, Slice<W>* planes) const {
    auto* const to = reinterpret_cast<std::uint32_t*>(planes);
    const std::uint64_t site1 = static_cast<std::uint64_t>(kFactor0) * site;
    const std::uint32_t lane2 = static_cast<std::uint32_t>(site1) ^ (key1_ + kWeyl1);
    // Lanes are words of block 0, and those of block 1 where a vector has room for both.
    for (int l = 0; l < kLanesOfBlocks; l += kIntLanes) {
      Ints high1, low1;  // the only product of round 3 that depends on the word
      multiply(load(high_ + l) ^ spread(lane2), kFactor1, high1, low1);
      if constexpr (kTogether) {
        const Start a = start(site1, 0), b = start(site1, 1);
        const Counter c = finish({both(a.c0, b.c0), both(a.c1, b.c1), both(a.c2, b.c2)}, high1,
                                 low1, load(low_ + l));
        alignas(64) std::uint32_t words[4][kIntLanes];
        store(words[0], c.c0), store(words[1], c.c1), store(words[2], c.c2), store(words[3], c.c3);
        for (int i = 0; i < kPlanes; ++i) std::memcpy(to + i * W, words[i % 4] + i / 4 * W, 4 * W);
      } else {
        for (std::uint32_t block = 0; block < 2; ++block) {
          const Start s = start(site1, block);
          const Counter c =
              finish({spread(s.c0), spread(s.c1), spread(s.c2)}, high1, low1, load(low_ + l));
          std::uint32_t* const of_block = to + 4 * block * W + l;
          store(of_block, c.c0), store(of_block + W, c.c1);
          store(of_block + 2 * W, c.c2), store(of_block + 3 * W, c.c3);
        }
      }
    }
  }

 private:
  static constexpr bool kTogether = 2 * W <= kIntLanes;
  static constexpr int kLanesOfBlocks = kTogether ? kIntLanes : (W < kIntLanes ? kIntLanes : W);
  static constexpr int kAll = kLanesOfBlocks;
  static_assert(kTogether || W % kIntLanes == 0);

  static std::uint32_t high_of(std::uint64_t product) {
    return static_cast<std::uint32_t>(product >> 32);
  }

  // What round 3 takes from site and block alone: c0 and c2 lack what depends on the word.
  template <class Word>
  struct StartOf {
    Word c0, c1, c2;  // c1 becomes c3
  };
  using Start = StartOf<std::uint32_t>;

  Start start(std::uint64_t site1, std::uint32_t block) const {
    const std::uint32_t c2 = high_of(site1) ^ (counter3_ | block << 16) ^ key1_;
    const std::uint64_t second = static_cast<std::uint64_t>(kFactor1) * c2;
    const std::uint32_t c0 =
        high_of(second) ^ static_cast<std::uint32_t>(step_product_) ^ (key0_ + kWeyl0);
    const std::uint64_t third = static_cast<std::uint64_t>(kFactor0) * c0;
    return {static_cast<std::uint32_t>(second) ^ (key0_ + 2 * kWeyl0),
            static_cast<std::uint32_t>(third), high_of(third) ^ (key1_ + 2 * kWeyl1)};
  }

  // Words of block 1 behind those of block 0.
  static Ints both(std::uint32_t first, std::uint32_t second) {
    Ints result;
    for (int l = 0; l < kIntLanes; ++l) result[l] = l / W % 2 == 0 ? first : second;
    return result;
  }

  Counter finish(const StartOf<Ints>& s, Ints high1, Ints low1, Ints low) const {
    Counter c{high1 ^ s.c0, low1, low ^ s.c2, s.c1};
    std::uint32_t key0 = key0_ + 2 * kWeyl0, key1 = key1_ + 2 * kWeyl1;
    for (int round = 3; round < 10; ++round) {
      key0 += kWeyl0;
      key1 += kWeyl1;
      philox_round(c, spread(key0), spread(key1));
    }
    return c;
  }

  std::uint32_t key0_ = 0, key1_ = 0, counter3_ = 0;
  std::uint64_t step_product_ = 0;
  // Both halves of the product of round 2 that depends on the word.
  alignas(64) std::uint32_t high_[kAll];
  alignas(64) std::uint32_t low_[kAll];
};

}  // namespace
}  // namespace kiln::cpu
