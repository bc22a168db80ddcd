// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The planes and the low bits of words (plane_draws.hpp) for many lanes at once. Everything is in
// an unnamed namespace, see SliceJob.
#include <cstdint>
#include <cstring>

#include "kernels/philox_lanes.hpp"
#include "kernels/sweeps/slice_count.hpp"

namespace kiln::cpu {
namespace {

constexpr int kPlanes = 8;

inline __attribute__((always_inline)) Ints in_lanes(std::uint32_t value) { return spread(value); }
inline __attribute__((always_inline)) Ints in_lanes(Ints values) { return values; }

// The planes of the sites of a pack, for W words at one step: of one key, or of a key each.
template <int W, bool kMixedKeys = false>
class PlaneDraws {
 public:
  static constexpr int V = W < kIntLanes ? kIntLanes : W;  // lanes: the words of one site, the next

  // @param keys   of each word
  // @param names  replica / 32 of each word
  void prepare(const std::uint64_t* keys, const std::uint32_t* names, int n_words,
               std::uint32_t step_low, std::uint32_t counter3) {
    counter3_ = counter3;
    const std::uint64_t step_product = static_cast<std::uint64_t>(kFactor1) * step_low;
    step_product_low_ = static_cast<std::uint32_t>(step_product);
    for (int l = 0; l < V; ++l) {
      const int word = l % W < n_words ? l % W : 0;
      const std::uint32_t name = names[word];
      key0_[l] = static_cast<std::uint32_t>(keys[word]);
      key1_[l] = static_cast<std::uint32_t>(keys[word] >> 32);
      const std::uint64_t product =
          static_cast<std::uint64_t>(kFactor0) * (high_of(step_product) ^ name ^ key0_[l]);
      high_[l] = high_of(product);
      low_[l] = static_cast<std::uint32_t>(product);
    }
  }

  // The planes of the sites of the lanes, by rising weight.
  void draw(const std::uint32_t* sites, Slice<V>* planes) const {
    auto* const to = reinterpret_cast<std::uint32_t*>(planes);
    for (int l = 0; l < V; l += kIntLanes) {
      Counter c[2];
      Ints high1, low1;
      const auto first0 = key_at(key0_, l), first1 = key_at(key1_, l);
      if constexpr (W < V || kMixedKeys) {
        const Round1<Ints> site = round1(load(sites + l), first1, multiply_lanes);
        multiply(load(high_ + l) ^ site.lane2, kFactor1, high1, low1);
        for (std::uint32_t block = 0; block < 2; ++block) {
          const Start<Ints> s = start(site.high, block, first0, first1, multiply_lanes);
          c[block] = {high1 ^ s.c0, low1, load(low_ + l) ^ s.c2, s.c1};
        }
      } else {
        const Round1<std::uint32_t> site = round1(sites[0], first1, multiply_word);
        multiply(load(high_ + l) ^ spread(site.lane2), kFactor1, high1, low1);
        for (std::uint32_t block = 0; block < 2; ++block) {
          const Start<std::uint32_t> s = start(site.high, block, first0, first1, multiply_word);
          c[block] = {high1 ^ spread(s.c0), low1, load(low_ + l) ^ spread(s.c2), spread(s.c1)};
        }
      }
      auto key0 = first0 + 2 * kWeyl0, key1 = first1 + 2 * kWeyl1;
      for (int round = 3; round < 10; ++round) {
        key0 += kWeyl0;
        key1 += kWeyl1;
        philox_round(c[0], in_lanes(key0), in_lanes(key1));
        philox_round(c[1], in_lanes(key0), in_lanes(key1));
      }
      for (int block = 0; block < 2; ++block) {
        std::uint32_t* const of_block = to + 4 * block * V + l;
        store(of_block, c[block].c0), store(of_block + V, c[block].c1);
        store(of_block + 2 * V, c[block].c2), store(of_block + 3 * V, c[block].c3);
      }
    }
  }

 private:
  static_assert(V % kIntLanes == 0);

  static std::uint32_t high_of(std::uint64_t product) {
    return static_cast<std::uint32_t>(product >> 32);
  }
  static void multiply_word(std::uint32_t a, std::uint32_t factor, std::uint32_t& high,
                            std::uint32_t& low) {
    const std::uint64_t product = static_cast<std::uint64_t>(factor) * a;
    high = high_of(product);
    low = static_cast<std::uint32_t>(product);
  }
  static void multiply_lanes(Ints a, std::uint32_t factor, Ints& high, Ints& low) {
    multiply(a, factor, high, low);
  }

  // What rounds 1 to 3 take from the site alone; and from the site and the block: c0 and c2 lack
  // what depends on the word. Word is a lane, or one value for all of them.
  template <class Word>
  struct Round1 {
    Word high, lane2;
  };
  template <class Word, class Key, class Multiply>
  Round1<Word> round1(Word site, Key key1, Multiply multiply_one) const {
    Word high, low;
    multiply_one(site, kFactor0, high, low);
    return {high, low ^ (key1 + kWeyl1)};
  }
  template <class Word>
  struct Start {
    Word c0, c1, c2;  // c1 becomes c3
  };
  template <class Word, class Key, class Multiply>
  Start<Word> start(Word site_high, std::uint32_t block, Key key0, Key key1,
                    Multiply multiply_one) const {
    Word high2, low2, high3, low3;
    multiply_one(site_high ^ (key1 ^ (counter3_ | block << 16)), kFactor1, high2, low2);
    multiply_one(high2 ^ ((key0 + kWeyl0) ^ step_product_low_), kFactor0, high3, low3);
    return {low2 ^ (key0 + 2 * kWeyl0), low3, high3 ^ (key1 + 2 * kWeyl1)};
  }
  // The keys of the lanes from l on, or the one that all have.
  static auto key_at(const std::uint32_t* keys, int l) {
    if constexpr (kMixedKeys) {
      return load(keys + l);
    } else {
      return keys[0];
    }
  }

  std::uint32_t counter3_ = 0, step_product_low_ = 0;
  alignas(64) std::uint32_t key0_[V];
  alignas(64) std::uint32_t key1_[V];
  // Both halves of the product of round 2 that depends on the word.
  alignas(64) std::uint32_t high_[V];
  alignas(64) std::uint32_t low_[V];
};

// The low bits of words at one step: those of sites[l] and replicas[l] to rest[l]. Keys are in
// their halves.
inline void draw_rests(const std::uint32_t* keys0, const std::uint32_t* keys1,
                       std::uint32_t step_low, std::uint32_t counter3, const std::uint32_t* sites,
                       const std::uint32_t* replicas, std::uint32_t* rest) {
  Counter c{load(sites), load(replicas), spread(step_low), spread(counter3)};
  Ints key0 = load(keys0), key1 = load(keys1);
  for (int round = 0; round < 10; ++round, key0 += kWeyl0, key1 += kWeyl1) {
    philox_round(c, key0, key1);
  }
  store(rest, c.c0 & spread((1u << 24) - 1));
}

}  // namespace
}  // namespace kiln::cpu
